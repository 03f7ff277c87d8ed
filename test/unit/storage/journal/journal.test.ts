import { describe, expect, it } from "vitest";
import {
  batchAt,
  DIRECTORY,
  expectLog,
  Hand,
  HEAD,
  lineAt,
  openJournal,
  segment,
  segmentsOf,
  textsAt,
} from "../../../support/journal-scenes.js";
import { eventStoreSuite } from "../../../support/event-store-suite.js";
import { SimDisk } from "../../../support/sim-files.js";

eventStoreSuite("Journal on a disk in memory", () => openJournal(new SimDisk()));
eventStoreSuite("Journal that seals a segment at every batch", () => openJournal(new SimDisk(), { segmentBytes: 1 }));

const changesOf = (disk: SimDisk, from: number): string[] =>
  disk.operations.slice(from).filter((operation) => !/^(read|reopen|size|exists|list) /.test(operation));

/** The head as the next start reads it. */
const headOf = (disk: SimDisk): number =>
  Math.max(
    ...[0, 4_096].map(
      (slot) => (JSON.parse(disk.bytes(HEAD).toString("utf8", slot, slot + 4_096)) as { size: number }).size,
    ),
  );

describe("a first start", () => {
  it("makes the head durable before there is a segment, and each name durable before it is used", async () => {
    const disk = new SimDisk();
    await (await openJournal(disk)).append(batchAt(0, 1));
    expect(changesOf(disk, 0)).toEqual([
      `directory ${DIRECTORY}`,
      "sync names /data",
      "directory /data",
      `remove ${HEAD}`,
      `open ${HEAD}`,
      `write ${HEAD}`,
      `sync ${HEAD}`,
      "sync names /data",
      `sync names ${DIRECTORY}`,
      `write ${HEAD}`,
      `sync ${HEAD}`,
      `open ${segment(0)}`,
      `sync names ${DIRECTORY}`,
      `write ${segment(0)}`,
      `sync ${segment(0)}`,
    ]);
  });

  it("takes a head anywhere else", async () => {
    const disk = new SimDisk();
    const journal = await openJournal(disk, { head: "/other/disk/head" });
    await journal.append(batchAt(0, 1));
    await journal.close();
    expect(Object.keys(disk.contents()).sort()).toEqual([segment(0), "/other/disk/head"]);
    const before = disk.operations.length;
    await expectLog(await openJournal(disk, { head: "/other/disk/head" }), 1);
    expect(disk.operations.slice(before)).toContain("sync names /other/disk");
  });
});

