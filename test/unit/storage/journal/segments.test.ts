import { describe, expect, it } from "vitest";
import { LeafHashes } from "../../../../src/storage/journal/leaf-hashes.js";
import { writeHashes } from "../../../../src/storage/journal/segments.js";
import {
  batchAt,
  batchesOf,
  DIRECTORY,
  expectLog,
  HEAD,
  openJournal,
  refusal,
  segment,
  segmentsOf,
  written,
} from "../../../support/journal-scenes.js";
import { SimDisk } from "../../../support/sim-files.js";
describe("segments", () => {
  const sealed = (): Promise<SimDisk> => written([3, 3, 3, 3, 3, 3, 3], { segmentBytes: 1_000 });

  it("are refused when one is missing in the middle, with the index where it began", async () => {
    const disk = await sealed();
    expect(segmentsOf(disk)).toHaveLength(4);
    disk.drop(segment(1));
    expect(await refusal(disk)).toBe("6: segment 1 of the log is missing");
    disk.drop(segment(0));
    expect(await refusal(disk)).toBe("0: segment 0 of the log is missing");
  });

  it("are refused when one that is sealed ends early, above the head too", async () => {
    const disk = await written([3, 3, 3, 3, 3, 3, 3], { segmentBytes: 1_000, head: -1 });
    const [, second] = batchesOf(segmentsOf(disk));
    const bytes = disk.bytes(segment(0));
    disk.put(segment(0), bytes.subarray(0, second?.start));
    expect(await refusal(disk)).toBe("3: the lines of the batch are not those that its last line tells of");
    disk.put(segment(0), bytes.subarray(0, bytes.length - 1));
    expect(await refusal(disk)).toBe("3: the last batch is incomplete");
    disk.put(segment(0), Buffer.concat([bytes, Buffer.from("x")]));
    expect(await refusal(disk)).toBe("6: the last batch is incomplete");
  });

  it("lie among foreign files that are left alone", async () => {
    const disk = await sealed();
    for (const name of [".DS_Store", "00000009.jsonl.0.torn", "notes.jsonl", "00000007.hashes", "000000001.jsonl"])
      disk.put(`${DIRECTORY}/${name}`, Buffer.from("?"));
    const before = disk.contents();
    await expectLog(await openJournal(disk), 21);
    expect(Object.keys(disk.contents()).sort()).toEqual(Object.keys(before).sort());
  });

  it("get their hashes anew where those are missing, cut at any byte, or another's", async () => {
    const disk = await sealed();
    const [path, hashes] = [segment(1, "hashes"), disk.bytes(segment(1, "hashes"))];
    const others = [disk.bytes(segment(0, "hashes")), disk.bytes(segment(2, "hashes"))];
    for (const bytes of [...others, ...Array.from(hashes, (_, at) => hashes.subarray(0, at))]) {
      const next = SimDisk.of({ ...disk.contents(), [path]: bytes });
      await expectLog(await openJournal(next), 21);
      expect(next.bytes(path)).toEqual(hashes);
    }
    disk.drop(path);
    await expectLog(await openJournal(disk), 21);
    expect(disk.bytes(path)).toEqual(hashes);
  });

  it("get their hashes anew where those agree with themselves and not with the log", async () => {
    const disk = await sealed();
    const path = segment(0, "hashes");
    const hashes = disk.bytes(path);
    const { frontier } = JSON.parse(hashes.toString("latin1", 6 * 32, hashes.length - 4)) as { frontier: string[] };
    expect(frontier).toHaveLength(2);
    const leaves = new LeafHashes();
    for (let at = 0; at < 6; at += 1) leaves.push(hashes.subarray(at * 32, (at + 1) * 32));
    await writeHashes(disk, path, 0, 6, frontier.toReversed(), leaves);
    await expectLog(await openJournal(disk), 21);
    expect(disk.bytes(path)).toEqual(hashes);
    // Three entries make as many subtrees as six, so that the root is the right one.
    const three = new LeafHashes();
    for (let at = 0; at < 3; at += 1) three.push(hashes.subarray(at * 32, (at + 1) * 32));
    await writeHashes(disk, path, 0, 3, frontier, three);
    await expectLog(await openJournal(disk), 21);
    expect(disk.bytes(path)).toEqual(hashes);
  });

  it("go on from an empty last one, and from one that was sealed without a next", async () => {
    for (const drop of [false, true]) {
      const disk = await sealed();
      if (drop) disk.drop(segment(3));
      else disk.put(segment(4), Buffer.alloc(0));
      if (drop) disk.put(HEAD, (await written([3, 3, 3, 3, 3, 3])).bytes(HEAD));
      const journal = await openJournal(disk, { segmentBytes: 1_000 });
      const size = drop ? 18 : 21;
      await journal.append(batchAt(size, 2));
      expect(segmentsOf(disk)).toHaveLength(drop ? 4 : 5);
      await expectLog(journal, size + 2);
      await journal.close();
      await expectLog(await openJournal(SimDisk.of(disk.contents())), size + 2);
    }
  });
});
