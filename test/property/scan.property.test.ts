import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Decoded, Fault } from "../../src/codec/codec.js";
import { jsonCodec } from "../../src/codec/json.js";
import { scanJson } from "../../src/codec/scan-json.js";

const RUNS = { numRuns: 3000 };
const CLOSE: Decoded = { ok: false };
const KEY = /^[a-z][a-z0-9_]{0,31}$/;

interface Walk {
  nodes: number;
  depth: number;
  keys: string[];
  leaves: { path: (string | number)[]; value: unknown }[];
}

function walk(value: unknown, path: (string | number)[], into: Walk): Walk {
  into.nodes += 1;
  if (typeof value !== "object" || value === null) {
    into.leaves.push({ path, value });
    return into;
  }
  into.depth = Math.max(into.depth, path.length + 1);
  const list = Array.isArray(value);
  if (!list) into.keys.push(...Object.keys(value));
  for (const [step, child] of Object.entries(value)) walk(child, [...path, list ? Number(step) : step], into);
  return into;
}

function parse(bytes: Uint8Array): { text: string; value: unknown } | undefined {
  try {
    const text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
    return { text, value: JSON.parse(text) };
  } catch {
    return undefined;
  }
}

function faultOf(token: string, value: unknown): Fault["detail"] | undefined {
  if (typeof value === "string") return /\p{Surrogate}/u.test(value) ? "TEXT_ENCODING" : undefined;
  if (typeof value !== "number") return undefined;
  return /^(?:0|-?[1-9]\d*)$/.test(token) && Number.isSafeInteger(value) ? undefined : "SHAPE";
}

