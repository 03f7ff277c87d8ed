import { describe, expect, it } from "vitest";
import type { Decoded, Fault } from "../../../src/codec/codec.js";
import { msgpackCodec } from "../../../src/codec/msgpack.js";
import { scanMsgpack } from "../../../src/codec/scan-msgpack.js";
import { readMsgpack, writeMsgpack } from "../../support/msgpack.js";

/** Bytes from hex, blanks ignored, and text in quotes. */
function message(source: string): Uint8Array {
  const parts = source.match(/"[^"]*"|[0-9a-f]{2}/g) ?? [];
  return Buffer.concat(
    parts.map((part) => (part.startsWith('"') ? Buffer.from(part.slice(1, -1)) : Buffer.from(part, "hex"))),
  );
}

/** Decodes, and holds the scanner alone to the verdict: it must not lean on msgpackr to reject. */
function decode(source: string | Uint8Array): Decoded {
  const bytes = typeof source === "string" ? message(source) : source;
  const decoded = msgpackCodec.decode(bytes);
  expect(scanMsgpack(bytes).ok).toBe(decoded.ok);
  return decoded;
}

/** `{ v: ... }` round the bytes of one value. */
const held = (value: string): string => `81 a1 "v" ${value}`;

const value = (v: unknown): Decoded => ({ ok: true, value: { v } });
const refusal = (detail: Fault["detail"], ...path: (string | number)[]) =>
  expect.objectContaining({ ok: true, fault: { detail, path } });
const CLOSE = { ok: false };

const numbered = (count: number): Record<string, number> =>
  Object.fromEntries(Array.from({ length: count }, (_, index) => [`k${index}`, index]));

describe("msgpackCodec", () => {
  it("speaks binary under the msgpack subprotocol", () => {
    expect([msgpackCodec.subprotocol, msgpackCodec.binary]).toEqual(["a2achan.v1.msgpack", true]);
  });

  it("encodes a frame in the shortest maps and strings, without the fields that are undefined [A2C-FRM-45]", () => {
    expect(msgpackCodec.encode({ type: "ping", id: "é", at: undefined, list: [{ a: undefined }] })).toEqual(
      message('83 a4 "type" a4 "ping" a2 "id" a2 c3a9 a4 "list" 91 80'),
    );
  });

  it.each([
    [
      "whole numbers of every size",
      [0, 127, 128, 65_536, 2 ** 32, 1_700_000_000_000, 2 ** 53 - 1, -1, -129, 1 - 2 ** 53],
    ],
    ["texts of every length", ["", "é", "x".repeat(32), "ß".repeat(300), "x".repeat(70_000)]],
    ["a mark at the front of a text", ["\ufeff", `\ufeff${"x".repeat(70)}`]],
    ["a field called constructor", { constructor: "x", valueof: null }],
    ["more than 16 fields and items", [numbered(40), Array.from({ length: 40 }, () => true)]],
  ])("encodes %s so that any reader gets the same [A2C-FRM-45]", (_, v) => {
    const encoded = msgpackCodec.encode({ v }) as Uint8Array;
    expect(readMsgpack(encoded)).toStrictEqual({ v });
    expect(decode(encoded)).toStrictEqual({ ok: true, value: { v } });
  });

  it("leaves what it encoded before as it was", () => {
    const frames = Array.from({ length: 2_000 }, (_, index) => ({ type: "row", index, text: "x".repeat(index % 90) }));
    const encoded = frames.map((frame) => msgpackCodec.encode(frame) as Uint8Array);
    expect(encoded.map(readMsgpack)).toStrictEqual(frames);
  });

  it.each([[{ a: "\ud800" }], [{ a: ["x", { b: "\udc00x" }] }], [{ a: "\ude00\ud83d" }]])(
    "throws on %j, for which there is no form, and encodes the next frame",
    (frame) => {
      expect(() => msgpackCodec.encode(frame)).toThrow(RangeError);
      expect(msgpackCodec.encode({ a: "\ud83d\ude00" })).toEqual(message('81 a1 "a" a4 f09f9880'));
    },
  );

  it("decodes every kind of value", () => {
    expect(decode('82 a1 "a" 98 01 fe a1 "x" 80 90 c3 c2 c0 a1 "b" 81 a1 "c" 00')).toStrictEqual({
      ok: true,
      value: { a: [1, -2, "x", {}, [], true, false, null], b: { c: 0 } },
    });
  });

  it("decodes a view into a larger buffer", () => {
    const whole = new Uint8Array(message('ff ff 81 a1 "a" cd 01 00 00 00'));
    expect(msgpackCodec.decode(whole.subarray(2, -2))).toStrictEqual({ ok: true, value: { a: 256 } });
    expect(msgpackCodec.decode(whole.subarray(2, -3))).toEqual(CLOSE);
  });

  it("returns a plain object, shared with no other message", () => {
    const bytes = message('81 a1 "a" 80');
    const [first, second] = [msgpackCodec.decode(bytes), msgpackCodec.decode(bytes)];
    expect(first).toStrictEqual({ ok: true, value: { a: {} } });
    expect(first.ok && second.ok && first.value !== second.value).toBe(true);
    expect(first.ok && Object.getPrototypeOf(first.value)).toBe(Object.prototype);
  });

  it.each(["", "\ufeff", "\ufeff\ufeff", "x\ufeff"])(
    "keeps a mark where %j stands before a text of any length",
    (front) => {
      for (const length of [0, 10, 40, 64, 65, 300]) {
        const v = [front + "x".repeat(length), { v: front + "é".repeat(length) }];
        expect(decode(writeMsgpack({ v }))).toStrictEqual(value(v));
      }
    },
  );
});

