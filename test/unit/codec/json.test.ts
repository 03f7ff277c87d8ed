import { describe, expect, it } from "vitest";
import type { Decoded, Fault } from "../../../src/codec/codec.js";
import { jsonCodec } from "../../../src/codec/json.js";
import { MAX_DEPTH, MAX_KEY_BYTES, MAX_NODES } from "../../../src/codec/limits.js";
import { scanJson } from "../../../src/codec/scan-json.js";

/** Joins ASCII-or-not text and raw bytes. */
function message(...parts: (string | number)[]): Uint8Array {
  return Buffer.concat(parts.map((part) => (typeof part === "string" ? Buffer.from(part) : Buffer.of(part))));
}

/** Decodes, and holds the scanner alone to the verdict: it must not lean on JSON.parse to reject. */
function decode(...parts: (string | number)[]): Decoded {
  const bytes = message(...parts);
  const decoded = jsonCodec.decode(bytes);
  expect(scanJson(bytes).ok).toBe(decoded.ok);
  return decoded;
}

const refusal = (detail: Fault["detail"], ...path: (string | number)[]) =>
  expect.objectContaining({ ok: true, fault: { detail, path } });

const CLOSE = { ok: false };

/** `containers` in one another: the object and arrays within. */
const nested = (containers: number) => `{"v":${"[".repeat(containers - 1)}${"]".repeat(containers - 1)}}`;

/** One object, one array, and zeros to make `nodes` values. */
const populous = (nodes: number) =>
  `{"v":[${Array<string>(nodes - 2)
    .fill("0")
    .join(",")}]}`;

const numbered = (count: number) => Array.from({ length: count }, (_, index) => `"k${index}":${index}`);

describe("jsonCodec", () => {
  it("speaks text under the JSON subprotocol", () => {
    expect([jsonCodec.subprotocol, jsonCodec.binary]).toEqual(["a2achan.v1.json", false]);
  });

  it("encodes a frame as compact JSON", () => {
    expect(jsonCodec.encode({ type: "ping", id: "é1", at: undefined })).toBe('{"type":"ping","id":"é1"}');
  });

  it("decodes every kind of value, with white space between tokens", () => {
    const text = ' \t\r\n{ "a" : [ 1 , -2 , "x" , { } , [ ] , true , false , null ] ,\n"b":{"c":0}\t} \r\n';
    expect(decode(text)).toStrictEqual({
      ok: true,
      value: { a: [1, -2, "x", {}, [], true, false, null], b: { c: 0 } },
    });
  });

  it("decodes a view into a larger buffer", () => {
    const whole = new Uint8Array(message('xx{"a":"é"}}}'));
    expect(jsonCodec.decode(whole.subarray(2, -2))).toStrictEqual({ ok: true, value: { a: "é" } });
    expect(jsonCodec.decode(whole.subarray(2, -3))).toEqual(CLOSE);
  });

  it("returns a value shared with no other message", () => {
    const bytes = message('{"a":{}}');
    const [first, second] = [jsonCodec.decode(bytes), jsonCodec.decode(bytes)];
    expect(first).toStrictEqual(second);
    expect(first.ok && second.ok && first.value !== second.value).toBe(true);
  });
});