/** The profile said a second way: the platform's decoders judge the syntax, then tokens and leaves, both in document order, are compared. */
function reference(bytes: Uint8Array): Decoded {
  const parsed = parse(bytes);
  if (parsed === undefined) return CLOSE;
  const { text, value } = parsed;
  if (typeof value !== "object" || value === null || Array.isArray(value)) return CLOSE;
  const { nodes, depth, keys, leaves } = walk(value, [], { nodes: 0, depth: 0, keys: [], leaves: [] });
  const tokens = [...text.matchAll(/("(?:[^"\\]|\\.)*")(\s*:)?|-?\d[-+.\deE]*|true|false|null/gs)];
  const written = tokens.filter((token) => token[2] !== undefined).map((token) => String(token[1]).slice(1, -1));
  const repeated = written.length !== keys.length;
  if (nodes > 4096 || depth > 8 || repeated || !written.every((key) => KEY.test(key))) return CLOSE;
  const scalars = tokens.filter((token) => token[2] === undefined).map((token) => token[0]);
  expect(scalars).toHaveLength(leaves.length);
  for (const [index, leaf] of leaves.entries()) {
    const detail = faultOf(String(scalars[index]), leaf.value);
    if (detail !== undefined) return { ok: true, value, fault: { detail, path: leaf.path } };
  }
  return { ok: true, value };
}

function agrees(bytes: Uint8Array): void {
  const expected = reference(bytes);
  expect(jsonCodec.decode(bytes)).toStrictEqual(expected);
  // The scanner alone: it must not lean on JSON.parse to reject.
  expect(scanJson(bytes).ok).toBe(expected.ok);
}

const key = fc.oneof(fc.constantFrom("a", "b", "type", "id"), fc.stringMatching(KEY));
const scalar = fc.oneof(
  fc.constant(null),
  fc.boolean(),
  fc.maxSafeInteger(),
  fc.string({ unit: "binary" }),
  fc.string(),
);

function objectOf(value: fc.Arbitrary<unknown>): fc.Arbitrary<object> {
  return fc.dictionary(key, value, { maxKeys: 5, noNullPrototype: true });
}

/** Objects of the profile, of at most `depth` containers. */
function frameOf(depth: number): fc.Arbitrary<object> {
  let value: fc.Arbitrary<unknown> = scalar;
  for (let level = 1; level < depth; level += 1) {
    value = fc.oneof(
      { arbitrary: scalar, weight: 2 },
      { arbitrary: fc.array(value, { maxLength: 4 }), weight: 1 },
      { arbitrary: objectOf(value), weight: 1 },
    );
  }
  return objectOf(value);
}

const frame = frameOf(8);

/** Pieces that make, or nearly make, JSON. */
const piece = fc.constantFrom(
  ...'{}[]:,"\\-+.eEu0189dDcfa_ \n\0/'.split(""),
  '"a"',
  '"a":',
  '"b":1',
  "{}",
  "[]",
  "true",
  "null",
  "-0",
  "1.0",
  "1e2",
  "01",
  "9007199254740991",
  "9007199254740992",
  '"x"',
  '"é😀"',
  "\\ud800",
  "\\udc00",
  "\\ud83d\\ude00",
  '"\\uDBFF"',
  '"\\n"',
  "\\u0061",
  "\ufeff",
);
const rawBytes = fc.oneof(
  { arbitrary: piece.map((text) => Buffer.from(text)), weight: 4 },
  { arbitrary: fc.uint8Array({ minLength: 1, maxLength: 4 }), weight: 1 },
);
const edit = fc.record({
  at: fc.nat(),
  remove: fc.nat({ max: 3 }),
  insert: fc.option(rawBytes, { nil: new Uint8Array() }),
});

const mutated = fc.tuple(frame, fc.array(edit, { minLength: 1, maxLength: 3 })).map(([value, edits]) => {
  let bytes = Buffer.from(JSON.stringify(value));
  for (const { at, remove, insert } of edits) {
    const from = at % (bytes.length + 1);
    bytes = Buffer.concat([bytes.subarray(0, from), insert, bytes.subarray(from + remove)]);
  }
  return bytes;
});

describe("the JSON scanner", () => {
  it("judges arbitrary bytes as the reference does", () => {
    fc.assert(fc.property(fc.uint8Array({ maxLength: 64 }), agrees), RUNS);
  });

  it("judges arbitrary bytes within a string as the reference does", () => {
    const bytes = fc
      .array(rawBytes, { maxLength: 6 })
      .map((parts) => Buffer.concat([Buffer.from('{"s":"'), ...parts, Buffer.from('"}')]));
    fc.assert(fc.property(bytes, agrees), RUNS);
  });

  it("judges mutated JSON as the reference does", () => {
    fc.assert(fc.property(mutated, agrees), RUNS);
  });

  it("judges strings of JSON pieces as the reference does", () => {
    const text = fc.array(piece, { maxLength: 12 }).map((pieces) => pieces.join(""));
    fc.assert(
      fc.property(text, fc.boolean(), (pieces, within) =>
        agrees(Buffer.from(within ? `{"v":${pieces}}` : `{${pieces}}`)),
      ),
      RUNS,
    );
  });

  it("judges any scalar in place of one in a frame as the reference does", () => {
    const off = fc.oneof(
      fc.double({ noNaN: true, noDefaultInfinity: true }),
      fc.constantFrom(-0, 2 ** 53, 1e300),
      fc.string({ unit: fc.constantFrom("a", "\ud800", "\udc00") }),
    );
    const value = fc.oneof(scalar, off);
    const nested = objectOf(fc.oneof(value, fc.array(value, { maxLength: 3 }), objectOf(value)));
    // JSON.stringify writes -0 as 0.
    const text = nested.map((object) =>
      JSON.stringify(object, (_, item: unknown) => (Object.is(item, -0) ? "<minus zero>" : item)).replaceAll(
        '"<minus zero>"',
        "-0",
      ),
    );
    fc.assert(
      fc.property(text, (json) => agrees(Buffer.from(json))),
      RUNS,
    );
  });

  it("gives back every frame of the profile, however it is spaced", () => {
    fc.assert(
      fc.property(frame, fc.constantFrom(undefined, 1, "\t", "\n \r"), (value, space) => {
        expect(jsonCodec.decode(Buffer.from(JSON.stringify(value, null, space)))).toStrictEqual({ ok: true, value });
        expect(jsonCodec.decode(Buffer.from(jsonCodec.encode(value)))).toStrictEqual({ ok: true, value });
      }),
      RUNS,
    );
  });
});
