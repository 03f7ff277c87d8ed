import { describe, expect, it } from "vitest";
import { commitment } from "../../../../src/protocol/index.js";
import type { TextLine } from "../../../../src/kernel/index.js";
import type { TextPlace } from "../../../../src/storage/event-store.js";
import { DamagedLog, readHead } from "../../../../src/storage/journal/index.js";
import { HEAD, lineAt, openJournal, refusal, segment } from "../../../support/journal-scenes.js";
import { SimDisk } from "../../../support/sim-files.js";

const SECRET = "hunter2 ".repeat(500).trim();
const SALT = "07".repeat(32);
const PLACE: TextPlace = {
  index: 1,
  field: "message",
  committed: commitment("message", Buffer.from(SALT, "hex"), SECRET),
};

const text = (index: number, utf8: string): TextLine => ({ index, field: "message", salt: SALT, utf8 });

/** A journal of three entries, of which the second has a text of several sectors, between two others if asked. */
async function written(texts = [text(1, SECRET)]): Promise<SimDisk> {
  const disk = new SimDisk();
  const journal = await openJournal(disk);
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

  it("that left of a text no more than its first bytes, before a sector ends, is no damage", async () => {
    const offsetOf = (disk: SimDisk): number => disk.bytes(segment(0)).indexOf('{"text":{"index":1');
    const shortest = offsetOf(await written([text(0, ""), text(1, SECRET)]));
    const seen = new Set<number>();
    // A crc32 has more digits or fewer: with one filling or another the text begins at each place.
    for (const filling of Array.from({ length: 54 }, (_, at) => "xyz"[at % 3]?.repeat(at / 3) ?? "")) {
      const before = filling + "-".repeat(1_024 - 14 - (shortest % 512));
      const disk = await written([text(0, before), text(1, SECRET)]);
      const [bytes, start] = [disk.bytes(segment(0)), offsetOf(disk)];
      const left = 512 - (start % 512);
      if (left > 9) continue;
      seen.add(left);
      const half = Buffer.from(bytes).fill(" ", start + left, bytes.indexOf("\n", start));
      const journal = await openJournal(SimDisk.of({ ...disk.contents(), [segment(0)]: half }));
      expect((await journal.read(0, 10)).texts).toMatchObject([{ index: 0 }]);
      await journal.close();
    }
    expect(seen).toEqual(new Set([1, 2, 3, 4, 5, 6, 7, 8, 9]));
  });

  it("that fails at any operation ends the journal, and the next one makes it durable whatever the cache says", async () => {
    const steps: string[] = [];
    for (let at = 1; ; at += 1) {
      const disk = await written();
      const journal = await openJournal(disk);
      disk.faultAt = disk.operations.length + at;
      const failed = await journal.redact(PLACE).then(
        () => false,
        () => true,
      );
      if (!failed) break;
      steps.push(disk.operations.at(-1)?.split(" ")[0] ?? "");
      expect(String(await journal.failed)).toContain("EIO");
      await expect(journal.append({ first: 3, entries: [lineAt(3)], texts: [] })).rejects.toThrow("EIO");
      const later = disk.survivor();
      await (await openJournal(later)).redact(PLACE);
      expect(later.holds("hunter2")).toBe(false);
    }
    expect(steps).toEqual(["size", "read", "write", "sync"]);
  });

  it("waits for the head, in which a reader finds why the text is gone", async () => {
    const disk = new SimDisk();
    const journal = await openJournal(disk);
    await journal.append({ first: 0, entries: [lineAt(0), lineAt(1)], texts: [text(1, SECRET)] });
    expect(await readHead(disk, HEAD)).toMatchObject({ size: 0 });
    disk.operations.length = 0;
    await journal.redact(PLACE);
    expect(await readHead(disk, HEAD)).toMatchObject({ size: 2 });
    expect(disk.operations.filter((one) => /^(write|sync) /.test(one)).map((one) => one.replace(/ .*\//, " "))).toEqual(
      ["write head", "sync head", "write 00000000.jsonl", "sync 00000000.jsonl"],
    );
  });

  it("that is on its way is waited for by a close, behind which there is none", async () => {
    const disk = await written();
    const journal = await openJournal(disk);
    const release = disk.hold(segment(0));
    const erasing = journal.redact(PLACE);
    const closing = journal.close();
    await expect(journal.redact(PLACE)).rejects.toThrow("the journal is closed");
    release();
    await Promise.all([erasing, closing]);
    expect(disk.holds("hunter2")).toBe(false);
    expect(await Promise.race([journal.failed, Promise.resolve("nothing failed")])).toBe("nothing failed");
  });

  it("answers for no batch that it cannot read", async () => {
    const disk = await written();
    const journal = await openJournal(disk);
    const bytes = disk.bytes(segment(0));
    bytes[bytes.indexOf('"batch"') + 1] = 0;
    await expect(journal.redact(PLACE)).rejects.toThrow("the log is damaged at entry 1");
    expect(await journal.failed).toBeInstanceOf(DamagedLog);
  });

  it("costs no text beside it when the newline between them rots", async () => {
    const disk = await written([text(0, "before"), text(1, SECRET), text(2, "behind")]);
    const journal = await openJournal(disk);
    await journal.redact(PLACE);
    await journal.close();
    const bytes = disk.bytes(segment(0));
    const [start, end] = [bytes.indexOf("\n  "), bytes.indexOf(" \n") + 1];
    expect(end - start).toBeGreaterThan(4_000);
    for (const at of [start, end]) {
      for (let bit = 0; bit < 8; bit += 1) {
        const rotted = Buffer.from(bytes);
        rotted[at] = (rotted[at] ?? 0) ^ (1 << bit);
        const copy = SimDisk.of({ ...disk.contents(), [segment(0)]: rotted });
        expect(await refusal(copy)).toBe("0: a line is neither entry, text nor batch");
      }
    }
  });
});