describe("a batch", () => {
  it("is one write and one sync, its entries and then its texts as they were given", async () => {
    const disk = new SimDisk();
    const journal = await openJournal(disk);
    const before = disk.operations.length;
    await journal.append(batchAt(0, 2));
    expect(changesOf(disk, before)).toEqual([`write ${segment(0)}`, `sync ${segment(0)}`]);
    const lines = disk.bytes(segment(0)).toString().split("\n");
    expect(lines.slice(0, 2)).toEqual([lineAt(0), lineAt(1)]);
    expect(lines[2]).toBe(
      '{"text":{"index":0,"field":"message","salt":"0000000000000000000000000000000000000000000000000000000000000000","utf8":"text 0 \\"ü\\"\\n😀","crc32":83711112}}',
    );
    expect(lines[3]).toBe(
      '{"batch":{"first":0,"count":2,"bytes":334,"size":2,"root":"b8093f72af5240b319e86ed81401900c18872118a2d4bd39ea70d74d732f21cc","crc32":1843330033}}',
    );
    expect(lines.slice(4)).toEqual([""]);
  });

  it("without entries writes nothing", async () => {
    const disk = new SimDisk();
    const journal = await openJournal(disk);
    const before = disk.operations.length;
    await journal.append({ first: 0, entries: [], texts: [] });
    expect(disk.operations).toHaveLength(before);
    await expectLog(journal, 0);
  });

  it.each([
    [
      "that begins elsewhere than at the end",
      { ...batchAt(3, 1) },
      "the log ends at 2, not at 3: another writer was here",
    ],
    [
      "with a newline in an entry",
      { first: 2, entries: [lineAt(2), '{"at":\n}'], texts: [] },
      "entry 3 is not a line of the log",
    ],
    [
      "with an entry that does not begin with its time",
      { first: 2, entries: ['{"by":1}'], texts: [] },
      "entry 2 is not a line of the log",
    ],
    [
      "with a text of another batch",
      { first: 2, entries: [lineAt(2)], texts: textsAt(3) },
      "a text of entry 3 cannot stand in a batch that begins at 2",
    ],
  ])("%s is refused unwritten, and nothing is taken any more", async (_, batch, message) => {
    const disk = new SimDisk();
    const journal = await openJournal(disk);
    await journal.append(batchAt(0, 2));
    const before = disk.contents();
    await expect(journal.append(batch)).rejects.toThrow(message);
    expect(await journal.failed).toMatchObject({ message });
    await expect(journal.append(batchAt(2, 1))).rejects.toThrow(message);
    await journal.close();
    expect(disk.contents()).toEqual(before);
    await expectLog(await openJournal(disk), 2);
  });

  it("is not written when another process has written to the segment, sealed by now or not", async () => {
    for (const segmentBytes of [1_000_000, 1]) {
      const disk = new SimDisk();
      const journal = await openJournal(disk, { segmentBytes });
      await journal.append(batchAt(0, 2));
      const other = await disk.open(segment(0), "write");
      await other.write(Buffer.from("x"), disk.bytes(segment(0)).length);
      const before = disk.contents();
      await expect(journal.append(batchAt(2, 1))).rejects.toThrow(
        "the journal has another size than was written: another writer was here",
      );
      expect(disk.contents()).toEqual(before);
    }
  });

  it("is refused after the journal was closed", async () => {
    const journal = await openJournal(new SimDisk());
    await journal.close();
    await expect(journal.append(batchAt(0, 1))).rejects.toThrow("the journal is closed");
  });
});

describe("the head", () => {
  it("follows a batch once, in the other slot, when its time has come", async () => {
    const disk = new SimDisk();
    const hand = new Hand();
    const journal = await openJournal(disk, { later: hand.later });
    expect(hand.waiting).toBe(0);
    await journal.append(batchAt(0, 2));
    await journal.append(batchAt(2, 2));
    expect([hand.waiting, headOf(disk)]).toEqual([1, 0]);
    const [slot] = [disk.bytes(HEAD).subarray(4_096)];
    await hand.run();
    expect([hand.waiting, headOf(disk)]).toEqual([0, 4]);
    expect(disk.bytes(HEAD).subarray(0, 4_096)).not.toEqual(slot);
    await journal.append(batchAt(4, 1));
    expect(hand.waiting).toBe(1);
  });

  it("is within 100 ms of a batch, and holds up none", async () => {
    const asked: number[] = [];
    const later = (ms: number): Disposable => {
      asked.push(ms);
      return { [Symbol.dispose]: () => {} };
    };
    const journal = await openJournal(new SimDisk(), { later });
    await journal.append(batchAt(0, 1));
    expect(asked).toEqual([50]);
  });

  it("is written one after the other, however slow its disk: never are both slots under way", async () => {
    const disk = new SimDisk();
    const hand = new Hand();
    const journal = await openJournal(disk, { later: hand.later });
    const release = disk.hold(HEAD);
    await journal.append(batchAt(0, 1));
    await hand.run();
    await journal.append(batchAt(1, 1));
    await hand.run();
    expect(disk.operations.filter((operation) => operation === `write ${HEAD}`)).toHaveLength(3);
    release();
    await hand.run();
    expect(disk.operations.filter((operation) => operation === `write ${HEAD}`)).toHaveLength(4);
    expect(headOf(disk)).toBe(2);
  });

  it("stands at the end when the journal is closed, also when one was being written", async () => {
    const disk = new SimDisk();
    const hand = new Hand();
    const journal = await openJournal(disk, { later: hand.later });
    const release = disk.hold(HEAD);
    await journal.append(batchAt(0, 1));
    await hand.run();
    await journal.append(batchAt(1, 1));
    const closed = journal.close();
    await hand.run();
    expect(disk.operations.filter((operation) => operation === `write ${HEAD}`)).toHaveLength(3);
    release();
    await closed;
    expect([hand.waiting, headOf(disk)]).toEqual([0, 2]);
  });

  it("covers a batch that is on its way when the journal is closed", async () => {
    const disk = new SimDisk();
    const journal = await openJournal(disk);
    const release = disk.hold(segment(0));
    const appending = journal.append(batchAt(0, 2));
    const closed = journal.close();
    release();
    await Promise.all([appending, closed]);
    expect(headOf(disk)).toBe(2);
  });

  it("that cannot be written ends the journal, outside of any append", async () => {
    const disk = new SimDisk();
    const hand = new Hand();
    // The next batch would first seal the segment.
    const journal = await openJournal(disk, { later: hand.later, segmentBytes: 1 });
    await journal.append(batchAt(0, 1));
    disk.faultAt = disk.operations.length + 1;
    await hand.run();
    expect(await journal.failed).toMatchObject({ message: `EIO at operation ${disk.faultAt}: write ${HEAD}` });
    await expect(journal.append(batchAt(1, 1))).rejects.toThrow(`write ${HEAD}`);
    expect(disk.operations.at(-1)).toBe(`write ${HEAD}`);
  });

  it("that fails while a batch is on its way keeps that batch from being written", async () => {
    const disk = new SimDisk();
    const hand = new Hand();
    const journal = await openJournal(disk, { later: hand.later });
    await journal.append(batchAt(0, 1));
    const release = disk.hold(segment(0));
    const appending = journal.append(batchAt(1, 1));
    disk.faultAt = disk.operations.length + 1;
    await hand.run();
    release();
    await expect(appending).rejects.toThrow(`write ${HEAD}`);
    expect(disk.operations.at(-1)).toBe(`write ${HEAD}`);
  });
});

