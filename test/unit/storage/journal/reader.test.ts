import { describe, expect, it } from "vitest";
import { LogReader } from "../../../../src/storage/journal/index.js";
import { batchAt, DIRECTORY, lineAt, openJournal, segment, textsAt, written } from "../../../support/journal-scenes.js";
import { SimDisk } from "../../../support/sim-files.js";

async function indexes(reader: LogReader): Promise<number[]> {
  const seen: number[] = [];
  await reader.read(({ index, line, texts }) => {
    expect(line).toBe(lineAt(index));
    expect(texts).toEqual(textsAt(index));
    seen.push(index);
  });
  return seen;
}

describe("a reader beside the broker", () => {
  it("finds nothing where there is no log", async () => {
    expect(await indexes(new LogReader(DIRECTORY, new SimDisk()))).toEqual([]);
  });

  it("gives each entry once, across segments, and later ones when asked again", async () => {
    const disk = new SimDisk();
    const journal = await openJournal(disk, { segmentBytes: 700 });
    const reader = new LogReader(DIRECTORY, disk);
    expect(await indexes(reader)).toEqual([]);
    for (const first of [0, 2, 4]) await journal.append(batchAt(first, 2));
    expect(await indexes(reader)).toEqual([0, 1, 2, 3, 4, 5]);
    expect(reader.next).toBe(6);
    await journal.append(batchAt(6, 3));
    expect(await indexes(reader)).toEqual([6, 7, 8]);
    await reader.close();
  });

  it("waits for a batch that is being written, and changes nothing", async () => {
    const disk = await written([2, 3]);
    const bytes = disk.bytes(segment(0));
    const reader = new LogReader(DIRECTORY, disk);
    disk.put(segment(0), bytes.subarray(0, bytes.length - 5));
    const before = disk.contents();
    expect(await indexes(reader)).toEqual([0, 1]);
    expect(disk.contents()).toEqual(before);
  });

  it("refuses a sealed segment that does not check", async () => {
    const disk = await written([2, 2, 2], { segmentBytes: 700 });
    const bytes = disk.bytes(segment(0));
    disk.put(segment(0), Buffer.concat([bytes.subarray(0, -9), Buffer.from("#"), bytes.subarray(-8)]));
    await expect(indexes(new LogReader(DIRECTORY, disk))).rejects.toMatchObject({ index: 2 });
  });
});
