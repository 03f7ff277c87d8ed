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

/** First formats with 1, 2 and 4 bytes of length: those of array and map begin with 2. */
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
    throw new RangeError("c1 is never used");
  }

  #take(length: number): Buffer {
    if (length > this.#bytes.length - this.#at) throw new RangeError("cut short");
    const taken = Buffer.from(this.#bytes.subarray(this.#at, this.#at + length));
    this.#at += length;
    return taken;
  }

  #uint(width: number): number {
    return this.#take(width).readUIntBE(0, width);
  }

  #number(format: keyof typeof NUMBERS): number | bigint {
    const [width, type] = NUMBERS[format];
    const taken = this.#take(width);
    return new DataView(taken.buffer, taken.byteOffset, width)[`get${type}`](0);
  }

  #text(length: number): Item {
    return { kind: "scalar", value: utf8.decode(this.#take(length)) };
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

class Broken extends Error {}

/** Walks what was read: values, depth, keys, and the first number that breaks the number rule. */
class Profile {
  fault: { detail: string; path: Step[] } | undefined;
  #nodes = 0;

  value(item: Item, path: Step[], depth: number): unknown {
    this.#nodes += 1;
    if (this.#nodes > 4096 || item.kind === "other") throw new Broken();
    if (item.kind === "scalar") return item.value;
    if (item.kind === "number") {
      const { value } = item;
      const fits = typeof value === "bigint" ? value >= -(2n ** 53n) + 1n && value < 2n ** 53n : isPlain(value);
      if (!fits) this.fault ??= { detail: "SHAPE", path };
      return Number(value);
    }
    if (depth === 8) throw new Broken();
    if (item.kind === "array") return item.items.map((child, index) => this.value(child, [...path, index], depth + 1));
    const entries = new Map<string, unknown>();
    for (const [key, child] of item.pairs) {
      const name = key.kind === "scalar" ? key.value : undefined;
      if (typeof name !== "string" || !/^[a-z][a-z0-9_]{0,31}$/.test(name) || entries.has(name)) throw new Broken();
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
    // TypeError: TextDecoder on ill-formed UTF-8.
    if (error instanceof Broken || error instanceof RangeError || error instanceof TypeError) return { ok: false };
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
  if (value === null) return Buffer.of(0xc0);
  if (typeof value === "boolean") return Buffer.of(value ? 0xc3 : 0xc2);
  if (typeof value === "number" || typeof value === "bigint") return pick(numberForms(value), choose);
  if (typeof value === "string") {
    if (!value.isWellFormed()) throw new RangeError("a lone surrogate has no UTF-8");
    const text = Buffer.from(value);
    return Buffer.concat([pick(headForms("str", text.length), choose), text]);
  }
  if (Array.isArray(value)) {
    return Buffer.concat([
      pick(headForms("array", value.length), choose),
      ...value.map((v) => writeMsgpack(v, choose)),
    ]);
  }
  const entries = Object.entries(value as object).filter(([, member]) => member !== undefined);
  const parts = entries.flat().map((part) => writeMsgpack(part, choose));
  return Buffer.concat([pick(headForms("map", entries.length), choose), ...parts]);
}

function pick(forms: readonly Buffer[], choose: Choose): Buffer {
  return forms[choose(forms.length)] as Buffer;
}

const FIX = { str: [0xa0, 32], array: [0x90, 16], map: [0x80, 16] } as const;

function headForms(kind: keyof typeof FIX, length: number): Buffer[] {
  const forms: Buffer[] = [];
  const [fix, below] = FIX[kind];
  if (length < below) forms.push(Buffer.of(fix + length));
  for (const [step, width] of [1, 2, 4].entries()) {
    if ((width === 1 && kind !== "str") || length >= 256 ** width) continue;
    const head = Buffer.alloc(1 + width, LENGTHS[kind] + step);
    head.writeUIntBE(length, 1, width);
    forms.push(head);
  }
  return forms;
}

/** Every format that gives the value back. */
function numberForms(value: number | bigint): Buffer[] {
  const forms: Buffer[] = [];
  if (typeof value === "number" && isPlain(value) && value >= -32 && value < 128) forms.push(Buffer.of(value & 255));
  for (const [format, [width, type]] of Object.entries(NUMBERS)) {
    const form = Buffer.alloc(1 + width, Number(format));
    const view = new DataView(form.buffer, form.byteOffset + 1, width);
    const big = type === "BigUint64" || type === "BigInt64";
    if (big && (typeof value === "bigint" || isPlain(value))) view[`set${type}`](0, BigInt(value));
    else if (!big && typeof value === "number") view[`set${type}`](0, value);
    else continue;
    const back = view[`get${type}`](0);
    if (Object.is(typeof value === "number" ? Number(back) : back, value)) forms.push(form);
  }
  return forms;
}
