import { describe, expect, it } from "vitest";
import { expectKept, insist, openScripted, play, type Told } from "../../../support/journal-script.js";
import { batchAt, expectLog } from "../../../support/journal-scenes.js";
import { SimDisk, type Fault } from "../../../support/sim-files.js";

/** The scripted run, ended by a fault at one operation. */
async function playTo(faultAt: number, fault: Fault, seed = 1): Promise<{ disk: SimDisk; told: Told }> {
  const disk = new SimDisk(seed);
  Object.assign(disk, { faultAt, fault });
  return { disk, told: await play(disk) };
}

/** Operations of the scripted run when nothing fails. */
async function operations(): Promise<number> {
  const { disk, told } = await playTo(0, "EIO");
  expect(told).toMatchObject({ durable: 22, asked: 22, head: 19, error: undefined });
  return disk.operations.length;
}

/** Starts again on what is there, appends, and cuts the power at every operation of that, with several outcomes each. */
async function expectLaterCut(disk: SimDisk, told: Told): Promise<void> {
  for (let at = 1, cut = true; cut; at += 1) {
    const next = disk.survivor(at);
    Object.assign(next, { faultAt: at, fault: "power" });
    const later = await play(next, [[2, 0, 4]], told);
    cut = later.error !== undefined;
    for (let seed = 1; seed <= 3; seed += 1) await expectKept(next.crash(at * 10 + seed), later);
  }
}

describe("the journal under a power cut", () => {
  it("at any operation keeps all that was acknowledged, whatever the disk made of the rest, and goes on", async () => {
    const count = await operations();
    for (let at = 1; at <= count; at += 1) {
      for (let seed = 1; seed <= 12; seed += 1) {
        const { disk, told } = await playTo(at, "power");
        expect(told.error).toBeDefined();
        const after = disk.crash(seed);
        const journal = await expectKept(after, told);
        const size = journal.size();
        await journal.append(batchAt(size, 3));
        await expectLog(await openScripted(after.crash(seed)), size + 3);
      }
    }
  }, 120_000);
});

describe.each([
  ["of a process that was killed", "kill"],
  ["after a write or a sync that failed", "EIO"],
] as const)("the journal %s", (_, fault) => {
  it("at any operation, and whose next start ends in a power cut, keeps all that was acknowledged by either", async () => {
    const count = await operations();
    for (let at = 1; at <= count; at += 1) {
      const { disk, told } = await playTo(at, fault, at);
      expect(told.error).toBeDefined();
      await expectLaterCut(disk, told);
    }
  }, 120_000);
});

describe.each(["EIO", "ENOSPC", "short"] as const)("the journal after %s", (fault) => {
  it("at any operation writes nothing more, and says so to whoever appends and in `failed`", async () => {
    const count = await operations();
    for (let at = 1; at <= count; at += 1) {
      const { disk, told } = await playTo(at, fault, at);
      expect(told.error).toBeInstanceOf(Error);
      expect(new Set([told.error, ...(await insist(told))])).toHaveProperty("size", 1);
      expect(disk.operations).toHaveLength(at);
      expect(disk.handles).toBe(0);
    }
  });
});