describe("one map a message [A2C-FRM-34]", () => {
  it.each([
    "",
    "c0",
    "90",
    '91 81 a1 "a" 01',
    "01",
    'a1 "a"',
    "c3",
    "80 80",
    "80 00",
    "80 c1",
    "00 80",
    "c1 80",
    '"{}"',
  ])("closes on %s", (source) => {
    expect(decode(source)).toEqual(CLOSE);
  });

  it.each(["80", "de 00 00", "df 00 00 00 00"])("takes the empty map %s", (source) => {
    expect(decode(source)).toStrictEqual({ ok: true, value: {} });
  });

  const whole = message(
    '83 a1 "a" 92 cd 01 00 a3 "xyz" d9 01 "b" cb 40 00 00 00 00 00 00 00 a1 "c" dc 00 01 81 a1 "d" c0',
  );

  it("closes wherever a message is cut short, and on a byte too many", () => {
    expect(decode(whole)).toStrictEqual({ ok: true, value: { a: [256, "xyz"], b: 2, c: [{ d: null }] } });
    for (let length = 0; length < whole.length; length += 1) {
      expect(decode(whole.subarray(0, length)), String(length)).toEqual(CLOSE);
      // Its memory ends where the message does.
      expect(decode(Uint8Array.from(whole.subarray(0, length))), String(length)).toEqual(CLOSE);
    }
    expect(decode(Buffer.concat([whole, Buffer.of(0xc0)]))).toEqual(CLOSE);
  });
});

describe("what MessagePack has and a frame has not [A2C-FRM-44]", () => {
  it.each([
    ["never used", "c1"],
    ["bin 8, empty", "c4 00"],
    ["bin 8", 'c4 01 "x"'],
    ["bin 16", 'c5 00 01 "x"'],
    ["bin 32", 'c6 00 00 00 01 "x"'],
    ["fixext 1", "d4 01 00"],
    ["fixext 2", "d5 01 00 00"],
    ["fixext 4", "d6 01 00 00 00 00"],
    ["fixext 8", `d7 01 ${"00".repeat(8)}`],
    ["fixext 16", `d8 01 ${"00".repeat(16)}`],
    ["ext 8", "c7 01 01 00"],
    ["ext 16", "c8 00 01 01 00"],
    ["ext 32", "c9 00 00 00 01 01 00"],
    ["a timestamp of 32 bits", "d6 ff 00 00 00 00"],
    ["a timestamp of 64 bits", `d7 ff ${"00".repeat(8)}`],
    ["a timestamp of 96 bits", `c7 0c ff ${"00".repeat(12)}`],
    ["msgpackr's undefined", "d4 00 00"],
    ["msgpackr's record that is defined", 'd4 72 40 91 a1 "a" 01'],
    ["msgpackr's record of two bytes", 'd5 72 40 00 91 a1 "a" 01'],
    ["msgpackr's RegExp", 'd4 78 00 92 a1 "a" a0'],
    ["msgpackr's Error", 'd4 65 00 92 a5 "Error" a1 "x"'],
    ["msgpackr's Set", "d4 73 00 91 01"],
    ["msgpackr's typed array", "c7 02 74 01 00"],
    ["msgpackr's pointer", "d6 70 00 00 00 01"],
    ["msgpackr's bundle of strings", "d6 62 00 00 00 01"],
  ])("closes on %s", (_, source) => {
    expect(decode(held(source))).toEqual(CLOSE);
    expect(decode(source)).toEqual(CLOSE);
  });

  it("reads 40 to 7f as numbers, whatever records came before", () => {
    decode(held('d4 72 40 91 a1 "a" 01'));
    decode('d4 72 40 91 a1 "a" 01');
    expect(decode(held("94 40 41 7e 7f"))).toStrictEqual(value([64, 65, 126, 127]));
  });
});

