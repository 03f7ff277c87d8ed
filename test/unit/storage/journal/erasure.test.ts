import { describe, expect, it } from "vitest";
import { commitment } from "../../../../src/protocol/index.js";
import type { TextPlace } from "../../../../src/storage/event-store.js";
import { lineAt, openJournal, segment } from "../../../support/journal-scenes.js";
import { SimDisk } from "../../../support/sim-files.js";

const SECRET = "hunter2 ".repeat(500).trim();
const SALT = "07".repeat(32);
const PLACE: TextPlace = {
  index: 1,
  field: "message",
  committed: commitment("message", Buffer.from(SALT, "hex"), SECRET),
};

/** A journal of three entries, of which the second has a text of several sectors. */
async function written(): Promise<SimDisk> {
  const disk = new SimDisk();
  const journal = await openJournal(disk);
  const texts = [{ index: 1, field: "message" as const, salt: SALT, utf8: SECRET }];
  await journal.append({ first: 0, entries: [lineAt(0), lineAt(1), lineAt(2)], texts });
  await journal.close();
  return disk;
}

const held = (disk: SimDisk): boolean => disk.bytes(segment(0)).includes("hunter2");

describe("an erasure", () => {
  it("is durable when it resolves: no power cut brings the text back", async () => {
    const disk = await written();
    const journal = await openJournal(disk);
    await journal.redact(PLACE);
    for (let seed = 1; seed <= 20; seed += 1) expect(held(disk.crash(seed))).toBe(false);
  });

  it("that a power cut left half done is no damage, and is finished when asked for again", async () => {
    const whole = (await written()).contents();
    const text = whole[segment(0)]?.indexOf('{"text":') ?? -1;
    const end = whole[segment(0)]?.indexOf("\n", text) ?? -1;
    const sectors = [...Array(Math.ceil((end + 1) / 512)).keys()].filter((sector) => (sector + 1) * 512 > text);
    expect(sectors.length).toBeGreaterThan(5);
    for (const blanked of [sectors.slice(0, 1), sectors.slice(-1), sectors.slice(2, 4), sectors.slice(1)]) {
      const bytes = Buffer.from(whole[segment(0)] ?? "");
      for (const sector of blanked) bytes.fill(" ", Math.max(text, sector * 512), Math.min(end, (sector + 1) * 512));
      const disk = SimDisk.of({ ...whole, [segment(0)]: bytes });
      const journal = await openJournal(disk);
      expect((await journal.read(0, 10)).entries).toHaveLength(3);
      expect((await journal.read(0, 10)).texts).toEqual([]);
      await journal.redact(PLACE);
      expect(held(disk)).toBe(false);
      await journal.close();
      await (await openJournal(disk)).close();
    }
  });
});
