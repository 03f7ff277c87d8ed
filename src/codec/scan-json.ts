import { MAX_DEPTH, MAX_NODES } from "./limits.js";
import {
  addKey,
  byteAt,
  keyEnd,
  keyText,
  noKeys,
  sequenceEnd,
  startOf,
  verdictOf,
  type Cursor,
  type Scanned,
} from "./scan.js";

const QUOTE = 0x22;
const COMMA = 0x2c;
const MINUS = 0x2d;
const POINT = 0x2e;
const ZERO = 0x30;
const COLON = 0x3a;
const OPEN_BRACKET = 0x5b;
const BACKSLASH = 0x5c;
const CLOSE_BRACKET = 0x5d;
const LOWER_F = 0x66;
const LOWER_N = 0x6e;
const LOWER_T = 0x74;
const LOWER_U = 0x75;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;

/**
 * Whether the bytes are one JSON object (RFC 8259, no BOM) of the codec profile: valid UTF-8, keys written raw
 * as `[a-z][a-z0-9_]{0,31}` and once an object, at most MAX_DEPTH containers deep, at most MAX_NODES values.
 * For what is `ok`, JSON.parse of the same text does not throw and drops nothing.
 */
export function scanJson(bytes: Uint8Array): Scanned {
  const cursor = startOf(bytes);
  skipSpace(cursor);
  if (byteAt(bytes, cursor.at) !== OPEN_BRACE || !readValue(cursor, 0)) return { ok: false };
  skipSpace(cursor);
  if (cursor.at !== bytes.length) return { ok: false };
  return verdictOf(cursor);
}

// Each reader returns false when the message is broken.

function skipSpace(cursor: Cursor): void {
  for (;;) {
    const byte = byteAt(cursor.bytes, cursor.at);
    if (byte !== 0x20 && byte !== 0x0a && byte !== 0x0d && byte !== 0x09) return;
    cursor.at += 1;
  }
}

function readValue(cursor: Cursor, depth: number): boolean {
  cursor.nodes += 1;
  if (cursor.nodes > MAX_NODES) return false;
  switch (byteAt(cursor.bytes, cursor.at)) {
    case QUOTE:
      return readString(cursor);
    case OPEN_BRACE:
      return depth < MAX_DEPTH && readObject(cursor, depth + 1);
    case OPEN_BRACKET:
      return depth < MAX_DEPTH && readArray(cursor, depth + 1);
    case LOWER_T:
      return readWord(cursor, "true");
    case LOWER_F:
      return readWord(cursor, "false");
    case LOWER_N:
      return readWord(cursor, "null");
    default:
      return readNumber(cursor);
  }
}

function readObject(cursor: Cursor, depth: number): boolean {
  const { bytes } = cursor;
  cursor.at += 1;
  skipSpace(cursor);
  if (byteAt(bytes, cursor.at) === CLOSE_BRACE) {
    cursor.at += 1;
    return true;
  }
  const seen = noKeys();
  for (;;) {
    if (byteAt(bytes, cursor.at) !== QUOTE) return false;
    const start = cursor.at + 1;
    const end = keyEnd(bytes, start);
    if (end < 0 || byteAt(bytes, end) !== QUOTE || !addKey(seen, bytes, start, end)) return false;
    cursor.at = end + 1;
    skipSpace(cursor);
    if (byteAt(bytes, cursor.at) !== COLON) return false;
    cursor.at += 1;
    skipSpace(cursor);
    const sound = cursor.detail === undefined;
    if (!readValue(cursor, depth)) return false;
    if (sound && cursor.detail !== undefined) cursor.path.push(keyText(bytes, start, end));
    skipSpace(cursor);
    const byte = byteAt(bytes, cursor.at);
    cursor.at += 1;
    if (byte === CLOSE_BRACE) return true;
    if (byte !== COMMA) return false;
    skipSpace(cursor);
  }
}

function readArray(cursor: Cursor, depth: number): boolean {
  const { bytes } = cursor;
  cursor.at += 1;
  skipSpace(cursor);
  if (byteAt(bytes, cursor.at) === CLOSE_BRACKET) {
    cursor.at += 1;
    return true;
  }
  for (let index = 0; ; index += 1) {
    const sound = cursor.detail === undefined;
    if (!readValue(cursor, depth)) return false;
    if (sound && cursor.detail !== undefined) cursor.path.push(index);
    skipSpace(cursor);
    const byte = byteAt(bytes, cursor.at);
    cursor.at += 1;
    if (byte === CLOSE_BRACKET) return true;
    if (byte !== COMMA) return false;
    skipSpace(cursor);
  }
}

