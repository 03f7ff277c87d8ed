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

const SIZES = [3, 6, 2, 9, 1, 1, 7, 4, 8, 1, 3];
const SEGMENT_BYTES = 3_000;

function flipped(bytes: Buffer, bit: number): Buffer {
  const copy = Buffer.from(bytes);
  copy[bit >> 3] = (copy[bit >> 3] ?? 0) ^ (1 << (bit & 7));
  return copy;
}

/** Opens the journal with one bit of one file flipped. */
function openFlipped(
  contents: Readonly<Record<string, Buffer>>,
  path: string,
  bit: number,
): {
  disk: SimDisk;
  opening: ReturnType<typeof openJournal>;
} {
  const disk = SimDisk.of({ ...contents, [path]: flipped(contents[path] ?? Buffer.alloc(0), bit) });
  return { disk, opening: openJournal(disk) };
}

/** Flips every bit of every segment from batch `from` on; what comes of it, by batch, each outcome once. */
async function outcomes(head: number, from: number): Promise<{ bits: number; seen: Set<string>[] }> {
  const disk = await written(SIZES, { head, segmentBytes: SEGMENT_BYTES });
  const contents = disk.contents();
  const segments = segmentsOf(disk);
  const batches = batchesOf(segments);
  const seen = batches.map(() => new Set<string>());
  let start = 0;
  for (const [ordinal, bytes] of segments.entries()) {
    for (let bit = 0; bit < bytes.length * 8; bit += 1) {
      const at = start + (bit >> 3);
      const batch = batches.findIndex(({ end }) => at < end);
      if (batch < from) continue;
      const { opening } = openFlipped(contents, segment(ordinal), bit);
      seen[batch]?.add(await outcomeOf(opening));
    }
    start += bytes.length;
  }
  return { bits: start * 8, seen };
}

const REFUSED = [0, 3, 9, 11, 20, 21, 22, 29, 33, 41, 42].map((first) => new Set([`refused at ${first}`]));

describe("a journal of at least 8 KiB with one bit flipped, whichever it is", () => {
  it("is refused with the index of the batch that the bit is in, when the head stands at the end", async () => {
    const { bits, seen } = await outcomes(10, 0);
    expect(bits).toBeGreaterThan(65_536);
    expect(seen).toEqual(REFUSED);
  }, 120_000);

  it("is refused too above the head, but for the last batch: that one is set aside", async () => {
    const { bits, seen } = await outcomes(5, 6);
    expect(bits).toBeGreaterThan(65_536);
    expect(seen.slice(6, -1)).toEqual(REFUSED.slice(6, -1));
    expect(seen.at(-1)).toEqual(new Set(["opened with 42, 580 bytes set aside"]));
  }, 120_000);
});

describe("one bit flipped beside the segments", () => {
  it("leaves one slot of the head, and the log as it was", async () => {
    const disk = await written(SIZES, { segmentBytes: SEGMENT_BYTES });
    const contents = disk.contents();
    expect(disk.bytes(HEAD)).toHaveLength(8_192);
    const seen = new Set<string>();
    for (const slot of [0, 4_096]) {
      const bits = Array.from({ length: 4_096 }, (_, at) => (slot + at) * 8 + (at % 8));
      for (let bit = slot * 8; bit < (slot + 192) * 8; bit += 1) bits.push(bit);
      for (const bit of bits) seen.add(await outcomeOf(openFlipped(contents, HEAD, bit).opening));
    }
    expect(seen).toEqual(new Set(["opened with 45, 0 bytes set aside"]));
  }, 120_000);

  it("makes the hashes of a sealed segment be made anew, never trusted", async () => {
    const disk = await written(SIZES, { segmentBytes: SEGMENT_BYTES });
    const contents = disk.contents();
    const path = segment(1, "hashes");
    const hashes = disk.bytes(path);
    for (let bit = 0; bit < hashes.length * 8; bit += 1) {
      const one = openFlipped(contents, path, bit);
      expect((await one.opening).size()).toBe(45);
      expect(one.disk.bytes(path).equals(hashes)).toBe(true);
    }
    await expectLog(await openJournal(disk), 45);
  });
});
