import { describe, expect, it } from "vitest";
import { exportedLines, exportLines } from "../../../src/cli/audit/exported-lines.js";
import { Verifier, type Yardsticks } from "../../../src/cli/audit/verifier.js";
import { readEntry, Replay } from "../../../src/kernel/index.js";
import type { LoggedLine } from "../../../src/storage/journal/index.js";
import { MemoryStore } from "../../../src/storage/memory.js";
import { generateLog } from "../../crash/generate.js";
import { parseVerifierKey, signerKey } from "../../../src/tlog/index.js";
import { everyKind, MADE_ANEW, recorded, signedOver } from "../../support/every-kind.js";
import { TestKernel } from "../../support/kernel.js";
import { LIES, type Lie, type LoggedEntry } from "../../support/lies.js";
import { lineOf, manglings } from "../../support/mangled-log.js";
import { verified } from "../../support/verified.js";

const LOG = everyKind();

/** The log in an honest checkpoint's eyes. */
const signed = (note = signedOver(LOG)): Partial<Yardsticks> => ({ checkpoints: [{ name: "note", note }] });

/** The log of a broker that lies in the first entry that `lie` changes, and signs its lie; with where that is. */
function lying(lie: Lie): { index: number; entries: LoggedLine[]; note: string } {
  for (const [index, logged] of LOG.entries()) {
    const told = lie(JSON.parse(logged.line) as LoggedEntry);
    if (told === undefined) continue;
    const entries = LOG.with(index, { ...logged, line: lineOf(told) });
    return { index, entries, note: signedOver(entries) };
  }
  throw new Error("nothing in the log can be lied about so");
}

