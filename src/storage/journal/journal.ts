import { dirname, join } from "node:path";
import { crc32 } from "node:zlib";
import { Frontier, leafHash } from "../../tlog/index.js";
import type { Batch, EventStore, Page, TornTail } from "../event-store.js";
import { readBatches } from "./batches.js";
import { DamagedLog } from "./damage.js";
import { systemFiles, type Files } from "./files.js";
import { HeadFile, type Head } from "./head.js";
import { LeafHashes } from "./leaf-hashes.js";
import { batchLine, textLine } from "./lines.js";
import { recover, type Segment } from "./recover.js";
import { countSegments, hashesPath, rootHex, segmentPath, writeHashes } from "./segments.js";
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
  #poison: Error | undefined;
  #fail: (error: unknown) => void = () => {};

  private constructor(
    options: JournalOptions,
    files: Files,
    head: HeadFile,
    recovered: Awaited<ReturnType<typeof recover>>,
  ) {
    this.#files = files;
    this.#directory = options.directory;
    this.#segmentBytes = options.segmentBytes ?? SEGMENT_BYTES;
    this.#later = options.later ?? systemTimer;
    this.#head = head;
    this.#segments = recovered.segments;
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
    const count = await countSegments(files, directory);
    const head = await openHead(files, headPath, count);
    const recovered = await recover(files, directory, count, head.head);
    const journal = new Journal(options, files, head, recovered);
    if (count === 0) await journal.#begin();
    await journal.#writeHead();
    return journal;
  }

  size(): number {
    return this.#durable.size;
  }

  /** Root of the tree over all durable entries, lower-case hex. */
  root(): string {
    return this.#durable.root;
  }

  async append(batch: Batch): Promise<void> {
    if (this.#poison !== undefined) throw this.#poison;
    try {
      await this.#append(batch);
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
      const { broken } = await readBatches(segment.file, start.offset, start.first, ({ entries, texts, line }) => {
        entries.forEach((entry, at) => {
          const index = line.first + at;
          if (index >= from && index < end) page.entries.push(Buffer.from(entry).toString("utf8"));
        });
        page.texts.push(...texts.filter(({ index }) => index >= from && index < end));
        return line.size < end;
      });
      if (broken !== undefined && from + page.entries.length < Math.min(end, segment.first + segment.count)) {
        throw new DamagedLog(from + page.entries.length, broken);
      }
    }
    return page;
  }

  async close(): Promise<void> {
    this.#headTimer?.[Symbol.dispose]();
    await this.#headWrite;
    await this.#writeHead();
    await this.#head.close();
    for (const { file } of this.#segments) await file.close();
  }

  async #append({ first, entries, texts }: Batch): Promise<void> {
    if (first !== this.size())
      throw new Error(`the log ends at ${this.size()}, not at ${first}: another writer was here`);
    if (entries.length === 0) return;
    if (this.#last().bytes >= this.#segmentBytes) await this.#seal();
    const segment = this.#last();
    if ((await segment.file.size()) !== segment.bytes) throw new Error("the journal has another size than was written");

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
    await segment.file.write(data, segment.bytes);
    await segment.file.sync();
    segment.index.add(first, segment.bytes);
    segment.bytes += data.length;
    segment.count += entries.length;
    this.#durable = after;
    this.#headTimer ??= this.#later(HEAD_MS, () => this.#headDue());
  }

  #last(): Segment {
    const last = this.#segments.at(-1);
    if (last === undefined) throw new Error("a journal has at least one segment");
    return last;
  }

  async #seal(): Promise<void> {
    const { first, count, ordinal } = this.#last();
    const path = hashesPath(this.#directory, ordinal);
    await writeHashes(this.#files, path, first, count, this.#frontier, this.#leaves);
    await this.#begin();
  }

  async #begin(): Promise<void> {
    const ordinal = this.#segments.length;
    const file = await this.#files.open(segmentPath(this.#directory, ordinal), true);
    await this.#files.syncDirectory(this.#directory);
    this.#segments.push({ ordinal, file, first: this.size(), count: 0, bytes: 0, index: new SparseIndex() });
    this.#leaves = new LeafHashes();
  }

  #headDue(): void {
    this.#headTimer = undefined;
    this.#headWrite = this.#writeHead().catch((error: unknown) => void this.#poisoned(error));
  }

  async #writeHead(): Promise<void> {
    if (this.#durable.size !== this.#head.head.size && this.#poison === undefined)
      await this.#head.write(this.#durable);
  }

  #poisoned(error: unknown): Error {
    this.#poison ??= error instanceof Error ? error : new Error(String(error));
    this.#headTimer?.[Symbol.dispose]();
    this.#fail(this.#poison);
    return this.#poison;
  }
}

async function openHead(files: Files, path: string, segments: number): Promise<HeadFile> {
  const directory = dirname(path);
  const empty = { size: 0, root: rootHex(new Frontier()) };
  if (!(await files.exists(path))) {
    if (segments > 0) throw new DamagedLog(0, `the head file ${path} is missing`);
    await files.makeDirectory(directory);
    return HeadFile.create(files, path, directory, empty);
  }
  try {
    return await HeadFile.open(files, path);
  } catch (error) {
    // A first start that was cut short before the head was whole has written nothing else yet.
    if (segments > 0) throw new DamagedLog(0, error instanceof Error ? error.message : "the head cannot be read");
    await files.remove(path);
    return HeadFile.create(files, path, directory, empty);
  }
}

function systemTimer(ms: number, fn: () => void): Disposable {
  const timer = setTimeout(fn, ms);
  return { [Symbol.dispose]: () => clearTimeout(timer) };
}