describe("depth, nodes and lengths [A2C-FRM-34]", () => {
  it("takes 8 containers in one another and closes on 9", () => {
    expect(decode(held(`${"91".repeat(6)} 90`))).toMatchObject({ ok: true });
    expect(decode(held(`${"91".repeat(7)} 90`))).toEqual(CLOSE);
    expect(decode('81 a1 "a" '.repeat(8) + "00")).toMatchObject({ ok: true });
    expect(decode('81 a1 "a" '.repeat(9) + "00")).toEqual(CLOSE);
  });

  it("counts open containers, not those already closed", () => {
    expect(decode(held(`dc 00 14 ${"91 90".repeat(20)}`))).toMatchObject({ ok: true });
  });

  it("closes on nesting that would exhaust the stack of a recursive reader", () => {
    expect(decode(held("91".repeat(100_000)))).toEqual(CLOSE);
    expect(decode('81 a1 "a" '.repeat(40_000))).toEqual(CLOSE);
  });

  it("takes 4096 values and closes on 4097", () => {
    expect(decode(held(`dc 0f fe ${"00".repeat(4094)}`))).toMatchObject({ ok: true });
    expect(decode(held(`dc 0f ff ${"00".repeat(4095)}`))).toEqual(CLOSE);
  });

  it("counts no keys", () => {
    expect(decode(writeMsgpack(numbered(4095)))).toMatchObject({ ok: true });
    expect(decode(writeMsgpack(numbered(4096)))).toEqual(CLOSE);
  });

  it.each([
    ["a string", "db ff ff ff ff"],
    ["a string that begins", 'db ff ff ff ff "abc"'],
    ["a string of 64 KiB", "da ff ff"],
    ["an array", "dd ff ff ff ff"],
    ["an array that begins", "dd ff ff ff ff 00 00"],
    ["an array of arrays", "dd ff ff ff ff dd ff ff ff ff dd ff ff ff ff"],
    ["a map", "df ff ff ff ff"],
    ["a map that begins", 'df ff ff ff ff a1 "a" 00'],
    ["a bin", "c6 ff ff ff ff"],
    ["an ext", "c9 ff ff ff ff 01"],
    ["a length cut short", "db ff ff"],
  ])("closes on %s that is longer than the message", (_, source) => {
    expect(decode(held(source))).toEqual(CLOSE);
    expect(decode(source)).toEqual(CLOSE);
  });
});