describe("Verifier", () => {
  it("finds nothing wrong with an honest log, and counts what it re-decided and what is attested", () => {
    const { difference, counts, texts, agreed, size } = verified(LOG, signed());
    expect(difference).toBeUndefined();
    expect(size).toBe(LOG.length);
    expect(agreed).toEqual([{ name: "note", size: LOG.length }]);
    expect(texts.absent).toBe(0);
    expect(texts.matching).toBeGreaterThan(20);
    const total = [...counts.redecided.values(), ...counts.attested.values()].reduce((a, b) => a + b, 0);
    expect(total).toBe(LOG.length);
    expect([...counts.attested.keys()].sort()).toEqual(["refusals_folded", "refused MALFORMED", "status"]);
  });

  it.each(Object.entries(LIES))(
    "catches a broker that lies about %s, in a tree and under a signature that are right",
    (_, lie) => {
      const { index, entries, note } = lying(lie);
      expect(verified(entries, signed(note)).difference?.index).toBe(index);
    },
  );

  it("names the place of each deletion, swap and insertion without any checkpoint", () => {
    const placed = LOG.flatMap((_, at) => manglings(LOG, at)).filter(({ index }) => index !== undefined);
    expect(placed.length).toBeGreaterThan(3 * LOG.length);
    expect(placed.map(({ entries }) => verified(entries).difference?.index)).toEqual(placed.map(({ index }) => index));
  });

  it("takes a log without an entry for none", () => {
    expect(verified([]).difference).toEqual({ index: 0, sentence: "the log is empty" });
  });

  it("holds the log against older checkpoints, and names where it leaves them", () => {
    const older = { name: "older", note: signedOver(LOG, 10) };
    expect(verified(LOG, { checkpoints: [{ name: "note", note: signedOver(LOG) }, older] }).agreed).toEqual([
      { name: "older", size: 10 },
      { name: "note", size: LOG.length },
    ]);
    const forked = LOG.map((entry) => ({ ...entry, line: entry.line.replace('"T-9"', '"T-8"') }));
    const fork = { name: "fork", note: signedOver(forked, 30) };
    expect(verified(LOG, { checkpoints: [older, fork] }).difference).toEqual({
      index: 10,
      sentence: "of entries 10 to 29 some are not what fork signs (30 entries)",
    });
    expect(verified(LOG.slice(0, 20), { checkpoints: [fork] }).difference?.index).toBe(20);
  });

  it("tells an entry that was added behind the checkpoint over the whole log from a log that has grown since", () => {
    const last = LOG.length - 1;
    const yardsticks = signed(signedOver(LOG, last));
    expect(verified(LOG, yardsticks).difference).toBeUndefined();
    const added = { index: last, sentence: "no checkpoint at hand signs it" };
    expect(verified(LOG, { ...yardsticks, bounded: true }).difference).toEqual(added);
    expect(verified(LOG, { ...signed(), bounded: true }).difference).toBeUndefined();
  });

  it("takes no checkpoint that the log's key has not signed, and no log of another key than the one given", () => {
    const note = signedOver(LOG);
    const broken = note.replace(
      /(.)(.{6})\n$/,
      (_, char: string, rest: string) => `${char === "A" ? "B" : "A"}${rest}\n`,
    );
    expect(verified(LOG, signed(broken)).difference).toEqual({
      index: 0,
      sentence: "the signature on note does not hold",
    });
    const other = signerKey("test.example/log", new Uint8Array(32).fill(3));
    expect(verified(LOG, { ...signed(), key: other }).difference).toMatchObject({ index: 0 });
    const own = parseVerifierKey((JSON.parse(LOG[0]?.line ?? "") as { log_key: string }).log_key);
    expect(own).toBeDefined();
    expect(verified(LOG, { ...signed(), ...(own !== undefined && { key: own }) }).difference).toBeUndefined();
  });

  it("tells a text that is withheld, one that is another, and a log without texts apart", () => {
    const at = LOG.findIndex(({ line }) => line.includes('"kind":"admitted"'));
    const entry = LOG[at] as LoggedLine;
    const without = LOG.with(at, { ...entry, texts: [] });
    const withheld = { index: at, sentence: "its message is withheld: the text is not there" };
    expect(verified(without).difference).toEqual(withheld);
    expect(verified(without, { texts: "some" }).difference).toEqual(withheld);
    expect(verified(without, { texts: "none" }).difference).toBeUndefined();
    const [text] = entry.texts;
    const another = LOG.with(at, { ...entry, texts: text === undefined ? [] : [{ ...text, utf8: "Another." }] });
    expect(verified(another).difference).toEqual({
      index: at,
      sentence: "its message is not the text that it commits to",
    });
    const none = verified(
      LOG.map((one) => ({ ...one, texts: [] })),
      { texts: "some" },
    );
    expect(none.difference).toBeUndefined();
    expect(none.texts.matching).toBe(0);
    expect(none.texts.absent).toBeGreaterThan(20);
    expect(none.counts.attested.get("status_digest")).toBeGreaterThan(5);
  });

  it("says what is wrong where several checks would find it", () => {
    const said = (entries: readonly LoggedLine[], yardsticks: Partial<Yardsticks> = {}): unknown => {
      const { index, sentence } = verified(entries, yardsticks).difference ?? {};
      return [index, sentence];
    };
    const at = (index: number, changed: Partial<LoggedLine>): LoggedLine[] =>
      LOG.with(index, { ...(LOG[index] as LoggedLine), ...changed });
    const saying = (index: number, from: string, to: string): LoggedLine[] =>
      at(index, { line: LOG[index]?.line.replace(from, to) ?? "" });
    const wrong = "0".repeat(64);
    expect(said(LOG.toSpliced(5, 1))).toEqual([5, "the log goes on with entry 6"]);
    expect(said(saying(5, '"index":5', '"index":6'))).toEqual([5, "it calls itself entry 6"]);
    expect(said(saying(0, '"kind":"log_opened"', '"kind":"opened"'))).toEqual([
      0,
      "a log begins with log_opened, not with opened",
    ]);
    expect(said(saying(0, '"origin":"test', '"origin":"rest'))).toEqual([0, "its log_key is no key of its origin"]);
    const key = signerKey("test.example/log", new Uint8Array(32).fill(3));
    expect(said(LOG, { key })).toEqual([0, expect.stringMatching(/^its log_key is .*, not the key that was given$/)]);
    const planned = LOG.findIndex(({ line }) => line.includes('"kind":"planned"'));
    expect(said(LOG.slice(0, planned + 1))).toEqual([
      planned + 1,
      "the log ends in the middle of what one request did",
    ]);
    expect(said(LOG, { head: { size: 10, root: wrong } })).toEqual([
      0,
      "of entries 0 to 9 some are not what the head file tells of (10 entries)",
    ]);
    expect(said(LOG, { head: { size: LOG.length + 1, root: wrong } })).toEqual([
      LOG.length,
      `the log ends here, but the head file tells of ${LOG.length + 1} entries`,
    ]);
    expect(said(at(9, { head: { size: 10, root: wrong } }))).toEqual([
      0,
      "of entries 0 to 9 some are not what the root of its batch is over",
    ]);
    const texts = LOG.flatMap((one) => one.texts.filter(({ field }) => field === "message")).slice(0, 1);
    expect(said(at(1, { texts }))).toEqual([1, "it has no message to which the text with it could belong"]);
    const [owned, entry] = [...LOG.entries()].find(([, { line }]) => line.includes('"worker_entry":2,')) ?? [0];
    const later = LOG.with(owned, {
      ...(entry as LoggedLine),
      line: entry?.line.replace('"worker_entry":2,', '"worker_entry":3,') ?? "",
    });
    expect(said(later)).toEqual([
      owned,
      expect.stringMatching(/^it is entry 3 of worker w-\d, which has 1 before it$/),
    ]);
  });

  it("finds an entry that is not counted at its place, though what it belongs to comes later", () => {
    for (const kind of ["planned", "witnessed", "orphaned"]) {
      const { index, entries } = lying(({ worker_entry: _entry, ...entry }) =>
        entry["kind"] === kind ? (entry as LoggedEntry) : undefined,
      );
      const sentence = /^it is entry without a number of worker w-1, which has \d+ before it$/;
      expect(verified(entries).difference).toEqual({ index, sentence: expect.stringMatching(sentence) });
    }
  });

  it("decides a bye again that was refused to one who is no worker, and so names none", () => {
    const kernel = new TestKernel();
    const entries = recorded(kernel);
    kernel.grant("orchestrator", "o-1");
    const by = { role: "orchestrator", subject: "o-1", token: "t-o-1" } as const;
    kernel.do({ kind: "read", by, request: "bye", session: "s-1" });
    expect(entries.at(-1)?.line).toContain('"kind":"refused"');
    expect(verified(entries).difference).toBeUndefined();
  });

  it.each(["null", "1", '"x"', "[]", "{}", "", "{", '{"at":0', '{"index":0}'])(
    "finds a line %s at its place, whatever stands there",
    (line) => {
      for (const at of [0, 1, 30, LOG.length - 1]) {
        const entries = LOG.with(at, { index: at, line, texts: [] });
        expect(verified(entries, signed(signedOver(entries))).difference?.index).toBe(at);
      }
    },
  );

  it("finds a line that says more than was decided, in a tree and under a signature that are right", () => {
    const at = LOG.findIndex(({ line }) => line.includes('"detail":"DIGEST"'));
    const { line = "" } = LOG[at] ?? {};
    const { commitment } = /"commitment":"(?<commitment>[0-9a-f]+)"/.exec(line)?.groups ?? {};
    const more = [
      line.replace('{"at":', '{"at":0,"at":'),
      line.replace('"by":{', '"by":{"name":"Ann",'),
      line.replace('"content":{', '"content":{"constructor":"Said to nobody.",'),
      line.replace('"content":{', '"content":{"toJSON":1,'),
      line.replace(`"${commitment}"`, `"${commitment}","salt":"00","text":"Said to nobody."`),
      line.replace(`"index":${at}`, `"index":"${at}"`),
      line.replace(/}$/, ',"worker_id":"w-2"}'),
      `${line} `,
    ];
    for (const told of more) {
      expect(told).not.toBe(line);
      const entries = LOG.with(at, { ...(LOG[at] as LoggedLine), line: told });
      expect(verified(entries, signed(signedOver(entries))).difference?.index).toBe(at);
    }
  });

  it("finds what no request can bring, though the rules would copy it as it is", () => {
    const { line = "" } = LOG[1] ?? {};
    const started = JSON.parse(line) as { kind: string; limits: object };
    expect(started.kind).toBe("broker_started");
    const told = lineOf({ ...started, limits: { ...started.limits, note: "Said to nobody." } });
    const entries = LOG.with(1, { index: 1, line: told, texts: [] });
    expect(verified(entries, signed(signedOver(entries))).difference).toEqual({
      index: 1,
      sentence: "it is not an entry that the broker writes",
    });
  });

  it("finds any other member in an entry that the rules make anew", () => {
    const made = new Set(MADE_ANEW);
    const missed: string[] = [];
    for (const [at, logged] of LOG.entries()) {
      const told = JSON.parse(logged.line) as LoggedEntry;
      if (!made.delete(told.kind)) continue;
      for (const name of [...Object.keys(told), "detail", "echo", "reason", "superseded_by", "note"]) {
        const entries = LOG.with(at, { ...logged, line: lineOf({ ...told, [name]: "Said to nobody." }) });
        const { difference } = verified(entries, signed(signedOver(entries)));
        if (difference?.index !== at) missed.push(`${told.kind}.${name}`);
      }
    }
    expect([...made]).toEqual([]);
    expect(missed).toEqual([]);
  });

  it("decides a refused correction again without members that it only seems to have", () => {
    const at = LOG.findIndex(({ line }) => line.includes('"detail":"DIGEST"'));
    const told = LOG[at]?.line.replace('"content":{', '"content":{"constructor":"Said to nobody.",') ?? "";
    const replay = new Replay();
    for (const { line } of LOG.slice(0, at)) expect(replay.take(line, readEntry(line))).toBeUndefined();
    expect(replay.take(told, readEntry(told))?.index).toBe(at);
  });

  it("takes a text for redacted where a later entry says so of that very text, and of no other", () => {
    const at = LOG.findIndex(({ line }) => line.includes('"kind":"redacted"'));
    const { entry } = JSON.parse(LOG[at]?.line ?? "") as { entry: number };
    const gone = LOG.with(entry, { ...(LOG[entry] as LoggedLine), texts: [] });
    expect(verified(gone)).toMatchObject({ texts: { redacted: 1, absent: 0 } });
    expect(verified(gone).difference).toBeUndefined();
    const { entries, index } = lying((one) =>
      one.kind === "redacted" ? { ...one, committed: "0".repeat(64) } : undefined,
    );
    const other = entries.with(entry, { ...(entries[entry] as LoggedLine), texts: [] });
    expect(verified(other).difference).toMatchObject({
      index,
      sentence: expect.stringMatching(/^it redacts another text/),
    });
  });
});