describe("one object a message", () => {
  it.each([
    "",
    " ",
    "[]",
    "1",
    '"a"',
    "null",
    "true",
    "{} {}",
    "{}x",
    "{}}",
    "{},",
    '{"a":1}\u00a0',
    "\u00a0{}",
    "\ufeff{}",
    "{}\0",
    "\0{}",
    "\f{}",
    "\v{}",
  ])("closes on %j", (text) => {
    expect(decode(text)).toEqual(CLOSE);
  });

  it.each([
    "{",
    '{"a',
    '{"a"',
    '{"a":',
    '{"a":1',
    '{"a":1,',
    '{"a":1,}',
    '{"a":[1',
    '{"a":[1,]}',
    '{"a":[,1]}',
    '{,"a":1}',
    '{"a":1 "b":2}',
    '{"a" 1}',
    '{"a"=1}',
    '{"a!:1}',
    '{"a":1;"b":2}',
    '{"a":[1;2]}',
    '{"a":}',
  ])("closes on %j", (text) => {
    expect(decode(text)).toEqual(CLOSE);
  });

  it.each([
    "{a:1}",
    "{'a':1}",
    "{1:1}",
    '{"a":[1}}',
    '{"a":{"b":1]}',
    '{"a":tru}',
    '{"a":trux}',
    '{"a":True}',
    '{"a":nulll}',
    '{"a":undefined}',
    '{"a":1}//',
    '{/**/"a":1}',
  ])("closes on %j", (text) => {
    expect(decode(text)).toEqual(CLOSE);
  });
});

describe("depth and nodes", () => {
  it("takes 8 containers in one another and closes on 9", () => {
    expect(MAX_DEPTH).toBe(8);
    expect(decode(nested(8))).toMatchObject({ ok: true });
    expect(decode(nested(9))).toEqual(CLOSE);
    expect(decode(`${'{"a":'.repeat(8)}0${"}".repeat(8)}`)).toMatchObject({ ok: true });
    expect(decode(`${'{"a":'.repeat(9)}0${"}".repeat(9)}`)).toEqual(CLOSE);
  });

  it("counts open containers, not those already closed", () => {
    expect(decode(`{"v":[${Array(20).fill("[[]]").join(",")}]}`)).toMatchObject({ ok: true });
  });

  it("closes on nesting that would exhaust the stack of a recursive reader", () => {
    expect(decode(`{"v":${"[".repeat(100_000)}`)).toEqual(CLOSE);
  });

  it("takes 4096 values and closes on 4097", () => {
    expect(MAX_NODES).toBe(4096);
    expect(decode(populous(4096))).toMatchObject({ ok: true });
    expect(decode(populous(4097))).toEqual(CLOSE);
  });

  it("counts no keys", () => {
    expect(decode(`{${numbered(4095).join(",")}}`)).toMatchObject({ ok: true });
    expect(decode(`{${numbered(4096).join(",")}}`)).toEqual(CLOSE);
  });
});

describe("keys", () => {
  it.each(["a", "z", "a0", "a_", "a9_z", "constructor", "k".repeat(32)])("takes %j", (key) => {
    expect(decode(`{"${key}":1}`)).toStrictEqual({ ok: true, value: { [key]: 1 } });
  });

  it.each([
    "",
    "A",
    "aB",
    "0a",
    "_a",
    "__proto__",
    "a-b",
    "a b",
    "a.b",
    "a`",
    "a{",
    "a/",
    "a:",
    "é",
    "aé",
    "a\0",
    "k".repeat(33),
  ])("closes on %j", (key) => {
    expect(decode(`{"${key}":1}`)).toEqual(CLOSE);
  });

  it("has a length limit of 32 bytes", () => {
    expect(MAX_KEY_BYTES).toBe(32);
  });

  it.each(["\\u0061", "a\\u0062", "a\\n", "\\/", "a\\"])(
    "closes on the escape in %s, whatever it stands for",
    (key) => {
      expect(decode(`{"${key}":1}`)).toEqual(CLOSE);
    },
  );

  it.each([
    '{"a":1,"a":1}',
    '{"a":1,"b":2,"a":3}',
    '{"v":{"a":1,"a":2}}',
    '{"v":[{"a":{},"a":{}}]}',
    '{"a":{"a":1},"a":2}',
    '{"a":1,"b":{"a":1,"c":{}},"a":1}',
  ])("closes on a key twice in one object: %s", (text) => {
    expect(decode(text)).toEqual(CLOSE);
  });

  it.each([
    '{"a":{"a":{"a":1}}}',
    '{"v":[{"a":1},{"a":2}]}',
    '{"a":{"c":1},"b":{"c":1}}',
    '{"a":1,"aa":2,"ab":3,"b":4}',
  ])("takes the same key in other objects: %s", (text) => {
    expect(decode(text)).toStrictEqual({ ok: true, value: JSON.parse(text) });
  });

  it.each([2, 15, 16, 17, 18, 40, 4094])("finds any of %i keys repeated behind them", (count) => {
    const keys = numbered(count);
    expect(decode(`{${keys.join(",")}}`)).toMatchObject({ ok: true });
    for (const again of [0, count >> 1, count - 1]) {
      expect(decode(`{${keys.join(",")},"k${again}":0}`), `k${again}`).toEqual(CLOSE);
    }
  });
});

