import { createHash } from "node:crypto";
import { afterEach, describe, expect, it } from "vitest";
import type { TextLine } from "../../src/kernel/index.js";
import { commitment } from "../../src/protocol/index.js";
import type { Batch, EventStore, Page } from "../../src/storage/event-store.js";

const line = (index: number): string =>
  `{"at":${1_000 + index},"index":${index},"kind":"broker_stopped","note":"\u00e9 \\" ${index}"}`;

function textOf(index: number, field: TextLine["field"], utf8: string): TextLine {
  return { index, field, salt: String(index % 10).repeat(64), utf8 };
}

/** A batch of `count` entries from `first` on, with a `message` for every even one. */
function batchOf(first: number, count: number): Batch {
  const indices = Array.from({ length: count }, (_, at) => first + at);
  return {
    first,
    entries: indices.map(line),
    texts: indices.filter((index) => index % 2 === 0).map((index) => textOf(index, "message", `text ${index}`)),
  };
}

/** MTH of RFC 6962 section 2.1, as it is written there. */
function hashOf(entries: readonly string[]): Buffer {
  const sha256 = (...parts: (string | Buffer)[]): Buffer => {
    const hash = createHash("sha256");
    for (const part of parts) hash.update(part);
    return hash.digest();
  };
  if (entries.length === 1) return sha256("\0", entries[0] ?? "");
  const split = 2 ** Math.floor(Math.log2(entries.length - 1));
  return sha256("\u0001", hashOf(entries.slice(0, split)), hashOf(entries.slice(split)));
}

/** Everything in the log, read in pages of `limit`. */
async function readAll(store: EventStore, limit: number): Promise<Page> {
  const all: Page = { entries: [], texts: [] };
  for (;;) {
    const page = await store.read(all.entries.length, limit);
    expect(page.entries.length).toBeLessThanOrEqual(limit);
    if (page.entries.length === 0) return all;
    all.entries.push(...page.entries);
    all.texts.push(...page.texts);
  }
}

/** What every store must do (`EventStore`). `open` gives an empty one; it is closed here. */
export function eventStoreSuite(name: string, open: () => Promise<EventStore>): void {
  describe(`${name}, as a store of events,`, () => {
    const opened: EventStore[] = [];
    const start = async (): Promise<EventStore> => {
      const store = await open();
      opened.push(store);
      return store;
    };
    afterEach(async () => {
      for (const store of opened.splice(0)) await store.close();
    });

    it("erases a text for good, by its entry and what it opens, and nothing else", async () => {
      const store = await start();
      for (let first = 0; first < 30; first += 10) await store.append(batchOf(first, 10));
      const before = await readAll(store, 100);
      const head = store.head();
      const utf8 = "text 12";
      const committed = commitment("message", Buffer.from("2".repeat(64), "hex"), utf8);
      await store.redact({ index: 12, field: "reason", committed });
      await store.redact({ index: 12, field: "message", committed: "0".repeat(64) });
      expect(await readAll(store, 100)).toEqual(before);
      for (let time = 0; time < 2; time += 1) {
        await store.redact({ index: 12, field: "message", committed });
        const { entries, texts } = await readAll(store, 100);
        expect(entries).toEqual(before.entries);
        expect(texts).toEqual(before.texts.filter((text) => text.utf8 !== utf8));
        expect(texts).toHaveLength(14);
      }
      expect(store.head()).toEqual(head);
      await store.append(batchOf(30, 2));
      expect((await readAll(store, 100)).entries).toHaveLength(32);
    });

    it("begins empty", async () => {
      const store = await start();
      expect(store.size()).toBe(0);
      expect(await store.read(0, 10)).toEqual({ entries: [], texts: [] });
      const ofNothing = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
      expect(store.head()).toEqual({ size: 0, root: ofNothing });
    });

    it("has the head of RFC 6962 over its entries", async () => {
      const store = await start();
      await store.append(batchOf(0, 3));
      expect(store.head()).toEqual({ size: 3, root: hashOf(batchOf(0, 3).entries).toString("hex") });
      await store.append(batchOf(3, 8));
      expect(store.head()).toEqual({ size: 11, root: hashOf(batchOf(0, 11).entries).toString("hex") });
    });

    it("holds what was appended, byte for byte and in order, and counts it", async () => {
      const store = await start();
      await store.append(batchOf(0, 3));
      await store.append(batchOf(3, 1));
      await store.append(batchOf(4, 6));
      expect(store.size()).toBe(10);
      const { entries, texts } = batchOf(0, 10);
      expect(await store.read(0, 100)).toEqual({ entries, texts });
    });

    it.each([1, 3, 100])("gives the same log in pages of %i", async (limit) => {
      const store = await start();
      await store.append(batchOf(0, 10));
      const { entries, texts } = batchOf(0, 10);
      expect(await readAll(store, limit)).toEqual({ entries, texts });
    });

    it("reads from any index, with the texts of those entries only", async () => {
      const store = await start();
      await store.append(batchOf(0, 6));
      expect(await store.read(3, 2)).toEqual({
        entries: [line(3), line(4)],
        texts: [textOf(4, "message", "text 4")],
      });
    });

    it("reads nothing at the end, behind it, or for a limit of 0", async () => {
      const store = await start();
      await store.append(batchOf(0, 2));
      const nothing = { entries: [], texts: [] };
      expect([await store.read(2, 5), await store.read(9, 5), await store.read(0, 0)]).toEqual([
        nothing,
        nothing,
        nothing,
      ]);
    });

    it("keeps several texts of one entry, and text of any kind", async () => {
      const store = await start();
      const texts = [
        textOf(0, "last_action", "line one\nline two\ttab"),
        textOf(0, "summary", `quotes " and \\ and \u{1F600} and \u2028`),
      ];
      await store.append({ first: 0, entries: [line(0)], texts });
      expect((await store.read(0, 1)).texts).toEqual(texts);
    });

    it("takes a batch of many entries", async () => {
      const store = await start();
      await store.append({ first: 0, entries: Array.from({ length: 150_000 }, (_, at) => line(at)), texts: [] });
      expect(store.size()).toBe(150_000);
      expect((await store.read(149_999, 5)).entries).toEqual([line(149_999)]);
    });

    it.each([
      ["behind", 3],
      ["before", 1],
      ["at the start", 0],
    ])("refuses a batch that begins %s the end of the log, whole", async (_where, first) => {
      const store = await start();
      await store.append(batchOf(0, 2));
      await expect(store.append(batchOf(first, 2))).rejects.toBeInstanceOf(Error);
      expect(store.size()).toBe(2);
      expect((await store.read(0, 10)).entries).toEqual([line(0), line(1)]);
    });

    it("gives pages that are the reader's own", async () => {
      const store = await start();
      const batch = batchOf(0, 2);
      await store.append(batch);
      const page = await store.read(0, 2);
      page.entries.length = 0;
      page.texts.length = 0;
      (batch.entries as string[]).push("later");
      expect(await store.read(0, 2)).toEqual({ entries: [line(0), line(1)], texts: batchOf(0, 2).texts });
      expect(store.size()).toBe(2);
    });

    it("closes, and closes again", async () => {
      const store = await open();
      await store.append(batchOf(0, 1));
      await store.close();
      await expect(store.close()).resolves.toBeUndefined();
    });
  });
}
