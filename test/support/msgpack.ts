/**
 * MessagePack said a second time, from its specification alone: a plain reader without limits, the profile of
 * PROTOCOL.md section 6 judged over what it read, and a writer that may take any format that holds a value.
 */

/** One value as it is written. `number` keeps 64-bit integers exact; `other` is bin or ext. */
type Item =
  | { kind: "scalar"; value: null | boolean | string }
  | { kind: "number"; value: number | bigint }
  | { kind: "array"; items: Item[] }
  | { kind: "map"; pairs: [Item, Item][] }
  | { kind: "other" };

type Step = string | number;
export type Judged = { ok: true; value: unknown; fault?: { detail: string; path: Step[] } } | { ok: false };

/** One error for all: the trace of each would take longer than the reading. */
const BROKEN = new Error("no message of the profile");

const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** Formats with a number behind them: [width, how a DataView reads and writes it]. */
const NUMBERS = {
  0xcc: [1, "Uint8"],
  0xcd: [2, "Uint16"],
  0xce: [4, "Uint32"],
  0xcf: [8, "BigUint64"],
  0xd0: [1, "Int8"],
  0xd1: [2, "Int16"],
  0xd2: [4, "Int32"],
  0xd3: [8, "BigInt64"],
  0xca: [4, "Float32"],
  0xcb: [8, "Float64"],
} as const;

/** The format with 1 byte of length; those with 2 and 4 follow. Array and map begin with 2, so theirs is another's. */
const LENGTHS = { str: 0xd9, array: 0xdb, map: 0xdd } as const;

class Reader {
  readonly #bytes: Uint8Array;
  #at = 0;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
  }

  get done(): boolean {
    return this.#at === this.#bytes.length;
  }

  /** The next value; throws when the bytes are not MessagePack. */
  item(): Item {
    const format = this.#uint(1);
    if (format < 0x80) return { kind: "number", value: format };
    if (format < 0x90) return this.#map(format & 15);
    if (format < 0xa0) return this.#array(format & 15);
    if (format < 0xc0) return this.#text(format & 31);
    if (format >= 0xe0) return { kind: "number", value: format - 256 };
    if (format in NUMBERS) return { kind: "number", value: this.#number(format as keyof typeof NUMBERS) };
    if (format === 0xc0) return { kind: "scalar", value: null };
    if (format === 0xc2 || format === 0xc3) return { kind: "scalar", value: format === 0xc3 };
    if (format >= 0xc4 && format <= 0xc6) return this.#other(this.#uint(2 ** (format - 0xc4)));
    if (format >= 0xc7 && format <= 0xc9) return this.#other(this.#uint(2 ** (format - 0xc7)) + 1);
    if (format >= 0xd4 && format <= 0xd8) return this.#other(2 ** (format - 0xd4) + 1);
    if (format >= 0xd9 && format <= 0xdb) return this.#text(this.#uint(2 ** (format - 0xd9)));
    if (format >= 0xdc && format <= 0xdd) return this.#array(this.#uint(2 ** (format - 0xdb)));
    if (format >= 0xde && format <= 0xdf) return this.#map(this.#uint(2 ** (format - 0xdd)));
    throw BROKEN;
  }

  /** Where the next `length` bytes begin. */
  #take(length: number): number {
    const from = this.#at;
    if (length > this.#bytes.length - from) throw BROKEN;
    this.#at += length;
    return from;
  }

  #uint(width: number): number {
    const from = this.#take(width);
    let value = 0;
    for (let at = from; at < this.#at; at += 1) value = value * 256 + (this.#bytes[at] ?? 0);
    return value;
  }

  #number(format: keyof typeof NUMBERS): number | bigint {
    const [width, type] = NUMBERS[format];
    const { buffer, byteOffset } = this.#bytes;
    return new DataView(buffer, byteOffset + this.#take(width), width)[`get${type}`](0);
  }

  #text(length: number): Item {
    const from = this.#take(length);
    return { kind: "scalar", value: utf8.decode(this.#bytes.subarray(from, this.#at)) };
  }

  #other(length: number): Item {
    this.#take(length);
    return { kind: "other" };
  }

  #array(length: number): Item {
    const items: Item[] = [];
    while (items.length < length) items.push(this.item());
    return { kind: "array", items };
  }

  #map(length: number): Item {
    const pairs: [Item, Item][] = [];
    while (pairs.length < length) pairs.push([this.item(), this.item()]);
    return { kind: "map", pairs };
  }
}

/** Walks what was read: values, depth, keys, and the first number that breaks the number rule. */
class Profile {
  fault: { detail: string; path: Step[] } | undefined;
  #nodes = 0;