describe("keys [A2C-FRM-34] [A2C-FRM-44]", () => {
  it.each(["a", "z", "a0", "a_", "a9_z", "constructor", "k".repeat(32)])("takes %j", (key) => {
    expect(decode(writeMsgpack({ [key]: 1 }))).toStrictEqual({ ok: true, value: { [key]: 1 } });
  });

  it.each(["", "A", "aB", "0a", "_a", "__proto__", "a-b", "a b", "a.b", "é", "aé", "a\0", "k".repeat(33), "\ufeffa"])(
    "closes on %j",
    (key) => {
      expect(decode(Buffer.concat([Buffer.of(0x81), writeMsgpack(key), Buffer.of(1)]))).toEqual(CLOSE);
    },
  );

  it("ends a key where its length says, not where its bytes stop being a key's", () => {
    expect(decode('81 a1 "a" 62')).toStrictEqual({ ok: true, value: { a: 0x62 } });
    expect(decode('81 a2 "a" 62')).toEqual(CLOSE);
  });

  it.each(["01", "c0", "c3", "90", "80", 'c4 01 "a"', "cb 00 00 00 00 00 00 00 00", "d6 ff 00 00 00 00", "c1"])(
    "closes on the key %s, which is no string",
    (key) => {
      expect(decode(`81 ${key} 01`)).toEqual(CLOSE);
    },
  );

  it.each(['a1 "a"', 'd9 01 "a"', 'da 00 01 "a"', 'db 00 00 00 01 "a"'])("takes the key %s, and once", (key) => {
    expect(decode(`81 ${key} 01`)).toStrictEqual({ ok: true, value: { a: 1 } });
    expect(decode(`82 ${key} 01 a1 "a" 01`)).toEqual(CLOSE);
    expect(decode(`82 a1 "a" 01 ${key} 01`)).toEqual(CLOSE);
  });

  it.each([
    '82 a1 "a" 01 a1 "a" 01',
    '83 a1 "a" 01 a1 "b" 02 a1 "a" 03',
    held('82 a1 "a" 01 a1 "a" 02'),
    held('91 82 a1 "a" 80 a1 "a" 80'),
    '82 a1 "a" 81 a1 "a" 01 a1 "a" 02',
  ])("closes on a key twice in one map: %s", (source) => {
    expect(decode(source)).toEqual(CLOSE);
  });

  it("takes the same key in other maps", () => {
    expect(decode(held('92 81 a1 "v" 01 81 a1 "v" 81 a1 "v" 02'))).toStrictEqual(value([{ v: 1 }, { v: { v: 2 } }]));
  });

  it.each([2, 15, 16, 17, 40, 4094])("finds any of %i keys repeated behind them", (count) => {
    const pairs = Object.entries(numbered(count))
      .flat()
      .map((part) => writeMsgpack(part));
    const head = Buffer.of(0xde, (count + 1) >> 8, (count + 1) & 255);
    for (const again of [0, count >> 1, count - 1]) {
      const repeated = Buffer.concat([head, ...pairs, writeMsgpack(`k${again}`), Buffer.of(0)]);
      expect(decode(repeated), `k${again}`).toEqual(CLOSE);
    }
  });
});

describe("numbers [A2C-FRM-43]", () => {
  it.each<[number, string]>([
    [0, "00"],
    [127, "7f"],
    [-1, "ff"],
    [-32, "e0"],
    [5, "cc 05"],
    [5, "cd 00 05"],
    [5, "ce 00 00 00 05"],
    [5, "cf 00 00 00 00 00 00 00 05"],
    [-5, "d0 fb"],
    [-5, "d1 ff fb"],
    [-5, "d2 ff ff ff fb"],
    [-5, "d3 ff ff ff ff ff ff ff fb"],
    [0, "d3 00 00 00 00 00 00 00 00"],
    [5, "ca 40 a0 00 00"],
    [0, "ca 00 00 00 00"],
    [16_777_216, "ca 4b 80 00 00"],
    [0, "cb 00 00 00 00 00 00 00 00"],
    [1_700_000_000_000, "cb 42 78 bc fe 56 80 00 00"],
    [9_007_199_254_740_991, "cb 43 3f ff ff ff ff ff ff"],
    [9_007_199_254_740_991, "cf 00 1f ff ff ff ff ff ff"],
    [-9_007_199_254_740_991, "d3 ff e0 00 00 00 00 00 01"],
    [-9_007_199_254_740_991, "cb c3 3f ff ff ff ff ff ff"],
  ])("takes %i written as %s", (number, source) => {
    expect(decode(held(source))).toStrictEqual(value(number));
  });

  it.each([
    ["-0 of 32 bits", "ca 80 00 00 00"],
    ["-0 of 64 bits", "cb 80 00 00 00 00 00 00 00"],
    ["a fraction of 32 bits", "ca 3f 00 00 00"],
    ["a fraction of 64 bits", "cb 3f f8 00 00 00 00 00 00"],
    ["NaN of 32 bits", "ca 7f c0 00 00"],
    ["NaN", "cb 7f f8 00 00 00 00 00 00"],
    ["a NaN with a payload", "cb ff f0 00 00 00 00 00 01"],
    ["Infinity of 32 bits", "ca 7f 80 00 00"],
    ["Infinity", "cb 7f f0 00 00 00 00 00 00"],
    ["-Infinity", "cb ff f0 00 00 00 00 00 00"],
    ["the smallest fraction", "cb 00 00 00 00 00 00 00 01"],
    ["2^53 as a float of 32 bits", "ca 5a 00 00 00"],
    ["2^53 as a float", "cb 43 40 00 00 00 00 00 00"],
    ["2^53", "cf 00 20 00 00 00 00 00 00"],
    ["2^53+1", "cf 00 20 00 00 00 00 00 01"],
    ["2^64-1", "cf ff ff ff ff ff ff ff ff"],
    ["2^53, signed", "d3 00 20 00 00 00 00 00 00"],
    ["-2^53", "d3 ff e0 00 00 00 00 00 00"],
    ["-2^63", "d3 80 00 00 00 00 00 00 00"],
  ])("refuses %s with SHAPE", (_, source) => {
    expect(decode(held(source))).toEqual(refusal("SHAPE", "v"));
  });
});