describe("numbers", () => {
  it.each(["0", "1", "-1", "10", "9007199254740991", "-9007199254740991"])("takes %s", (number) => {
    expect(decode(`{"n":${number}}`)).toStrictEqual({ ok: true, value: { n: Number(number) } });
  });

  it.each([
    "-0",
    "1.0",
    "0.5",
    "-0.0",
    "1e2",
    "1E2",
    "1e+2",
    "1e-2",
    "0e0",
    "1.5e3",
    "1e400",
    "9007199254740992",
    "-9007199254740992",
    "9007199254740993",
    "90071992547409910",
    "1".repeat(400),
  ])("refuses %s with SHAPE", (number) => {
    expect(decode(`{"n":${number}}`)).toEqual(refusal("SHAPE", "n"));
  });

  it.each([
    "01",
    "-01",
    "00",
    "+1",
    "1.",
    ".5",
    "-",
    "--1",
    "-.5",
    "1.e2",
    "1e",
    "1e+",
    "1e1.5",
    "1.2.3",
    "0x10",
    "1_0",
    "NaN",
    "Infinity",
    "-Infinity",
    "1n",
    "١",
  ])("closes on %s", (number) => {
    expect(decode(`{"n":${number}}`)).toEqual(CLOSE);
  });
});

describe("strings", () => {
  it.each(["", "plain", "é", "€", "😀", "\u007f", "\u2028", "\ud7ff", "\ue000", "\uffff", "\u{10ffff}"])(
    "takes %j raw",
    (text) => {
      expect(decode(`{"s":"${text}"}`)).toStrictEqual({ ok: true, value: { s: text } });
    },
  );

  it.each([
    '\\b\\f\\n\\r\\t\\/\\\\\\"',
    "\\u0000",
    "\\u00e9",
    "\\uD7FF\\uE000",
    "\\ud83d\\ude00",
    "\\uDBFF\\uDFFF",
    "\\ud800\\udc00x",
  ])("takes the escapes %s", (text) => {
    expect(decode(`{"s":"${text}"}`)).toStrictEqual({ ok: true, value: { s: JSON.parse(`"${text}"`) } });
  });

  it.each([
    "\\a",
    "\\'",
    "\\",
    "\\u",
    "\\u12",
    "\\u123g",
    "\\u123/",
    "\\u123:",
    "\\u 123",
    "\\U0041",
    "\\x41",
    "\\0",
    "\\ud800\\u12",
    "\\ud800\\udc0",
    "\\ud800\\",
    "\u0000",
    "\n",
    "\t",
    "\u001f",
  ])("closes on %j", (text) => {
    expect(decode(`{"s":"${text}"}`)).toEqual(CLOSE);
  });

  it.each([
    "\\ud800",
    "\\uDBFF",
    "\\udc00",
    "\\uDFFF",
    "\\ud800x",
    "\\ud800\\n",
    "\\ud800\\u0041",
    "\\ud800\\ud800",
    "\\ud800\\udbff",
    "\\ud800\\ue000",
    "\\udc00\\ud800",
    "\\udc00\\udc00",
    "\\ud800\\ud800\\udc00",
    "\\ud800\\udc00\\udc00",
    "\\ud800udc00",
    "\\ud800xudc00",
    "\\ud800\\ndc00",
  ])("refuses %s with TEXT_ENCODING", (text) => {
    expect(decode(`{"s":"${text}"}`)).toEqual(refusal("TEXT_ENCODING", "s"));
  });

  it.each([
    ["a lone continuation byte", [0x80]],
    ["an overlong form of two bytes", [0xc0, 0xaf]],
    ["an overlong form of two bytes at its upper end", [0xc1, 0xbf]],
    ["an overlong form of three bytes", [0xe0, 0x9f, 0xbf]],
    ["an overlong form of four bytes", [0xf0, 0x8f, 0xbf, 0xbf]],
    ["an encoded high surrogate", [0xed, 0xa0, 0x80]],
    ["an encoded low surrogate", [0xed, 0xbf, 0xbf]],
    ["an encoded surrogate pair", [0xed, 0xa0, 0xbd, 0xed, 0xb8, 0x80]],
    ["U+110000", [0xf4, 0x90, 0x80, 0x80]],
    ["a lead byte above F4", [0xf5, 0x80, 0x80, 0x80]],
    ["FE", [0xfe]],
    ["FF", [0xff]],
    ["two bytes cut short", [0xc3]],
    ["three bytes cut short", [0xe2, 0x82]],
    ["four bytes cut short", [0xf0, 0x9f, 0x98]],
    ["a bad second byte", [0xe2, 0x41, 0x82]],
    ["a bad third byte", [0xe2, 0x82, 0xc0]],
    ["a bad fourth byte", [0xf0, 0x9f, 0x98, 0x7f]],
  ])("closes on %s", (_, bytes) => {
    expect(decode('{"s":"', ...bytes, '"}')).toEqual(CLOSE);
    expect(decode('{"s":"', ...bytes)).toEqual(CLOSE);
  });

  it.each([
    [[0xc2, 0x80], "\u0080"],
    [[0xe0, 0xa0, 0x80], "\u0800"],
    [[0xed, 0x9f, 0xbf], "\ud7ff"],
    [[0xee, 0x80, 0x80], "\ue000"],
    [[0xf0, 0x90, 0x80, 0x80], "\u{10000}"],
    [[0xf4, 0x8f, 0xbf, 0xbf], "\u{10ffff}"],
  ])("takes %j, at the edge of a UTF-8 range", (bytes, text) => {
    expect(decode('{"s":"', ...bytes, '"}')).toStrictEqual({ ok: true, value: { s: text } });
  });
});