  value(item: Item, path: Step[], depth: number): unknown {
    this.#nodes += 1;
    if (this.#nodes > 4096 || item.kind === "other") throw BROKEN;
    if (item.kind === "scalar") return item.value;
    if (item.kind === "number") {
      const { value } = item;
      const fits = typeof value === "bigint" ? value >= -(2n ** 53n) + 1n && value < 2n ** 53n : isPlain(value);
      if (!fits) this.fault ??= { detail: "SHAPE", path };
      return Number(value);
    }
    if (depth === 8) throw BROKEN;
    if (item.kind === "array") return item.items.map((child, index) => this.value(child, [...path, index], depth + 1));
    const entries = new Map<string, unknown>();
    for (const [key, child] of item.pairs) {
      const name = key.kind === "scalar" ? key.value : undefined;
      if (typeof name !== "string" || !/^[a-z][a-z0-9_]{0,31}$/.test(name) || entries.has(name)) throw BROKEN;
      entries.set(name, this.value(child, [...path, name], depth + 1));
    }
    return Object.fromEntries(entries);
  }
}

function isPlain(value: number): boolean {
  return Math.trunc(value) === value && Math.abs(value) < 2 ** 53 && !Object.is(value, -0);
}

/** What a codec must make of these bytes. */
export function judgeMsgpack(bytes: Uint8Array): Judged {
  try {
    const reader = new Reader(bytes);
    const item = reader.item();
    if (item.kind !== "map" || !reader.done) return { ok: false };
    const profile = new Profile();
    const value = profile.value(item, [], 0);
    return profile.fault === undefined ? { ok: true, value } : { ok: true, value, fault: profile.fault };
  } catch (error) {
    // TypeError: TextDecoder on ill-formed UTF-8. RangeError: deeper than the stack.
    if (error === BROKEN || error instanceof RangeError || error instanceof TypeError) return { ok: false };
    throw error;
  }
}

/** The frame that a peer sent; throws when it is none of the profile. */
export function readMsgpack(bytes: Uint8Array): object {
  const judged = judgeMsgpack(bytes);
  if (!judged.ok || judged.fault !== undefined) throw new Error("this is no frame of the profile");
  return judged.value as object;
}

/** Picks one of so many formats that all hold the value, the shortest first. */
export type Choose = (below: number) => number;

/** Values as JSON has them, and bigints for integers of 64 bits. */
export function writeMsgpack(value: unknown, choose: Choose = () => 0): Buffer {
  const parts: Uint8Array[] = [];
  write(value, choose, parts);
  return Buffer.concat(parts);
}

function write(value: unknown, choose: Choose, into: Uint8Array[]): void {
  if (value === null) into.push(Buffer.of(0xc0));
  else if (typeof value === "boolean") into.push(Buffer.of(value ? 0xc3 : 0xc2));
  else if (typeof value === "number" || typeof value === "bigint") into.push(numberAs(value, choose));
  else if (typeof value === "string") {
    if (!value.isWellFormed()) throw new RangeError("a lone surrogate has no UTF-8");
    const text = Buffer.from(value);
    into.push(headAs("str", text.length, choose), text);
  } else if (Array.isArray(value)) {
    into.push(headAs("array", value.length, choose));
    for (const item of value) write(item, choose, into);
  } else {
    const entries = Object.entries(value as object).filter(([, member]) => member !== undefined);
    into.push(headAs("map", entries.length, choose));
    for (const part of entries.flat()) write(part, choose, into);
  }
}

/** Fix formats, how many lengths they hold, and widths of the others. */
const HEADS = {
  str: { fix: 0xa0, below: 32, widths: [1, 2, 4] },
  array: { fix: 0x90, below: 16, widths: [2, 4] },
  map: { fix: 0x80, below: 16, widths: [2, 4] },
} as const;

function headAs(kind: keyof typeof HEADS, length: number, choose: Choose): Buffer {
  const { fix, below, widths } = HEADS[kind];
  const fits = widths.filter((width) => length < 256 ** width);
  const chosen = choose(fits.length + (length < below ? 1 : 0)) - (length < below ? 1 : 0);
  const width = fits[chosen];
  if (width === undefined) return Buffer.of(fix + length);
  const head = Buffer.alloc(1 + width, LENGTHS[kind] + Math.log2(width));
  head.writeUIntBE(length, 1, width);
  return head;
}

const scratch = new DataView(new ArrayBuffer(8));

/** Writes the number in one format at the front of `scratch`; whether it reads back the same. */
function holds([, type]: (typeof NUMBERS)[keyof typeof NUMBERS], value: number | bigint): boolean {
  if (type === "BigUint64" || type === "BigInt64") {
    if (typeof value === "number" && !isPlain(value)) return false;
    scratch[`set${type}`](0, BigInt(value));
    return scratch[`get${type}`](0) === BigInt(value);
  }
  if (typeof value === "bigint") return false;
  scratch[`set${type}`](0, value);
  return Object.is(scratch[`get${type}`](0), value);
}

/** Formats in order of width, then as the specification lists them. */
const FORMATS = Object.keys(NUMBERS)
  .map(Number)
  .toSorted(
    (a, b) => NUMBERS[a as keyof typeof NUMBERS][0] - NUMBERS[b as keyof typeof NUMBERS][0],
  ) as (keyof typeof NUMBERS)[];

function numberAs(value: number | bigint, choose: Choose): Buffer {
  const fix = typeof value === "number" && isPlain(value) && value >= -32 && value < 128 ? 1 : 0;
  const fits = FORMATS.filter((format) => holds(NUMBERS[format], value));
  const chosen = choose(fits.length + fix) - fix;
  const format = fits[chosen];
  if (format === undefined) return Buffer.of(Number(value) & 255);
  holds(NUMBERS[format], value);
  const [width] = NUMBERS[format];
  return Buffer.concat([Buffer.of(format), new Uint8Array(scratch.buffer, 0, width)]);
}
