import { crc32 } from "node:zlib";
import type { TextLine } from "../../kernel/index.js";
import type { File } from "./files.js";
import { claimedBatch, isHalfErased, kindOf, parseBatch, parseText, type BatchLine } from "./lines.js";

/** A batch that checks: its lines agree with its last one in every byte. */
export class StoredBatch {
  /** Where it begins and ends in the segment, in bytes. */
  readonly offset: number;
  readonly end: number;
  readonly texts: readonly TextLine[];
  readonly line: BatchLine;
  readonly #bytes: Buffer;
  readonly #start: number;
  readonly #ends: readonly number[];

  /** `bytes` begin at `base` in the segment; in them, the batch begins at `start` and its entry lines end at `ends`. */
  constructor(
    bytes: Buffer,
    start: number,
    ends: readonly number[],
    base: number,
    end: number,
    texts: readonly TextLine[],
    line: BatchLine,
  ) {
    this.#bytes = bytes;
    this.#start = start;
    this.#ends = ends;
    this.offset = base + start;
    this.end = end;
    this.texts = texts;
    this.line = line;
  }

  /**
   * The text lines, each with where it stands in the segment, in bytes; of one that is erased, or half so, there is no text.
   * Valid until the callback returns.
   */
  *textLines(): Iterable<{ text: TextLine | undefined; offset: number; bytes: number }> {
    const last = this.#ends.at(-1) ?? this.#start;
    const shift = this.offset - this.#start;
    for (let at = last + 1; at + shift < this.end;) {
      const newline = this.#bytes.indexOf(NEWLINE, at);
      const text =
        kindOf(this.#bytes, at, newline) === "text" ? parseText(this.#bytes.subarray(at, newline)) : undefined;
      if (text !== undefined || isHalfErased(this.#bytes, at, newline, at + shift))
        yield { text, offset: at + shift, bytes: newline - at };
      at = newline + 1;
    }
  }

  /** Entry lines without their newlines, made when asked for; valid until the callback returns. */
  get entries(): Buffer[] {
    return this.#ends.map((end, at) =>
      this.#bytes.subarray(at === 0 ? this.#start : (this.#ends[at - 1] ?? 0) + 1, end),
    );
  }
}

/** How a segment ended: at its end, where the caller stopped, or at `offset` with something that does not check. */
export interface SegmentEnd {
  offset: number;
  broken?: string;
}

export const CHUNK_BYTES = 262_144;
const NEWLINE = 0x0a;

/**
 * Reads a segment batch by batch from `from` (a batch's start) on, of which the first entry has index `first`. Stops at
 * the end, at the first batch that does not check, or when `take` says false. Holds one chunk, or one batch if larger.
 */
export async function readBatches(
  file: File,
  from: number,
  first: number,
  take: (batch: StoredBatch) => boolean | void,
): Promise<SegmentEnd> {
  // One byte more than there is, so that the end is seen with the last chunk.
  let window = Buffer.allocUnsafe(Math.min(CHUNK_BYTES, Math.max(0, (await file.size()) - from) + 1));
  let held = 0;
  let next = first;
  for (let base = from; ;) {
    const read = await file.read(window.subarray(held), base + held);
    held += read;
    const bytes = window.subarray(0, held);
    let start = 0;
    while (start < held) {
      const batch = batchAt(bytes, start, next, base);
      if (batch === undefined) break;
      if (typeof batch === "string") return { offset: base + start, broken: batch };
      if (take(batch) === false) return { offset: batch.end };
      start = batch.end - base;
      next = batch.line.size;
    }
    base += start;
    if (held < window.length) return held === start ? { offset: base } : { offset: base, broken: INCOMPLETE };
    window.copyWithin(0, start, held);
    held -= start;
    if (held === window.length) window = Buffer.concat([window], window.length * 2);
  }
}

const INCOMPLETE = "the last batch is incomplete";

/**
 * Whether a batch that checks by itself stands anywhere in `tail`, which begins with a line. Batches are written one
 * after the other, each when the one before it is durable: behind a write that was torn there is none.
 */
export function holdsBatch(tail: Buffer): boolean {
  for (let start = 0; start < tail.length;) {
    const newline = tail.indexOf(NEWLINE, start);
    if (newline === -1) return false;
    const claimed =
      kindOf(tail, start, newline) === "batch"
        ? claimedBatch(tail.toString("latin1", start, newline))?.says
        : undefined;
    const begin = start - Number(claimed?.bytes);
    if (claimed !== undefined && begin >= 0 && typeof batchAt(tail, begin, claimed.first, 0) === "object") return true;
    start = newline + 1;
  }
  return false;
}

/** The batch that begins at `start`: itself, or what is wrong with it, or nothing where it goes on behind `bytes`. */
function batchAt(bytes: Buffer, start: number, first: number, base: number): StoredBatch | string | undefined {
  const ends: number[] = [];
  const texts: TextLine[] = [];
  let entriesEnd = start;
  for (let at = start; ;) {
    const newline = bytes.indexOf(NEWLINE, at);
    if (newline === -1) return undefined;
    const kind = kindOf(bytes, at, newline);
    if (kind === "entry") {
      if (entriesEnd !== at) return `entry ${first + ends.length} stands behind the texts of its batch`;
      ends.push(newline);
      entriesEnd = newline + 1;
    } else if (kind === "batch") {
      const line = parseBatch(bytes.toString("latin1", at, newline), crc32(bytes.subarray(start, entriesEnd)));
      if (line === undefined) return "the batch line does not check";
      const end = first + ends.length;
      if (
        line.first !== first ||
        line.size !== end ||
        line.count !== ends.length ||
        ends.length === 0 ||
        line.bytes !== at - start
      )
        return "the lines of the batch are not those that its last line tells of";
      if (texts.some(({ index }) => index < first || index >= end)) return "a text is of no entry of its batch";
      return new StoredBatch(bytes, start, ends, base, base + newline + 1, texts, line);
    } else if (kind !== "blank") {
      const text = kind === "text" ? parseText(bytes.subarray(at, newline)) : undefined;
      if (text !== undefined) texts.push(text);
      else if (!isHalfErased(bytes, at, newline, base + at)) return "a line is neither entry, text nor batch";
    }
    at = newline + 1;
  }
}