describe("faults", () => {
  it("keeps the value, so that the refusal can carry the id of the request", () => {
    expect(decode('{"id":"c-1","n":1.5}')).toStrictEqual({
      ok: true,
      value: { id: "c-1", n: 1.5 },
      fault: { detail: "SHAPE", path: ["n"] },
    });
  });

  it("names the path through objects and arrays", () => {
    expect(decode('{"a":[0,{"b":[[],1,-0]}],"c":1}')).toEqual(refusal("SHAPE", "a", 1, "b", 2));
  });

  it("reports the first in document order, of either kind", () => {
    expect(decode('{"a":{"b":1.5},"c":"\\ud800","d":[-0]}')).toEqual(refusal("SHAPE", "a", "b"));
    expect(decode('{"a":1,"c":["x","\\ud800"],"d":1e2,"e":{"f":"\\udc00"}}')).toEqual(refusal("TEXT_ENCODING", "c", 1));
  });

  it.each([
    '{"a":1.5',
    '{"a":1.5}x',
    '{"a":-0,"a":1}',
    '{"a":"\\ud800","B":1}',
    '{"a":1e2,"b":01}',
    `{"a":-0,"b":${nested(8)}}`,
  ])("closes when the message breaks behind a fault: %s", (text) => {
    expect(decode(text)).toEqual(CLOSE);
  });

  it("closes on a break behind a fault in bytes that are not UTF-8", () => {
    expect(decode('{"a":-0,"b":"', 0xff, '"}')).toEqual(CLOSE);
  });
});
