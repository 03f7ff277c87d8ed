import { crc32 } from "node:zlib";
import type { TextLine } from "../../kernel/index.js";

/** The last line of a batch: what came before it, and where the log stands after it. */
export interface BatchLine {
  /** Index of the batch's first entry. */
  first: number;
  /** Entries in the batch. */
  count: number;
  /** Bytes of the batch's entry and text lines, newlines included. */
  bytes: number;
  /** Entries in the log after this batch, and the root of the tree over them (lower-case hex). */
  size: number;
  root: string;
}

/**
 * The last line of a batch. Its crc32 goes over the entry lines (`entriesCrc`, newlines included) and then over what
 * the line itself says; a text line has a crc32 of its own, since it may be blanked.
 */
export function batchLine({ first, count, bytes, size, root }: BatchLine, entriesCrc: number): string {
  const body = JSON.stringify({ first, count, bytes, size, root });
  return `{"batch":${body.slice(0, -1)},"crc32":${crc32(body, entriesCrc)}}}`;
}

export function textLine({ index, field, salt, utf8 }: TextLine): string {
  const body = JSON.stringify({ index, field, salt, utf8 });
  return `{"text":${body.slice(0, -1)},"crc32":${crc32(body)}}}`;
}

/** What a line of a segment is, by its first bytes. An entry's keys are sorted, so that it begins with its time. */
export type LineKind = "entry" | "text" | "blank" | "batch" | "unknown";

/** How an entry line begins. */
export const ENTRY_START = '{"at":';

const TEXT_START = Buffer.from('{"text":');
/** How a text line ends, but for the number. */
const TEXT_END = ',"crc32":}}';
const CRC_DIGITS = 10;

const STARTS: readonly (readonly [LineKind, Uint8Array])[] = [
  ["entry", Buffer.from(ENTRY_START)],
  ["text", TEXT_START],
  ["batch", Buffer.from('{"batch":')],
];

/** The kind of the line from `start` to before `end`, where its newline stands. */
export function kindOf(bytes: Uint8Array, start: number, end: number): LineKind {
  for (const [kind, begin] of STARTS) if (startsWith(bytes, start, end, begin)) return kind;
  return end > start && bytes.subarray(start, end).every((byte) => byte === BLANK) ? "blank" : "unknown";
}

/** What a redacted text line is overwritten with. */
export const BLANK = 0x20;

/** What a disk writes whole. */
const SECTOR_BYTES = 512;

/**
 * Whether the line at `start`, which is byte `offset` of its segment, is a text of which an erasure that was cut short has
 * blanked some sectors; asked of a line that is no whole text.
 */
export function isHalfErased(bytes: Buffer, start: number, end: number, offset: number): boolean {
  // Of a line that begins just before a sector ends no more may be left than the first bytes.
  const first = Math.min(TEXT_START.length, SECTOR_BYTES - (offset % SECTOR_BYTES));
  if (bytes[start] !== BLANK && !startsWith(bytes, start, end, TEXT_START.subarray(0, first))) return false;
  if (holdsAnother(bytes.subarray(start, end))) return false;
  for (let at = start; at < end;) {
    const next = Math.min(end, at + SECTOR_BYTES - ((offset + at - start) % SECTOR_BYTES));
    if (bytes.subarray(at, next).every((byte) => byte === BLANK)) return true;
    at = next;
  }
  return false;
}

/** Whether two text lines stand in one, for the newline between them has rotted; within a text quotes are escaped. */
function holdsAnother(line: Buffer): boolean {
  const end = line.indexOf(TEXT_END.slice(0, -2));
  return line.indexOf(TEXT_START, 1) !== -1 || (end !== -1 && line.length - end > TEXT_END.length + CRC_DIGITS);
}

/** The text of a line whose bytes are exactly what `textLine` writes; undefined for any other. */
export function parseText(line: Buffer): TextLine | undefined {
  const text = parse<{ text?: TextLine | null }>(line)?.text;
  if (text === undefined || text === null) return undefined;
  const { index, field, salt, utf8 } = text;
  return sameBytes(line, textLine(text)) ? { index, field, salt, utf8 } : undefined;
}

const NUMBER = "(0|[1-9]\\d{0,15})";
const BATCH_LINE = new RegExp(
  `^{"batch":({"first":${NUMBER},"count":${NUMBER},"bytes":${NUMBER},"size":${NUMBER},"root":"([0-9a-f]{64})"),"crc32":${NUMBER}}}$`,
);

/** The batch line whose bytes (given as latin1) are exactly what `batchLine` writes for these entries; or undefined. */
export function parseBatch(line: string, entriesCrc: number): BatchLine | undefined {
  const batch = claimedBatch(line);
  return batch !== undefined && batch.crc32 === crc32(`${batch.body}}`, entriesCrc) ? batch.says : undefined;
}

/** What a batch line says, whether it is true or not. */
export function claimedBatch(line: string): { says: BatchLine; body: string; crc32: number } | undefined {
  const found = BATCH_LINE.exec(line);
  if (found === null) return undefined;
  const [, body = "", first, count, bytes, size, root = "", crc] = found;
  const says = { first: Number(first), count: Number(count), bytes: Number(bytes), size: Number(size), root };
  return { says, body, crc32: Number(crc) };
}

function parse<T>(line: Buffer): T | undefined {
  try {
    return JSON.parse(line.toString("utf8")) as T;
  } catch {
    return undefined;
  }
}

function sameBytes(line: Buffer, text: string): boolean {
  return Buffer.from(text).equals(line);
}

function startsWith(bytes: Uint8Array, start: number, end: number, begin: Uint8Array): boolean {
  if (end - start < begin.length) return false;
  for (let at = 0; at < begin.length; at += 1) if (bytes[start + at] !== begin[at]) return false;
  return true;
}