describe("reading", () => {
  it("goes on while a batch is on its way, of which it shows nothing", async () => {
    const disk = new SimDisk();
    const journal = await openJournal(disk);
    await journal.append(batchAt(0, 5));
    const file = await disk.open(segment(0), "write");
    await file.write(Buffer.from('{"at":5,'), disk.bytes(segment(0)).length);
    await expectLog(journal, 5);
    expect((await journal.read(3, 100)).entries).toEqual([lineAt(3), lineAt(4)]);
  });

  it("crosses segments, and starts at any entry of a long one", async () => {
    const journal = await openJournal(new SimDisk(), { segmentBytes: 40_000 });
    for (let first = 0; first < 1_200; first += 60) await journal.append(batchAt(first, 60));
    for (let from = 0; from < 1_200; from += 77) {
      const { first: _, ...page } = batchAt(from, Math.min(300, 1_200 - from));
      expect(await journal.read(from, 300)).toEqual(page);
    }
  });

  it("of one entry reads what is near it, not its whole segment", async () => {
    const disk = new SimDisk();
    const journal = await openJournal(disk);
    for (let first = 0; first < 6_000; first += 100) await journal.append(batchAt(first, 100));
    expect(disk.bytes(segment(0)).length).toBeGreaterThan(900_000);
    const before = disk.operations.length;
    expect((await journal.read(5_900, 1)).entries).toEqual([lineAt(5_900)]);
    expect(disk.operations.slice(before)).toEqual([`size ${segment(0)}`, `read ${segment(0)}`]);
  });

  it("refuses what was damaged under a running journal, with the index, and never skips it", async () => {
    const disk = new SimDisk();
    const journal = await openJournal(disk, { segmentBytes: 700 });
    for (const first of [0, 2, 4, 6]) await journal.append(batchAt(first, 2));
    expect(segmentsOf(disk).length).toBeGreaterThan(1);
    const file = await disk.open(segment(0), "write");
    const bytes = disk.bytes(segment(0));
    await file.write(Buffer.from("#"), 10);
    await expect(journal.read(0, 8)).rejects.toMatchObject({ index: 0 });
    await file.write(bytes, 0);
    await file.truncate(bytes.indexOf('{"at":1002'));
    await expect(journal.read(0, 8)).rejects.toThrow(
      "the log is damaged at entry 2: its segment ends before it; restore the directory from a backup, it was left as it is",
    );
    expect((await journal.read(4, 8)).entries).toEqual([4, 5, 6, 7].map(lineAt));
  });
});