function readWord(cursor: Cursor, word: "true" | "false" | "null"): boolean {
  for (let i = 0; i < word.length; i += 1) {
    if (byteAt(cursor.bytes, cursor.at + i) !== word.charCodeAt(i)) return false;
  }
  cursor.at += word.length;
  return true;
}

function readString(cursor: Cursor): boolean {
  const { bytes } = cursor;
  let at = cursor.at + 1;
  while (at >= 0) {
    const byte = byteAt(bytes, at);
    if (byte === QUOTE) {
      cursor.at = at + 1;
      return true;
    }
    if (byte < 0x20) return false;
    if (byte === BACKSLASH) at = escapeEnd(cursor, at);
    else at = byte < 0x80 ? at + 1 : sequenceEnd(bytes, at);
  }
  return false;
}

/** End of the escape at `at`, or of the two that make a surrogate pair; -1 when broken. */
function escapeEnd(cursor: Cursor, at: number): number {
  const { bytes } = cursor;
  const kind = byteAt(bytes, at + 1);
  if (kind !== LOWER_U) return isShortEscape(kind) ? at + 2 : -1;
  const unit = codeUnit(bytes, at + 2);
  if (unit < 0) return -1;
  if (unit < 0xd800 || unit > 0xdfff) return at + 6;
  if (unit < 0xdc00 && byteAt(bytes, at + 6) === BACKSLASH && byteAt(bytes, at + 7) === LOWER_U) {
    const low = codeUnit(bytes, at + 8);
    if (low >= 0xdc00 && low <= 0xdfff) return at + 12;
  }
  cursor.detail ??= "TEXT_ENCODING";
  return at + 6;
}

function isShortEscape(byte: number): boolean {
  return '"\\/bfnrt'.includes(String.fromCharCode(byte));
}

/** The UTF-16 code unit that four hexadecimal digits at `at` write; -1 when they are not that. */
function codeUnit(bytes: Uint8Array, at: number): number {
  let unit = 0;
  for (let i = at; i < at + 4; i += 1) {
    const byte = byteAt(bytes, i);
    const lower = byte | 0x20;
    if (isDigit(byte)) unit = unit * 16 + byte - ZERO;
    else if (lower >= 0x61 && lower <= 0x66) unit = unit * 16 + lower - 0x57;
    else return -1;
  }
  return unit;
}

function isDigit(byte: number): boolean {
  return byte >= ZERO && byte <= 0x39;
}

function skipDigits(bytes: Uint8Array, from: number): number {
  let at = from;
  while (isDigit(byteAt(bytes, at))) at += 1;
  return at;
}

function readNumber(cursor: Cursor): boolean {
  const { bytes } = cursor;
  const negative = byteAt(bytes, cursor.at) === MINUS;
  const start = negative ? cursor.at + 1 : cursor.at;
  let at = start;
  // Rounding is monotonic: the sum reaches 2^53 exactly when the number written does.
  let magnitude = 0;
  for (let byte = byteAt(bytes, at); isDigit(byte); byte = byteAt(bytes, at)) {
    magnitude = magnitude * 10 + (byte - ZERO);
    at += 1;
  }
  if (at === start || (byteAt(bytes, start) === ZERO && at > start + 1)) return false;
  let plain = Number.isSafeInteger(magnitude) && !(negative && magnitude === 0);
  if (byteAt(bytes, at) === POINT) {
    const end = skipDigits(bytes, at + 1);
    if (end === at + 1) return false;
    at = end;
    plain = false;
  }
  if ((byteAt(bytes, at) | 0x20) === 0x65) {
    const sign = byteAt(bytes, at + 1);
    const digits = sign === 0x2b || sign === MINUS ? at + 2 : at + 1;
    at = skipDigits(bytes, digits);
    if (at === digits) return false;
    plain = false;
  }
  if (!plain) cursor.detail ??= "SHAPE";
  cursor.at = at;
  return true;
}
