import { dirname, join } from "node:path";
import { crc32 } from "node:zlib";
import { Frontier, leafHash, rootHex } from "../../tlog/index.js";
import type { Batch, EventStore, Head, Page, TextPlace, TornTail } from "../event-store.js";
import { opensCommitment } from "../texts.js";
import { readBatches } from "./batches.js";
import { DamagedLog } from "./damage.js";
import { systemFiles, type Files } from "./files.js";
import { HeadFile } from "./head.js";
import { LeafHashes } from "./leaf-hashes.js";
import { batchLine, BLANK, ENTRY_START, textLine } from "./lines.js";
import { recover, type Recovered, type Segment } from "./recover.js";
import { hashesPath, listSegments, segmentPath, writeHashes } from "./segments.js";
import { SparseIndex } from "./sparse-index.js";

export interface JournalOptions {
  /** Where the segments lie; made if it is not there. */
  directory: string;
  /** The head's file, best on another disk; default: `head` beside the directory. */
  head?: string;
  files?: Files;
  /** A segment is sealed once it has as many bytes; default 64 MiB. */
  segmentBytes?: number;
  /** Runs `fn` after `ms` milliseconds; default: the system's timer. */
  later?: (ms: number, fn: () => void) => Disposable;
}

const SEGMENT_BYTES = 67_108_864;
/** The head follows a batch within this time. */
const HEAD_MS = 50;

/**
 * The log as files that `jq` and `sha256sum` can read (WITNESS-LOG.md): one line an entry, exactly the bytes of its
 * leaf. A group commit is one write and one fdatasync. After the first write or sync that fails nothing is written any
 * more: what the disk holds then is found out at the next start.
 */
export class Journal implements EventStore {
  readonly failed: Promise<unknown>;
  /** What the start set aside, if anything. */
  readonly torn: TornTail | undefined;
  readonly #files: Files;
  readonly #directory: string;
  readonly #segmentBytes: number;
  readonly #later: (ms: number, fn: () => void) => Disposable;
  readonly #head: HeadFile;
  readonly #segments: Segment[];
  readonly #frontier: Frontier;
  #leaves: LeafHashes;
  #durable: Head;
  #headTimer: Disposable | undefined;
  #headWrite: Promise<void> = Promise.resolve();
  #appending: Promise<void> = Promise.resolve();
  #erasing: Promise<void> = Promise.resolve();
  #closing = false;
  #poison: Error | undefined;
  #fail: (error: unknown) => void = () => {};

  private constructor(
    options: JournalOptions,
    files: Files,
    head: HeadFile,
    segments: Segment[],
    recovered: Recovered,
  ) {
    this.#files = files;
    this.#directory = options.directory;
    this.#segmentBytes = options.segmentBytes ?? SEGMENT_BYTES;
    this.#later = options.later ?? systemTimer;
    this.#head = head;
    this.#segments = segments;
    this.#frontier = recovered.frontier;
    this.#leaves = recovered.leaves;
    this.#durable = { size: recovered.frontier.size, root: rootHex(recovered.frontier) };
    this.torn = recovered.torn;
    this.failed = new Promise((resolve) => {
      this.#fail = resolve;
    });
  }

