import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { decodeId, encodeId, isCorrectionId, isId } from "../../../src/protocol/index.js";

const GOOD = "!#$%&'()*+,-./0123456789:;=?@ABCDEFGHIJKLMNOPQRSTUVWXYZ[]^_abcdefghijklmnopqrstuvwxyz{|}~".split("");

describe("isId", () => {
  it.each(["2162", "ENG-12", "owner/repo#2162", "a:worker:b", "internal/a2achan/", ".hidden", "a.b.c", "*", "%2F"])(
    "takes %s",
    (id) => {
      expect(isId(id)).toBe(true);
    },
  );

  it("takes exactly the characters of the grammar, of all UTF-16 units [A2C-ID-01]", () => {
    const taken: string[] = [];
    for (let unit = 0; unit <= 0xffff; unit += 1) {
      if (isId(String.fromCharCode(unit))) taken.push(String.fromCharCode(unit));
    }
    expect(taken).toEqual(GOOD);
  });

  it("takes 1 to 128 characters [A2C-ID-01]", () => {
    expect([0, 1, 128, 129].map((length) => isId("x".repeat(length)))).toEqual([false, true, true, false]);
  });

  it.each([
    "a..b",
    "..",
    "a//b",
    "http://x",
    "a b",
    "a\n",
    "a\u0000",
    "caf\u00e9",
    "\u0430",
    'a"b',
    "a\\b",
    "a<b",
    "a`",
  ])("refuses %j [A2C-ID-01] [A2C-ID-02]", (id) => {
    expect(isId(id)).toBe(false);
  });
});

describe("isCorrectionId", () => {
  const hex = "0123456789abcdef0123456789abcdef";

  it.each([
    [`corr_${hex}`, true],
    [`corr_${hex.toUpperCase()}`, false],
    [`corr_${hex.slice(1)}`, false],
    [`corr_${hex}0`, false],
    [`corr_${hex}\n`, false],
    [` corr_${hex}`, false],
    [hex, false],
    [`corr-${hex}`, false],
  ])("%j is %s [A2C-ID-05]", (id, is) => {
    expect(isCorrectionId(id)).toBe(is);
  });
});

describe("encodeId", () => {
  it.each<[string | number, string]>([
    [2162, "2162"],
    ["owner/repo#2162", "owner/repo#2162"],
    ["my lane", "my%20lane"],
    ["C:\\repo", "C:%5Crepo"],
    ["caf\u00e9", "caf%C3%A9"],
    ["\u{1F680}", "%F0%9F%9A%80"],
    ["a..b", "a.%2Eb"],
    ["a...b", "a.%2E.b"],
    ["http://x", "http:/%2Fx"],
    ["100%", "100%25"],
    ["a%20b", "a%2520b"],
    ["a\nb", "a%0Ab"],
  ])("writes %j as %s [A2C-ID-06]", (text, id) => {
    expect(encodeId(text)).toBe(id);
    expect(decodeId(id)).toBe(String(text));
  });

  it.each([
    ["nothing", ""],
    ["half a surrogate pair", "a\ud83d"],
    ["what is too long", "\u00e9".repeat(22)],
    ["a number that may have been rounded", 2 ** 53],
    ["a fraction", 1.5],
    ["no number", Number.NaN],
  ])("throws a RangeError for %s", (_, text) => {
    expect(() => encodeId(text)).toThrow(RangeError);
  });

  it("gives an id, and the text back, for any text that fits [A2C-ID-06] [A2C-ID-07]", () => {
    const unit = fc.oneof(
      { weight: 2, arbitrary: fc.constantFrom(".", "/", "%", " ", "a", "b", "\\") },
      fc.string({ unit: "binary", maxLength: 1 }),
    );
    fc.assert(
      fc.property(fc.array(unit, { minLength: 1, maxLength: 10 }), (units) => {
        const text = units.join("");
        fc.pre(text !== "" && text.isWellFormed());
        const id = encodeId(text);
        expect(isId(id)).toBe(true);
        expect(decodeId(id)).toBe(text);
        expect(id === text).toBe(isId(text) && !text.includes("%"));
      }),
      { numRuns: 5_000, seed: 1 },
    );
  });
});

describe("decodeId", () => {
  it.each(["w%2D1", "%e2%82%ac", "a%", "%GG", "%C3", "%25%2"])("leaves %s, which nothing is encoded as", (id) => {
    expect(decodeId(id)).toBe(id);
  });

  it("gives two ids never one text", () => {
    const unit = fc.constantFrom("%", "2", "E", "e", "4", "1", "5", ".", "/", "A");
    const id = fc
      .array(unit, { minLength: 1, maxLength: 6 })
      .map((units) => units.join(""))
      .filter(isId);
    fc.assert(
      fc.property(id, id, (a, b) => {
        fc.pre(a !== b);
        expect(decodeId(a)).not.toBe(decodeId(b));
      }),
      { numRuns: 5_000, seed: 1 },
    );
  });
});
