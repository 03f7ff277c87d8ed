import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { checkText, describeTextFault, utf8Bytes } from "../../src/protocol/text.js";

/**
 * Blocks and pictographs whose properties are the same in every Unicode version since 15, so that the oracle gives one
 * answer on each Node. Spacing modifiers (U+02B0..) and most of U+2600.. are left out for that reason.
 */
const STABLE_RANGES = [
  [0x0000, 0x00b6],
  [0x00b9, 0x00ff],
  [0x0315, 0x0322],
  [0x034f, 0x0357],
  [0x0600, 0x06ff],
  [0x0900, 0x097f],
  [0x0980, 0x09b9],
  [0x0d85, 0x0dca],
  [0x0e01, 0x0e3a],
  [0x115f, 0x1160],
  [0x180b, 0x180e],
  [0x2000, 0x204e],
  [0x2060, 0x206f],
  [0x20d0, 0x20f0],
  [0x2764, 0x2764],
  [0x4e00, 0x4e20],
  [0xdc00, 0xdc0f],
  [0xd800, 0xd80f],
  [0xe000, 0xe00f],
  [0xfdd0, 0xfdef],
  [0xfe00, 0xfe0f],
  [0xfff0, 0xffff],
  [0x1f3fb, 0x1f3ff],
  [0x1f400, 0x1f43f],
  [0x1f468, 0x1f469],
  [0x1fffe, 0x1ffff],
  [0xe0000, 0xe01ff],
  [0x10fff0, 0x10ffff],
] as const;

const stableUnit = fc.oneof(...STABLE_RANGES.map(([min, max]) => fc.integer({ min, max }))).map(toText);
/** The characters that rules turn on, often enough that they meet. */
const ruleUnit = fc.constantFrom(
  "a",
  "1",
  "#",
  " ",
  "\n",
  "\r",
  "\u0301",
  "\u064B",
  "\u0645",
  "\u06F5",
  "\u094D",
  "\u0915",
  "\u0937",
  "\u200B",
  "\u200C",
  "\u200D",
  "\u2764",
  "\uFE0F",
  "\u{1F3FD}",
  "\u{1F469}",
  "\u{1F525}",
);
const stableText = fc
  .array(fc.oneof({ weight: 3, arbitrary: ruleUnit }, { weight: 1, arbitrary: stableUnit }), { maxLength: 24 })
  .map((units) => units.join(""));
const markHeavyText = fc
  .array(
    fc.constantFrom("\u0947", "\u0947\u0947\u0947", "\u0301", "\u{11301}", "\u0915", "\u200D", "a", "\u2764\uFE0F"),
    {
      maxLength: 16,
    },
  )
  .map((units) => units.join(""));
const anyText = fc.oneof(
  fc.string({ unit: "binary", maxLength: 40 }),
  fc.array(fc.integer({ min: 0, max: 0xffff }), { maxLength: 40 }).map((units) => String.fromCharCode(...units)),
  stableText,
);

function toText(codePoint: number): string {
  return String.fromCodePoint(codePoint);
}

const SCRIPTS = ["Arab", "Deva", "Beng", "Guru", "Gujr", "Orya", "Taml", "Telu", "Knda", "Mlym", "Sinh"]
  .map((script) => String.raw`\p{scx=${script}}`)
  .join("");
const WORD = String.raw`[[[${SCRIPTS}]&&[\p{L}\p{M}\p{Nd}]]--\p{scx=Latn}]`;
/** The longest start of a text without a hidden character out of place, as the policy words it. */
const VISIBLE_START = new RegExp(
  "^(?:" +
    [
      String.raw`[^\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{DI}\p{Co}\p{NChar}]`,
      String.raw`[\n\t]`,
      String.raw`(?<=\p{Emoji})\uFE0F`,
      String.raw`(?<=\p{ExtPict}[\p{EMod}\uFE0F]?)\u200D(?=\p{ExtPict})`,
      String.raw`(?<=[${WORD}--\p{M}][${WORD}&&\p{M}]*)[\u200C\u200D](?=${WORD})`,
    ].join("|") +
    ")*",
  "v",
);
const NINTH_MARK = /(?<=(?:\p{M}[\u200C\u200D]*){8})\p{M}/u;
const LONE_SURROGATE = /\p{Cs}/u;
const BLANK = /^\p{White_Space}*$/u;

function oracle(text: string): { detail: string; at: number } | undefined {
  const lone = text.search(LONE_SURROGATE);
  if (lone >= 0) return { detail: "TEXT_ENCODING", at: lone };
  if (BLANK.test(text)) return { detail: "TEXT_BLANK", at: 0 };
  const visible = VISIBLE_START.exec(text)?.[0].length ?? 0;
  const ninth = text.search(NINTH_MARK);
  const at = ninth >= 0 && ninth < visible ? ninth : visible;
  return at === text.length ? undefined : { detail: "TEXT_HIDDEN", at };
}

describe("checkText", () => {
  it.each([
    ["mixed texts", stableText, 20_000],
    ["runs of marks and joiners", markHeavyText, 5_000],
  ] as const)("agrees with the policy written as regular expressions on %s", (_, texts, numRuns) => {
    fc.assert(
      fc.property(texts, (text) => {
        const fault = checkText(text);
        expect(fault && { detail: fault.detail, at: fault.at }).toEqual(oracle(text));
      }),
      { numRuns },
    );
  });

  it("answers the same for any UTF-16 string, names the code point at its index, and never throws", () => {
    fc.assert(
      fc.property(anyText, (text) => {
        const fault = checkText(text);
        expect(checkText(text)).toEqual(fault);
        const named = fault === undefined || fault.detail === "TEXT_BLANK" ? undefined : text.codePointAt(fault.at);
        expect(fault?.codePoint).toBe(named);
      }),
      { numRuns: 5_000 },
    );
  });
});

describe("describeTextFault", () => {
  it("writes one printable ASCII sentence that passes checkText itself", () => {
    fc.assert(
      fc.property(anyText, (text) => {
        const fault = checkText(text);
        fc.pre(fault !== undefined);
        const sentence = describeTextFault(fault);
        expect(sentence).toMatch(/^The text [ -~]+\.$/);
        expect(checkText(sentence)).toBeUndefined();
      }),
      { numRuns: 2_000 },
    );
  });
});

describe("utf8Bytes", () => {
  it("equals the length of the encoded text", () => {
    fc.assert(
      fc.property(anyText, (text) => {
        expect(utf8Bytes(text)).toBe(Buffer.byteLength(text, "utf8"));
      }),
      { numRuns: 5_000 },
    );
  });
});
