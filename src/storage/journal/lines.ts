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

const STARTS: readonly (readonly [LineKind, Uint8Array])[] = [
  ["entry", Buffer.from('{"at":')],
  ["text", Buffer.from('{"text":')],
  ["batch", Buffer.from('{"batch":')],
];

export function kindOf(line: Uint8Array): LineKind {
  for (const [kind, start] of STARTS) if (startsWith(line, start)) return kind;
  return line.length > 0 && line.every((byte) => byte === BLANK) ? "blank" : "unknown";
}

/** What a redacted text line is overwritten with. */
export const BLANK = 0x20;

/** The text of a line whose bytes are exactly what `textLine` writes; undefined for any other. */
export function parseText(line: Uint8Array): TextLine | undefined {
  const parsed = parse<{ text: TextLine }>(line);
  if (parsed?.text === undefined) return undefined;
  const { index, field, salt, utf8 } = parsed.text;
  return sameBytes(line, textLine(parsed.text)) ? { index, field, salt, utf8 } : undefined;
}

/** The batch line whose bytes are exactly what `batchLine` writes for these entries; undefined for any other. */
export function parseBatch(line: Uint8Array, entriesCrc: number): BatchLine | undefined {
  const parsed = parse<{ batch: BatchLine }>(line);
  if (parsed?.batch === undefined) return undefined;
  return sameBytes(line, batchLine(parsed.batch, entriesCrc)) ? parsed.batch : undefined;
}

function parse<T>(line: Uint8Array): T | undefined {
  try {
    return JSON.parse(Buffer.from(line.buffer, line.byteOffset, line.length).toString("utf8")) as T;
  } catch {
    return undefined;
  }
}

function sameBytes(line: Uint8Array, text: string): boolean {
  return Buffer.from(text).equals(line);
}

function startsWith(line: Uint8Array, start: Uint8Array): boolean {
  if (line.length < start.length) return false;
  for (let at = 0; at < start.length; at += 1) if (line[at] !== start[at]) return false;
  return true;
}
