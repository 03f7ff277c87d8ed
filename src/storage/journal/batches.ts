import { crc32 } from "node:zlib";
import type { TextLine } from "../../kernel/index.js";
import type { File } from "./files.js";
import { kindOf, parseBatch, parseText, type BatchLine } from "./lines.js";

/** A batch that checks: its lines agree with its last one in every byte. */
export interface StoredBatch {
  /** Where it begins and ends in the segment, in bytes. */
  offset: number;
  end: number;
  /** Entry lines without their newlines; valid until the callback returns. */
  entries: readonly Uint8Array[];
  texts: readonly TextLine[];
  line: BatchLine;
}

/** How a segment ended: at its end, where the caller stopped, or at `offset` with something that does not check. */
export interface SegmentEnd {
  offset: number;
  broken?: string;
}

const CHUNK_BYTES = 1_048_576;
const NEWLINE = 0x0a;

/**
 * Reads a segment batch by batch from `from` (a batch's start) on, of which the first entry has index `first`. Stops at
 * the end, at the first batch that does not check, or when `take` says false.
 */
export async function readBatches(
  file: File,
  from: number,
  first: number,
  take: (batch: StoredBatch) => boolean | void,
): Promise<SegmentEnd> {
  const building = new BatchBuilder(from, first);
  let rest: Uint8Array = new Uint8Array();
  for (let position = from; ;) {
    const chunk = await file.read(CHUNK_BYTES, position);
    if (chunk.length === 0) break;
    position += chunk.length;
    const bytes = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
    let start = 0;
    for (let end = bytes.indexOf(NEWLINE); end !== -1; end = bytes.indexOf(NEWLINE, start)) {
      const done = building.line(bytes.subarray(start, end), bytes.subarray(start, end + 1));
      start = end + 1;
      if (done === undefined) continue;
      if (typeof done === "string") return { offset: building.offset, broken: done };
      if (take(done) === false) return { offset: done.end };
    }
    // Lines of a batch that goes on are kept by the builder, so the chunk may not be reused under it.
    rest = bytes.subarray(start);
  }
  if (rest.length > 0 || building.begun) return { offset: building.offset, broken: "the last batch is incomplete" };
  return { offset: building.offset };
}

/** Gathers the lines of one batch after the other and holds them against the batch line. */
class BatchBuilder {
  /** Where the batch that is being gathered begins. */
  offset: number;
  #first: number;
  #entries: Uint8Array[] = [];
  #texts: TextLine[] = [];
  #textsBegun = false;
  #bytes = 0;
  #crc = 0;

  constructor(offset: number, first: number) {
    this.offset = offset;
    this.#first = first;
  }

  get begun(): boolean {
    return this.#bytes > 0;
  }

  /** Takes a line, with and without its newline: a finished batch, what is wrong with it, or nothing yet. */
  line(line: Uint8Array, whole: Uint8Array): StoredBatch | string | undefined {
    const kind = kindOf(line);
    if (kind === "batch") return this.#finish(line, whole.length);
    if (kind === "entry") {
      if (this.#textsBegun) return `entry ${this.#first + this.#entries.length} stands behind the texts of its batch`;
      this.#entries.push(line);
      this.#crc = crc32(whole, this.#crc);
    } else {
      const text = kind === "text" ? parseText(line) : undefined;
      if (kind !== "blank" && text === undefined) return "a line is neither entry, text nor batch";
      if (text !== undefined) this.#texts.push(text);
      this.#textsBegun = true;
    }
    this.#bytes += whole.length;
    return undefined;
  }

  #finish(line: Uint8Array, length: number): StoredBatch | string {
    const batch = parseBatch(line, this.#crc);
    if (batch === undefined) return "the batch line does not check";
    const count = this.#entries.length;
    const wrong =
      batch.first !== this.#first ||
      batch.count !== count ||
      count === 0 ||
      batch.size !== batch.first + count ||
      batch.bytes !== this.#bytes;
    if (wrong) return "the lines of the batch are not those that its last line tells of";
    const end = this.offset + this.#bytes + length;
    const stored: StoredBatch = { offset: this.offset, end, entries: this.#entries, texts: this.#texts, line: batch };
    this.offset = end;
    this.#first = batch.size;
    this.#entries = [];
    this.#texts = [];
    this.#textsBegun = false;
    this.#bytes = 0;
    this.#crc = 0;
    return stored;
  }
}
