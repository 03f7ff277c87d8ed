import { describe, expect, it } from "vitest";
import { batchAt, expectLog, HEAD, lineAt, openJournal, refusal, written } from "../../../support/journal-scenes.js";
import { SimDisk } from "../../../support/sim-files.js";
describe("the head", () => {
  it("in one slot is enough: the other may be torn", async () => {
    const disk = await written([2, 1, 4]);
    for (const slot of [0, 4_096]) {
      const torn = Buffer.from(disk.bytes(HEAD)).fill(0, slot + 20, slot + 600);
      const next = SimDisk.of({ ...disk.contents(), [HEAD]: torn });
      await expectLog(await openJournal(next), 7);
    }
  });

  it("does not count in a slot that is wrong in one digit", async () => {
    const disk = await written([2, 1, 4]);
    const wrong = Buffer.from(disk.bytes(HEAD));
    wrong.write('"size":9', wrong.indexOf('"size":7'));
    await expectLog(await openJournal(SimDisk.of({ ...disk.contents(), [HEAD]: wrong })), 7);
  });

  it("in no slot, or gone, is damage once there is a segment", async () => {
    const disk = await written([2, 1, 4]);
    const lost = `0: the head file ${HEAD} is missing, or neither of its slots can be read`;
    for (const bytes of [Buffer.alloc(0), Buffer.alloc(8_192), Buffer.alloc(8_192, 0x20)])
      expect(await refusal(SimDisk.of({ ...disk.contents(), [HEAD]: bytes }))).toBe(lost);
    disk.drop(HEAD);
    expect(await refusal(disk)).toBe(lost);
  });

  it("that is torn before there is a segment is made again: that first start was cut short", async () => {
    for (const bytes of [Buffer.alloc(0), Buffer.alloc(5_000)]) {
      const journal = await openJournal(SimDisk.of({ [HEAD]: bytes }));
      await journal.append(batchAt(0, 2));
      await expectLog(journal, 2);
    }
  });

  it("ahead of the log tells that the log was rolled back", async () => {
    const [before, after] = [await written([2, 1]), await written([2, 1, 4])];
    expect(await refusal(SimDisk.of({ ...before.contents(), [HEAD]: after.bytes(HEAD) }))).toBe(
      "3: the log ends there, but 7 entries were durable",
    );
    const empty = SimDisk.of({ [HEAD]: after.bytes(HEAD) });
    expect(await refusal(empty)).toBe("0: the log ends there, but 7 entries were durable");
  });

  it("of another log is refused, whether the sizes fit or not", async () => {
    const [one, other, third] = [await written([2, 1, 4]), new SimDisk(), await written([4])];
    const journal = await openJournal(other);
    for (const first of [0, 1, 2]) await journal.append({ first, entries: [lineAt(first + 50)], texts: [] });
    await journal.close();
    expect(await refusal(SimDisk.of({ ...one.contents(), [HEAD]: other.bytes(HEAD) }))).toBe(
      "0: the head knows another log of 3 entries",
    );
    expect(await refusal(SimDisk.of({ ...one.contents(), [HEAD]: third.bytes(HEAD) }))).toBe(
      "0: the head knows another log: no batch here ends at 4 entries",
    );
  });
});