describe("strings [A2C-FRM-44]", () => {
  it.each([
    "",
    "plain",
    "\0",
    "\n",
    "é",
    "€",
    "😀",
    "\u007f",
    "\ud7ff",
    "\ue000",
    "\uffff",
    "\u{10ffff}",
    "x".repeat(70),
  ])("takes %j in a string of any header", (text) => {
    for (const form of [0, 1, 2, 3]) {
      expect(decode(writeMsgpack({ v: text }, (below) => Math.min(form, below - 1)))).toStrictEqual(value(text));
    }
  });

  it.each([
    ["a lone continuation byte", "80"],
    ["an overlong form of two bytes", "c0 af"],
    ["an overlong form of three bytes", "e0 9f bf"],
    ["an overlong form of four bytes", "f0 8f bf bf"],
    ["an encoded high surrogate", "ed a0 80"],
    ["an encoded low surrogate", "ed bf bf"],
    ["an encoded surrogate pair", "ed a0 bd ed b8 80"],
    ["U+110000", "f4 90 80 80"],
    ["a lead byte above F4", "f5 80 80 80"],
    ["FF", "ff"],
    ["two bytes cut short", "c3"],
    ["three bytes cut short", "e2 82"],
    ["four bytes cut short", "f0 9f 98"],
    ["a bad second byte", "e2 41 82"],
    ["a bad third byte", "e2 82 c0"],
    ["a bad fourth byte", "f0 9f 98 7f"],
  ])("closes on %s", (_, source) => {
    const bytes = message(source);
    for (const front of ["", "x".repeat(20), "x".repeat(70)]) {
      const length = (front.length + bytes.length).toString(16).padStart(2, "0");
      expect(decode(held(`d9 ${length} "${front}" ${source}`)), front).toEqual(CLOSE);
    }
  });

  it("closes on a sequence that only the bytes behind its string complete", () => {
    // A tail byte of UTF-8 is the head of a map, an array or a string: each is a value here.
    expect(decode('82 a1 "a" a1 c3 a1 "b" 00')).toEqual(CLOSE);
    expect(decode(held("92 a1 c3 80 00"))).toEqual(CLOSE);
    expect(decode(held("92 a2 c3 a9 80"))).toStrictEqual(value(["é", {}]));
  });
});

describe("faults [A2C-FRM-43]", () => {
  it("keeps the value, so that the refusal can carry the id of the request", () => {
    expect(decode('82 a2 "id" a3 "c-1" a1 "n" ca 3f c0 00 00')).toStrictEqual({
      ok: true,
      value: { id: "c-1", n: 1.5 },
      fault: { detail: "SHAPE", path: ["n"] },
    });
  });

  it("names the path of the first, through maps and arrays", () => {
    const frame = { a: [0, { b: [[], 1, -0] }], c: 1.5 };
    expect(decode(writeMsgpack(frame))).toEqual(refusal("SHAPE", "a", 1, "b", 2));
  });

  it.each(["", "00 00", "c1", "a1 ff", "c4 00", '81 a1 "A" 00', "91".repeat(9)])(
    "closes when the message breaks behind a fault: %s",
    (rest) => {
      expect(decode(held(`92 ca 80 00 00 00 ${rest}`))).toEqual(CLOSE);
    },
  );
});