describe("exportedLines", () => {
  async function* chunksOf(text: string, size: number): AsyncGenerator<Uint8Array> {
    const bytes = Buffer.from(text);
    for (let at = 0; at < bytes.length; at += size) yield await Promise.resolve(bytes.subarray(at, at + size));
  }
  const text = LOG.map((entry) => exportLines(entry, true)).join("");
  async function all(chunks: AsyncIterable<Uint8Array>): Promise<LoggedLine[]> {
    const entries: LoggedLine[] = [];
    for await (const entry of exportedLines(chunks)) entries.push(entry);
    return entries;
  }

  it.each([1, 7, 1_000, 1_000_000])("reads back what was exported, in chunks of %i bytes", async (size) => {
    expect(await all(chunksOf(text, size))).toEqual(LOG);
  });

  it.each([
    ["a line that is nothing", `${text}{}\n`, LOG.length, "a line is neither an entry nor a text"],
    ["a text that is nothing", `${text}{"text":null}\n`, LOG.length, "a line is neither an entry nor a text"],
    ["a last line without an end", text.slice(0, -1), LOG.length - 1, "the last line does not end"],
    [
      "bytes that are no UTF-8",
      Buffer.from([0x7b, 0xff, 0x0a]).toString("latin1"),
      0,
      "a line is neither an entry nor a text",
    ],
    ["a line without end", "x".repeat(100_000), 0, "a line has more than 65536 bytes"],
  ])("stops at %s", async (_, broken, index, message) => {
    await expect(all(chunksOf(broken, 1_000))).rejects.toMatchObject({ index, message });
  });

  it("holds no more of a log of 20,000 entries than a chunk and an entry", { timeout: 60_000 }, async () => {
    const store = new MemoryStore();
    const keys = { idKey: new Uint8Array(32).fill(1), logKey: new Uint8Array(32).fill(2) };
    await generateLog(store, keys, { seed: 1, entries: 20_000, stretch: 20_000, tell: () => {} });
    const CHUNK = 65_536;
    const MOST_ENTRY = 9_000;
    let [given, taken, most] = [0, 0, 0];
    async function* chunks(): AsyncGenerator<Uint8Array> {
      let waiting = "";
      for (let from = 0; from < store.size(); from += 100) {
        const page = await store.read(from, 100);
        for (const [at, line] of page.entries.entries()) {
          const index = from + at;
          waiting += exportLines({ index, line, texts: page.texts.filter((text) => text.index === index) }, true);
        }
        for (; waiting.length >= CHUNK; waiting = waiting.slice(CHUNK)) {
          given += CHUNK;
          yield Buffer.from(waiting.slice(0, CHUNK), "latin1");
        }
      }
      given += waiting.length;
      yield Buffer.from(waiting, "latin1");
    }
    const verifier = new Verifier({ texts: "whole" });
    for await (const entry of exportedLines(chunks())) {
      taken += exportLines(entry, true).length;
      most = Math.max(most, given - taken);
      verifier.take(entry);
    }
    expect(verifier.end()).toMatchObject({ size: store.size() });
    expect(verifier.end().difference).toBeUndefined();
    expect(taken).toBe(given);
    expect(most).toBeLessThan(CHUNK + MOST_ENTRY);
  });
});
