import { describe, expect, it } from "vitest";
import {
  batchesOf,
  expectLog,
  HEAD,
  openJournal,
  outcomeOf,
  segment,
  segmentsOf,
  written,
} from "../../../support/journal-scenes.js";
import { SimDisk } from "../../../support/sim-files.js";

const SIZES = [2, 4, 2, 7, 1, 1, 5, 3, 6, 2, 4, 8];
const SEGMENT_BYTES = 2_000;

/** The journal cut at byte `at` of all its segments, one behind the other: what stood behind it is gone. */
function cut(segments: readonly Buffer[], head: Buffer, at: number): SimDisk {
  const disk = SimDisk.of({ [HEAD]: head });
  let start = 0;
  for (const [ordinal, bytes] of segments.entries()) {
    if (at > start || ordinal === 0) disk.put(segment(ordinal), bytes.subarray(0, at - start));
    start += bytes.length;
  }
  return disk;
}

describe.each([
  ["before the first batch", -1, 0],
  ["behind the first batch", 0, 2],
  ["in the middle", 6, 22],
  ["behind the last but one batch", 10, 37],
  ["at the end", 11, 45],
])("a journal cut at every byte, with the head %s", (_, head, durable) => {
  it("comes back with the whole batches before the cut, or, cut below the head, is refused with its index", async () => {
    const disk = await written(SIZES, { head, segmentBytes: SEGMENT_BYTES });
    const segments = segmentsOf(disk);
    const batches = batchesOf(segments);
    const length = segments.reduce((sum, { length: bytes }) => sum + bytes, 0);
    expect(length).toBeGreaterThan(8_192);
    expect(segments).toHaveLength(4);
    expect(batches).toHaveLength(12);
    const wrong: string[] = [];
    for (let at = 0; at <= length; at += 1) {
      const whole = batches.filter(({ end }) => end <= at);
      const size = whole.at(-1)?.size ?? 0;
      const torn = at - (whole.at(-1)?.end ?? 0);
      const expected = size < durable ? `refused at ${size}` : `opened with ${size}, ${torn} bytes set aside`;
      const outcome = await outcomeOf(openJournal(cut(segments, disk.bytes(HEAD), at)));
      if (outcome !== expected) wrong.push(`cut at ${at}: ${outcome}`);
    }
    expect(wrong).toEqual([]);
  }, 120_000);
});

describe("a cut journal", () => {
  it("says at which entry it is damaged, and what to do", async () => {
    const disk = await written(SIZES, { segmentBytes: SEGMENT_BYTES });
    const segments = segmentsOf(disk);
    const [, second] = batchesOf(segments);
    await expect(openJournal(cut(segments, disk.bytes(HEAD), second?.end ?? 0))).rejects.toThrow(
      "the log is damaged at entry 6: the log ends there, but 45 entries were durable; restore the directory from a backup, it was left as it is",
    );
    await expect(openJournal(cut(segments, disk.bytes(HEAD), (second?.end ?? 0) + 1))).rejects.toThrow(
      "the log is damaged at entry 6: the last batch is incomplete; restore the directory from a backup, it was left as it is",
    );
  });

  it("goes on behind its last whole batch, and holds what was cut off in a file beside", async () => {
    const disk = await written(SIZES, { head: 6, segmentBytes: SEGMENT_BYTES });
    const segments = segmentsOf(disk);
    const { start = 0 } = batchesOf(segments).at(-1) ?? {};
    const cutDisk = cut(segments, disk.bytes(HEAD), start + 100);
    const journal = await openJournal(cutDisk);
    expect(journal.torn).toEqual({ file: "00000003.jsonl.0.torn", bytes: 100 });
    expect(cutDisk.bytes(segment(3, "jsonl.0.torn"))).toEqual(Buffer.concat(segments).subarray(start, start + 100));
    await expectLog(journal, 37);
  });
});
