import { crc32 } from "node:zlib";
import { describe, expect, it } from "vitest";
import { batchLine, textLine } from "../../../../src/storage/journal/lines.js";
import { bytesKept, openScripted, play } from "../../../support/journal-script.js";
import {
  batchAt,
  batchesOf,
  expectLog,
  lineAt,
  openJournal,
  outcomeOf,
  refusal,
  segment,
  segmentsOf,
  spliced,
  textsAt,
  written,
} from "../../../support/journal-scenes.js";
import { SimDisk } from "../../../support/sim-files.js";

/** One segment with the head behind the second of five batches. */
const scene = (): Promise<SimDisk> => written([2, 1, 4, 1, 3], { head: 1 });

/** Of the first and two more entries: what is wrong with a batch has to be something else. */
const ROOT = "5b9fda663504452de70264d3f53727b0dc158833f831c7316c28e106264df093";

describe("a torn tail", () => {
  it.each([
    ["zeros", Buffer.alloc(700)],
    ["garbage without a newline", Buffer.alloc(9_000, 0xa7)],
    ["garbage with newlines", Buffer.alloc(700, "\n")],
    [
      "a batch of which only the last sector arrived",
      Buffer.concat([Buffer.alloc(512), Buffer.from('e"}\n{"batch":{"first":11,"count":1,"bytes":516,"size":12}}\n')]),
    ],
    ["one byte", Buffer.from("{")],
  ])("of %s is set aside", async (_, tail) => {
    const disk = await scene();
    const length = disk.bytes(segment(0)).length;
    const torn = spliced(disk, length, length, tail);
    const journal = await openJournal(torn);
    expect(journal.torn).toEqual({ file: "00000000.jsonl.0.torn", bytes: tail.length });
    expect(torn.bytes(segment(0, "jsonl.0.torn"))).toEqual(Buffer.from(tail));
    expect(torn.bytes(segment(0))).toEqual(disk.bytes(segment(0)));
    await expectLog(journal, 11);
  });

  it("that comes twice is set aside in two files", async () => {
    const first = await scene();
    const length = first.bytes(segment(0)).length;
    const second = spliced(first, length, length, "one");
    await (await openJournal(second)).close();
    const third = spliced(second, length, length, "two");
    expect((await openJournal(third)).torn).toEqual({ file: "00000000.jsonl.1.torn", bytes: 3 });
    expect(third.bytes(segment(0, "jsonl.0.torn")).toString()).toBe("one");
    expect(third.bytes(segment(0, "jsonl.1.torn")).toString()).toBe("two");
    expect((await openJournal(SimDisk.of(third.contents()))).torn).toBeUndefined();
  });

  it("is no torn tail when a whole batch stands in it: that was written after what is broken had been durable", async () => {
    const disk = await scene();
    const [, , third, fourth] = batchesOf(segmentsOf(disk));
    const { start = 0, end = 0 } = third ?? {};
    const later = ", and yet a whole batch stands there or later";
    expect(await refusal(spliced(disk, start + 40, start + 41, "#"))).toBe(`3: the batch line does not check${later}`);
    expect(await refusal(spliced(disk, end - 1, end, " "))).toBe(`3: the batch line does not check${later}`);
    expect(await refusal(spliced(disk, start, end, ""))).toBe(
      `3: the lines of the batch are not those that its last line tells of${later}`,
    );
    expect(await refusal(spliced(disk, start, end, Buffer.alloc(end - start)))).toBe(
      `3: a line is neither entry, text nor batch${later}`,
    );
    const again = disk.bytes(segment(0)).subarray(fourth?.start, fourth?.end);
    expect(await refusal(spliced(disk, fourth?.end ?? 0, fourth?.end ?? 0, again))).toBe(
      `8: the lines of the batch are not those that its last line tells of${later}`,
    );
  });

  const [text = ""] = textsAt(3).map(textLine);
  it.each([
    ["an entry behind a text", [lineAt(1), textLine({ index: 1, field: "reason", salt: "", utf8: "" }), lineAt(2)], {}],
    ["a text of another batch", [lineAt(1), lineAt(2), text], {}],
    ["another first entry", [lineAt(1), lineAt(2)], { first: 0 }],
    ["another count", [lineAt(1), lineAt(2)], { count: 3 }],
    ["another size", [lineAt(1), lineAt(2)], { size: 4 }],
    ["another number of bytes", [lineAt(1), lineAt(2)], { bytes: 1 }],
    ["no entry", [], { count: 0, size: 1 }],
  ])("is what a batch is that tells of %s", async (_, lines, lie) => {
    const disk = await written([1]);
    const whole = lines.map((line) => `${line}\n`).join("");
    const bytes = Buffer.byteLength(whole);
    const entries = lines.filter((line) => line.startsWith('{"at"')).map((line) => `${line}\n`);
    for (const crc of [crc32(whole), crc32(entries.join(""))]) {
      const says = batchLine({ first: 1, count: 2, bytes, size: 3, root: ROOT, ...lie }, crc);
      const length = disk.bytes(segment(0)).length;
      expect(await outcomeOf(openJournal(spliced(disk, length, length, `${whole}${says}\n`)))).toBe(
        `opened with 1, ${bytes + says.length + 1} bytes set aside`,
      );
    }
  });

  it("is nowhere lost when the power is cut while it is set aside", async () => {
    const disk = await scene();
    const length = disk.bytes(segment(0)).length;
    const tail = Buffer.alloc(1_300, "torn");
    const missing: string[] = [];
    for (let at = 1; at <= 24; at += 1) {
      for (let seed = 1; seed <= 8; seed += 1) {
        const torn = spliced(disk, length, length, tail);
        Object.assign(torn, { faultAt: at, fault: "power" });
        await openJournal(torn).catch(() => {});
        const after = Object.entries(torn.crash(seed).contents());
        if (!after.some(([path, bytes]) => /torn|jsonl/.test(path) && bytes.includes(tail)))
          missing.push(`${at}/${seed}`);
      }
    }
    expect(missing).toEqual([]);
  });

  it("is no torn tail when its batch checks and its root is another tree's", async () => {
    const disk = await written([2, 1], { head: 0 });
    const [, second] = batchesOf(segmentsOf(disk));
    const entry = `${lineAt(2).replace("broker", "brok3r")}\n`;
    const line = batchLine(
      { first: 2, count: 1, bytes: Buffer.byteLength(entry), size: 3, root: "ab".repeat(32) },
      crc32(entry),
    );
    expect(await refusal(spliced(disk, second?.start ?? 0, second?.end ?? 0, `${entry}${line}\n`))).toBe(
      "2: the root of the tree is not the one that the batch tells of",
    );
  });
});

