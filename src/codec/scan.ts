import type { Fault } from "./codec.js";
import { MAX_KEY_BYTES } from "./limits.js";

/** Verdict of a strict scan: a decoder sees only bytes for which `ok` is true. */
export type Scanned = { ok: true; fault?: Fault } | { ok: false };

/** Where a scanner stands. Its readers start at the first byte of their construct and leave `at` behind the last. */
export interface Cursor {
  readonly bytes: Uint8Array;
  at: number;
  nodes: number;
  /** The first fault; `path` gains its steps innermost first, as the containers round it end. */
  detail: Fault["detail"] | undefined;
  readonly path: (string | number)[];
}

export function startOf(bytes: Uint8Array): Cursor {
  return { bytes, at: 0, nodes: 0, detail: undefined, path: [] };
}

/** The verdict on a message that was read to its end and is not broken. */
export function verdictOf({ detail, path }: Cursor): Scanned {
  return detail === undefined ? { ok: true } : { ok: true, fault: { detail, path: path.toReversed() } };
}

/** The byte at `at`; 0 outside the message, which no rule that reads text accepts. */
export function byteAt(bytes: Uint8Array, at: number): number {
  return at < bytes.length ? (bytes[at] as number) : 0;
}

const isContinuation = (byte: number): boolean => (byte & 0xc0) === 0x80;

/**
 * End of the multi-byte UTF-8 sequence at `at`; -1 when there is none that RFC 3629 section 4 allows:
 * no overlong form, no encoded surrogate, nothing above U+10FFFF, not cut short.
 */
export function sequenceEnd(bytes: Uint8Array, at: number): number {
  const lead = byteAt(bytes, at);
  const second = byteAt(bytes, at + 1);
  if (lead < 0xc2 || lead > 0xf4 || !isContinuation(second)) return -1;
  if (lead < 0xe0) return at + 2;
  if (!isContinuation(byteAt(bytes, at + 2))) return -1;
  if (lead < 0xf0) {
    if (lead === 0xe0 && second < 0xa0) return -1;
    if (lead === 0xed && second > 0x9f) return -1;
    return at + 3;
  }
  if (lead === 0xf0 && second < 0x90) return -1;
  if (lead === 0xf4 && second > 0x8f) return -1;
  return isContinuation(byteAt(bytes, at + 3)) ? at + 4 : -1;
}

/** End of the key `[a-z][a-z0-9_]{0,31}` at `start`, at `limit` or the first byte that cannot belong to it; -1 when no key starts there or it is too long. */
export function keyEnd(bytes: Uint8Array, start: number, limit = bytes.length): number {
  let at = start;
  for (;;) {
    const byte = at < limit ? (bytes[at] as number) : 0;
    const letter = byte >= 0x61 && byte <= 0x7a;
    const tail = (byte >= 0x30 && byte <= 0x39) || byte === 0x5f;
    if (!letter && (!tail || at === start)) break;
    at += 1;
    if (at - start > MAX_KEY_BYTES) return -1;
  }
  return at === start ? -1 : at;
}

/** A well-formed key as a string. */
export function keyText(bytes: Uint8Array, start: number, end: number): string {
  return String.fromCharCode(...bytes.subarray(start, end));
}

/** Above this many keys, an object's keys move from pairwise comparison to a set: comparing stays linear in the message. */
const MAX_COMPARED_KEYS = 16;

/** The keys of one object so far. */
export interface SeenKeys {
  /** Start and end of each compared key, flat. */
  readonly spans: number[];
  names: Set<string> | undefined;
}

export function noKeys(): SeenKeys {
  return { spans: [], names: undefined };
}

function sameBytes(bytes: Uint8Array, a: number, b: number, length: number): boolean {
  for (let i = 0; i < length; i += 1) {
    if (bytes[a + i] !== bytes[b + i]) return false;
  }
  return true;
}

/** Adds the well-formed key between `start` and `end`; false when the object has it already. */
export function addKey(seen: SeenKeys, bytes: Uint8Array, start: number, end: number): boolean {
  const { spans } = seen;
  if (seen.names === undefined) {
    for (let i = 0; i < spans.length; i += 2) {
      const other = spans[i] as number;
      const length = (spans[i + 1] as number) - other;
      if (length === end - start && sameBytes(bytes, other, start, length)) return false;
    }
    spans.push(start, end);
    if (spans.length >= 2 * MAX_COMPARED_KEYS) seen.names = namesOf(bytes, spans);
    return true;
  }
  const { size } = seen.names;
  return seen.names.add(keyText(bytes, start, end)).size > size;
}

function namesOf(bytes: Uint8Array, spans: readonly number[]): Set<string> {
  const names = new Set<string>();
  for (let i = 0; i < spans.length; i += 2) {
    names.add(keyText(bytes, spans[i] as number, spans[i + 1] as number));
  }
  return names;
}