  /** Opens the log of a directory, or begins one. Throws DamagedLog when it is not what was written. */
  static async open(options: JournalOptions): Promise<Journal> {
    const { directory, files = systemFiles, head: headPath = join(dirname(directory), "head") } = options;
    await files.makeDirectory(directory);
    // It may be there since a start that did not live to sync it; so may the segments, below.
    await files.syncDirectory(dirname(directory));
    const ordinals = await listSegments(files, directory);
    const head = await openHead(files, headPath, ordinals.length);
    const segments: Segment[] = [];
    try {
      const recovered = await recover(files, directory, ordinals, head.head, segments);
      await files.syncDirectory(directory);
      const journal = new Journal(options, files, head, segments, recovered);
      // Always, and before there is a segment: what was read of the head may have been in the cache alone.
      await head.write(journal.#durable);
      if (segments.length === 0) await journal.#begin();
      return journal;
    } catch (error) {
      await closeAll([head, ...segments.map(({ file }) => file)]);
      throw error;
    }
  }

  size(): number {
    return this.#durable.size;
  }

  head(): Head {
    return this.#durable;
  }

  async append(batch: Batch): Promise<void> {
    if (this.#poison !== undefined) throw this.#poison;
    this.#appending = this.#append(batch);
    try {
      await this.#appending;
    } catch (error) {
      throw this.#poisoned(error);
    }
  }

  async read(from: number, limit: number): Promise<Page> {
    const page: Page = { entries: [], texts: [] };
    const end = Math.min(from + limit, this.size());
    for (const segment of this.#segments) {
      const reached = from + page.entries.length;
      if (reached >= end) break;
      const start = reached < segment.first + segment.count ? segment.index.before(reached) : undefined;
      if (start === undefined) continue;
      const { broken } = await readBatches(segment.file, start.offset, start.first, (batch) => {
        const { first, size } = batch.line;
        if (size <= from) return true;
        for (const entry of batch.entries.slice(Math.max(0, from - first), end - first))
          page.entries.push(Buffer.from(entry.buffer, entry.byteOffset, entry.length).toString("utf8"));
        for (const text of batch.texts) if (text.index >= from && text.index < end) page.texts.push(text);
        return size < end;
      });
      const missing = from + page.entries.length;
      if (missing < Math.min(end, segment.first + segment.count))
        throw new DamagedLog(missing, broken ?? "its segment ends before it");
    }
    return page;
  }

  async redact(place: TextPlace): Promise<void> {
    if (this.#poison !== undefined) throw this.#poison;
    if (this.#closing) throw new Error("the journal is closed");
    const erasing = this.#erasing.then(() => this.#erase(place));
    this.#erasing = erasing.catch((error: unknown) => void this.#poisoned(error));
    await erasing;
  }

  /** Writes the head, and rejects if that fails; all files are closed either way. */
  async close(): Promise<void> {
    this.#closing = true;
    await Promise.allSettled([this.#appending, this.#erasing]);
    this.#headTimer?.[Symbol.dispose]();
    this.#headTimer = undefined;
    try {
      await this.#headWrite;
      await this.#writeHead();
      this.#poison ??= new Error("the journal is closed");
    } catch (error) {
      throw this.#poisoned(error);
    } finally {
      await closeAll([this.#head, ...this.#segments.map(({ file }) => file)]);
    }
  }

  async #append({ first, entries, texts }: Batch): Promise<void> {
    if (first !== this.size())
      throw new Error(`the log ends at ${this.size()}, not at ${first}: another writer was here`);
    if (entries.length === 0) return;
    // What could not be read back would be found at the next start, when it is too late.
    const strange = entries.findIndex((entry) => !entry.startsWith(ENTRY_START) || entry.includes("\n"));
    if (strange !== -1) throw new Error(`entry ${first + strange} is not a line of the log`);
    const stray = texts.find(({ index }) => index < first || index >= first + entries.length);
    if (stray !== undefined)
      throw new Error(`a text of entry ${stray.index} cannot stand in a batch that begins at ${first}`);
    if ((await this.#last().file.size()) !== this.#last().bytes)
      throw new Error("the journal has another size than was written: another writer was here");
    if (this.#last().bytes >= this.#segmentBytes) await this.#seal();

    const segment = this.#last();
    for (const entry of entries) {
      const hash = leafHash(entry);
      this.#frontier.append(hash);
      this.#leaves.push(hash);
    }
    const lines = `${entries.join("\n")}\n`;
    const opened = texts.map((text) => `${textLine(text)}\n`).join("");
    const bytes = Buffer.byteLength(lines) + Buffer.byteLength(opened);
    const after = { size: first + entries.length, root: rootHex(this.#frontier) };
    const line = batchLine({ first, count: entries.length, bytes, ...after }, crc32(lines));
    const data = Buffer.from(`${lines}${opened}${line}\n`);
    // The head may have failed meanwhile.
    if (this.#poison !== undefined) throw this.#poison;
    await segment.file.write(data, segment.bytes);
    await segment.file.sync();
    segment.index.add(first, segment.bytes);
    segment.bytes += data.length;
    segment.count += entries.length;
    this.#durable = after;
    this.#headTimer ??= this.#later(HEAD_MS, () => this.#headDue());
  }

  async #erase(place: TextPlace): Promise<void> {
    const segment = this.#segments.findLast(({ first }) => first <= place.index);
    const start = segment?.index.before(place.index);
    if (segment === undefined || start === undefined) return;
    const found: { offset: number; bytes: number }[] = [];
    const { broken } = await readBatches(segment.file, start.offset, start.first, (batch) => {
      if (batch.line.size <= place.index) return true;
      // What is blank already may be so in the cache alone, since a sync that failed.
      for (const line of batch.textLines())
        if (line.text === undefined || opensCommitment(line.text, place)) found.push(line);
      return false;
    });
    if (broken !== undefined) throw new DamagedLog(place.index, broken);
    // Who reads a log reads it up to the head, and has to find there why a text is gone.
    await this.#writeNextHead();
    // The same bytes for the batch, whose crc32 is over its entries alone.
    for (const { offset, bytes } of found) {
      if (this.#poison !== undefined) throw this.#poison;
      await segment.file.write(Buffer.alloc(bytes, BLANK), offset);
    }
    if (found.length > 0) await segment.file.sync();
  }

  #last(): Segment {
    const last = this.#segments.at(-1);
    if (last === undefined) throw new Error("a journal has at least one segment");
    return last;
  }

  async #seal(): Promise<void> {
    const { first, count, ordinal } = this.#last();
    const path = hashesPath(this.#directory, ordinal);
    await writeHashes(this.#files, path, first, count, this.#frontier.toJSON().hashes, this.#leaves);
    await this.#begin();
  }

  async #begin(): Promise<void> {
    const ordinal = this.#segments.length;
    const file = await this.#files.open(segmentPath(this.#directory, ordinal), "create");
    this.#segments.push({ ordinal, file, first: this.size(), count: 0, bytes: 0, index: new SparseIndex() });
    await this.#files.syncDirectory(this.#directory);
    this.#leaves = new LeafHashes();
  }

  #headDue(): void {
    this.#headTimer = undefined;
    void this.#writeNextHead();
  }

  // One write after the other, however slow the disk: the slot that is not being written has to be whole.
  #writeNextHead(): Promise<void> {
    this.#headWrite = this.#headWrite
      .then(() => this.#writeHead())
      .catch((error: unknown) => void this.#poisoned(error));
    return this.#headWrite;
  }

  async #writeHead(): Promise<void> {
    if (this.#durable.size !== this.#head.head.size && this.#poison === undefined)
      await this.#head.write(this.#durable);
  }

  #poisoned(error: unknown): Error {
    this.#poison ??= error instanceof Error ? error : new Error(String(error));
    this.#headTimer?.[Symbol.dispose]();
    this.#headTimer = undefined;
    this.#fail(this.#poison);
    return this.#poison;
  }
}

async function openHead(files: Files, path: string, segments: number): Promise<HeadFile> {
  if (await files.exists(path)) {
    const head = await HeadFile.open(files, path);
    if (head !== undefined) return head;
  }
  // The head is whole before there is a segment, so that only a first start that was cut short gets past this.
  if (segments > 0) throw new DamagedLog(0, `the head file ${path} is missing, or neither of its slots can be read`);
  await files.makeDirectory(dirname(path));
  return HeadFile.create(files, path, { size: 0, root: rootHex(new Frontier()) });
}

async function closeAll(files: readonly { close(): Promise<void> }[]): Promise<void> {
  await Promise.allSettled(files.map((file) => file.close()));
}

function systemTimer(ms: number, fn: () => void): Disposable {
  const timer = setTimeout(fn, ms);
  return { [Symbol.dispose]: () => clearTimeout(timer) };
}