describe("text lines", () => {
  it("that were blanked are passed over, their entries are still there", async () => {
    const disk = await scene();
    const bytes = disk.bytes(segment(0)).toString("latin1");
    const start = bytes.indexOf('{"text":{"index":3,');
    const end = bytes.indexOf("\n", start);
    const journal = await openJournal(spliced(disk, start, end, " ".repeat(end - start)));
    const { first: _, entries, texts } = batchAt(0, 11);
    expect(await journal.read(0, 11)).toEqual({ entries, texts: texts.filter(({ index }) => index !== 3) });
  });

  it("that were blanked in part, or changed in one letter, are refused", async () => {
    const disk = await scene();
    const bytes = disk.bytes(segment(0)).toString("latin1");
    const start = bytes.indexOf('{"text":{"index":0,');
    const end = bytes.indexOf("\n", start);
    const said = "0: a line is neither entry, text nor batch";
    for (const half of [start + 1, end - 1]) {
      expect(await refusal(spliced(disk, start, half, " ".repeat(half - start)))).toBe(said);
      expect(await refusal(spliced(disk, half, end, " ".repeat(end - half)))).toBe(said);
    }
    const letter = bytes.indexOf("text 0", start);
    expect(await refusal(spliced(disk, letter, letter + 1, "T"))).toBe(said);
    expect(textsAt(0)).toHaveLength(1);
  });
});

describe("a disk that says it has synced the segments and has not", () => {
  it("costs no entry below the head unnoticed, and nothing that it did keep", async () => {
    const outcomes = { opened: 0, refused: 0, wrong: 0 };
    for (let seed = 1; seed <= 300; seed += 1) {
      const disk = new SimDisk(seed);
      const before = await play(disk, [[2, 0, 5, 1, 0, 6]]);
      disk.lies = ".jsonl";
      const told = await play(disk, [[1, 4, 3]], before);
      expect(told).toMatchObject({ head: 14, durable: 22, error: undefined });
      const after = disk.crash(seed);
      const bytes = bytesKept(after);
      const [, what = "", size = "0"] = /^(\w+) (?:with|at) (\d+)/.exec(await outcomeOf(openScripted(after))) ?? [];
      if (what === "refused") outcomes.refused += 1;
      else if (what !== "opened" || Number(size) < 14 || bytesKept(after) !== bytes) outcomes.wrong += 1;
      else outcomes.opened += 1;
    }
    expect(outcomes.wrong).toBe(0);
    expect(Math.min(outcomes.opened, outcomes.refused)).toBeGreaterThan(10);
  });
});
