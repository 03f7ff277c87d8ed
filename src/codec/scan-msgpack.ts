import { MAX_DEPTH, MAX_NODES } from "./limits.js";
import { addKey, keyEnd, keyText, noKeys, sequenceEnd, startOf, verdictOf, type Cursor, type Scanned } from "./scan.js";

const FIX_MAP = 0x80;
const FIX_ARRAY = 0x90;
const FIX_STR = 0xa0;
const NIL = 0xc0;
const FALSE = 0xc2;
const TRUE = 0xc3;
const STR_8 = 0xd9;
const STR_16 = 0xda;
const STR_32 = 0xdb;
const ARRAY_16 = 0xdc;
const ARRAY_32 = 0xdd;
const MAP_16 = 0xde;
const MAP_32 = 0xdf;
const NEGATIVE_FIXINT = 0xe0;

/** The numbers that do not fit into their format byte: width in bytes and value, by format. */
const NUMBERS = new Map<number, { width: number; value: (view: DataView) => number }>([
  [0xca, { width: 4, value: (view) => view.getFloat32(0) }],
  [0xcb, { width: 8, value: (view) => view.getFloat64(0) }],
  [0xcc, { width: 1, value: (view) => view.getUint8(0) }],
  [0xcd, { width: 2, value: (view) => view.getUint16(0) }],
  [0xce, { width: 4, value: (view) => view.getUint32(0) }],
  // Rounding is monotonic: what is beyond 2^53-1 stays so.
  [0xcf, { width: 8, value: (view) => Number(view.getBigUint64(0)) }],
  [0xd0, { width: 1, value: (view) => view.getInt8(0) }],
  [0xd1, { width: 2, value: (view) => view.getInt16(0) }],
  [0xd2, { width: 4, value: (view) => view.getInt32(0) }],
  [0xd3, { width: 8, value: (view) => Number(view.getBigInt64(0)) }],
]);

/**
 * Whether the bytes are one MessagePack map of the codec profile, with nothing behind it: strings of valid UTF-8, keys
 * that are strings `[a-z][a-z0-9_]{0,31}` and once a map, at most MAX_DEPTH containers deep, at most MAX_NODES values,
 * no bin, no ext. Every format of a length or a number is taken, the shortest or not. Allocates nothing by what a length says.
 */
export function scanMsgpack(bytes: Uint8Array): Scanned {
  const cursor = startOf(bytes);
  const format = bytes[0] ?? NIL;
  const isMap = (format >= FIX_MAP && format < FIX_ARRAY) || format === MAP_16 || format === MAP_32;
  if (!isMap || !readValue(cursor, 0) || cursor.at !== bytes.length) return { ok: false };
  return verdictOf(cursor);
}

// Each reader returns false when the message is broken.

function readValue(cursor: Cursor, depth: number): boolean {
  cursor.nodes += 1;
  const format = cursor.bytes[cursor.at];
  if (cursor.nodes > MAX_NODES || format === undefined) return false;
  cursor.at += 1;
  if (format < FIX_MAP || format >= NEGATIVE_FIXINT) return true;
  if (format < FIX_ARRAY) return readMap(cursor, format - FIX_MAP, depth + 1);
  if (format < FIX_STR) return readArray(cursor, format - FIX_ARRAY, depth + 1);
  switch (format) {
    case NIL:
    case FALSE:
    case TRUE:
      return true;
    case ARRAY_16:
      return readArray(cursor, readLength(cursor, 2), depth + 1);
    case ARRAY_32:
      return readArray(cursor, readLength(cursor, 4), depth + 1);
    case MAP_16:
      return readMap(cursor, readLength(cursor, 2), depth + 1);
    case MAP_32:
      return readMap(cursor, readLength(cursor, 4), depth + 1);
    default: {
      const end = stringEnd(cursor, format);
      return end < 0 ? readNumber(cursor, format) : readText(cursor, end);
    }
  }
}

function readMap(cursor: Cursor, length: number, depth: number): boolean {
  if (depth > MAX_DEPTH) return false;
  const { bytes } = cursor;
  const seen = noKeys();
  for (let pair = 0; pair < length; pair += 1) {
    const format = bytes[cursor.at] ?? NIL;
    cursor.at += 1;
    const end = stringEnd(cursor, format);
    const start = cursor.at;
    if (end < 0 || end > bytes.length || keyEnd(bytes, start, end) !== end || !addKey(seen, bytes, start, end))
      return false;
    cursor.at = end;
    const sound = cursor.detail === undefined;
    if (!readValue(cursor, depth)) return false;
    if (sound && cursor.detail !== undefined) cursor.path.push(keyText(bytes, start, end));
  }
  return true;
}

function readArray(cursor: Cursor, length: number, depth: number): boolean {
  if (depth > MAX_DEPTH) return false;
  for (let index = 0; index < length; index += 1) {
    const sound = cursor.detail === undefined;
    if (!readValue(cursor, depth)) return false;
    if (sound && cursor.detail !== undefined) cursor.path.push(index);
  }
  return true;
}

/** Reads the length behind a string's format byte: where the string ends, perhaps beyond the message; -1 when the format is no string's. */
function stringEnd(cursor: Cursor, format: number): number {
  let length = -1;
  if (format >= FIX_STR && format < NIL) length = format - FIX_STR;
  else if (format === STR_8) length = readLength(cursor, 1);
  else if (format === STR_16) length = readLength(cursor, 2);
  else if (format === STR_32) length = readLength(cursor, 4);
  return length < 0 ? -1 : cursor.at + length;
}

/** A length of `width` bytes; one that is cut short says more than any message has. */
function readLength(cursor: Cursor, width: 1 | 2 | 4): number {
  let length = 0;
  for (let i = 0; i < width; i += 1) length = length * 256 + (cursor.bytes[cursor.at + i] ?? Number.POSITIVE_INFINITY);
  cursor.at += width;
  return length;
}

function readText(cursor: Cursor, end: number): boolean {
  const { bytes } = cursor;
  if (end > bytes.length) return false;
  let { at } = cursor;
  while (at >= 0 && at < end) at = (bytes[at] as number) < 0x80 ? at + 1 : sequenceEnd(bytes, at);
  cursor.at = at;
  // A sequence that only the bytes behind the string would complete is cut short.
  return at === end;
}

function readNumber(cursor: Cursor, format: number): boolean {
  const { bytes, at } = cursor;
  const number = NUMBERS.get(format);
  if (number === undefined || at + number.width > bytes.length) return false;
  const value = number.value(new DataView(bytes.buffer, bytes.byteOffset + at, number.width));
  if (!Number.isSafeInteger(value) || Object.is(value, -0)) cursor.detail ??= "SHAPE";
  cursor.at = at + number.width;
  return true;
}
