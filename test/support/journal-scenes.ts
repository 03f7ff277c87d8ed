import { expect } from "vitest";
import type { TextLine } from "../../src/kernel/index.js";
import type { Batch, EventStore, Page } from "../../src/storage/event-store.js";
import { DamagedLog, Journal, type JournalOptions } from "../../src/storage/journal/index.js";
import type { Files } from "../../src/storage/journal/files.js";
import { SimDisk } from "./sim-files.js";

export const DIRECTORY = "/data/log";
export const HEAD = "/data/head";

/** The path of a segment, or of what belongs to one. */
export function segment(ordinal: number, kind: "jsonl" | "hashes" | "jsonl.0.torn" | "jsonl.1.torn" = "jsonl"): string {
  return `${DIRECTORY}/0000000${ordinal}.${kind}`;
}

/** The entry at an index: always the same, of a size that varies with it. */
export function lineAt(index: number): string {
  return `{"at":${1_000 + index},"by":{"role":"broker","subject":"broker"},"index":${index},"kind":"note","of":"${"né".repeat(index % 7)}"}`;
}

/** Every third entry has a text. */
export function textsAt(index: number): TextLine[] {
  if (index % 3 !== 0) return [];
  return [{ index, field: "message", salt: index.toString(16).padStart(64, "0"), utf8: utf8At(index) }];
}

function utf8At(index: number): string {
  return `text ${index} "\u00fc"\n😀`;
}

export function batchAt(first: number, count: number): Batch {
  const indexes = Array.from({ length: count }, (_, at) => first + at);
  return { first, entries: indexes.map(lineAt), texts: indexes.flatMap(textsAt) };
}

/** A timer that runs when the test says so. */
export class Hand {
  #due: (() => void)[] = [];

  readonly later = (_ms: number, fn: () => void): Disposable => {
    this.#due.push(fn);
    return { [Symbol.dispose]: () => (this.#due = this.#due.filter((one) => one !== fn)) };
  };

  get waiting(): number {
    return this.#due.length;
  }

  /** Runs what waits, and lets what it began come to its end on a disk without delays. */
  async run(): Promise<void> {
    for (const fn of this.#due.splice(0)) fn();
    await new Promise((resolve) => setImmediate(resolve));
  }
}

export function openJournal(files: Files, options: Partial<JournalOptions> = {}): Promise<Journal> {
  return Journal.open({ directory: DIRECTORY, files, later: new Hand().later, ...options });
}

async function everything(store: EventStore): Promise<Page> {
  const all: Page = { entries: [], texts: [] };
  while (all.entries.length < store.size()) {
    const page = await store.read(all.entries.length, 7);
    all.entries.push(...page.entries);
    all.texts.push(...page.texts);
  }
  return all;
}

/** The log is the entries 0 to before `size`, with their texts. */
export async function expectLog(store: EventStore, size: number): Promise<void> {
  const { first: _, ...whole } = batchAt(0, size);
  expect(store.size()).toBe(size);
  expect(await everything(store)).toEqual(whole);
}

/** What came of opening a journal, in words; what it holds is compared with what was written. */
export async function outcomeOf(opening: Promise<Journal>): Promise<string> {
  try {
    const journal = await opening;
    const size = journal.size();
    const { entries, texts } = await journal.read(0, size);
    const same = entries.length === size && entries.every((line, index) => line === lineAt(index));
    const kept = texts.length === Math.ceil(size / 3) && texts.every(({ utf8, index }) => utf8 === utf8At(index));
    return `${same && kept ? "opened" : "ALTERED"} with ${size}, ${journal.torn?.bytes ?? 0} bytes set aside`;
  } catch (error) {
    return error instanceof DamagedLog ? `refused at ${error.index}` : String(error);
  }
}

/**
 * The disk under a journal that was written in batches of these sizes, all durable, with the head at the end of the batch
 * at `head` (-1: before the first one; by default the last).
 */
export async function written(
  sizes: readonly number[],
  { head = sizes.length - 1, segmentBytes = 1_048_576 }: { head?: number; segmentBytes?: number } = {},
): Promise<SimDisk> {
  const disk = new SimDisk();
  const hand = new Hand();
  const journal = await openJournal(disk, { segmentBytes, later: hand.later });
  for (const [at, count] of sizes.entries()) {
    await journal.append(batchAt(journal.size(), count));
    if (at === head) await hand.run();
  }
  return SimDisk.of(disk.contents());
}

/** What a batch line says of itself, and where its batch lies in the bytes of all segments, one behind the other. */
export interface BatchPlace {
  first: number;
  size: number;
  start: number;
  end: number;
}

/** The segments of a journal as a reader of plain lines finds them. */
export function batchesOf(segments: readonly Buffer[]): BatchPlace[] {
  const places: BatchPlace[] = [];
  let at = 0;
  let start = 0;
  for (const line of Buffer.concat(segments).toString("latin1").split("\n").slice(0, -1)) {
    at += line.length + 1;
    if (!line.startsWith('{"batch":')) continue;
    const { batch } = JSON.parse(line) as { batch: { first: number; size: number } };
    places.push({ first: batch.first, size: batch.size, start, end: at });
    start = at;
  }
  return places;
}

/** The segments on a disk, in order. */
export function segmentsOf(disk: SimDisk): Buffer[] {
  const contents = disk.contents();
  return Object.keys(contents)
    .filter((path) => path.endsWith(".jsonl"))
    .sort()
    .map((path) => contents[path] ?? Buffer.alloc(0));
}

/** The same disk with the bytes from `start` to before `end` of the first segment replaced. */
export function spliced(disk: SimDisk, start: number, end: number, by: string | Uint8Array): SimDisk {
  const bytes = disk.bytes(segment(0));
  const next = SimDisk.of(disk.contents());
  next.put(segment(0), Buffer.concat([bytes.subarray(0, start), Buffer.from(by), bytes.subarray(end)]));
  return next;
}

/** Why a journal is not opened, as far as the index and what is wrong; nothing on its disk may be touched. */
export async function refusal(disk: SimDisk): Promise<string> {
  const before = disk.contents();
  const error: unknown = await openJournal(disk).then(
    () => "opened",
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(DamagedLog);
  expect(disk.contents()).toEqual(before);
  expect(disk.handles).toBe(0);
  return (error as DamagedLog).message.replace("the log is damaged at entry ", "").replace(/; restore .*/, "");
}
