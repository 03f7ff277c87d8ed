import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { sanitize } from "../../src/client/sanitize.js";
import { checkText } from "../../src/protocol/text.js";

/** The characters that the rules turn on, often enough that they meet; some of them only half of a pair. */
const ruleUnit = fc.constantFrom(
  ..."a1# \n\t\r\u00ad\u0301\u034f\u064b\u0645\u094d\u0915\u200b\u200c\u200d\u202e\u2028\u2764\ufe0f\ufeff\ue000".split(
    "",
  ),
  "\u0301".repeat(8),
  "\u094d".repeat(5),
  "\u{1F3FD}",
  "\u{1F469}",
  "\u{1F469}\u200d\u{1F4BB}",
  "\u{E0041}",
  "\u{10FFFF}",
  "\ud83d",
  "\udc69",
);
const text = fc.oneof(
  fc.array(ruleUnit, { maxLength: 30 }).map((units) => units.join("")),
  fc.string({ unit: "binary", maxLength: 40 }),
  fc.array(fc.integer({ min: 0, max: 0xffff }), { maxLength: 40 }).map((units) => String.fromCharCode(...units)),
);

const RUNS = { numRuns: 10_000, seed: 1 };

describe("sanitize", () => {
  it("leaves a text that passes text policy 1, or is blank and says so [A2C-TXT-01]", () => {
    const property = fc.property(text, (given) => {
      const { text: left, blank } = sanitize(given);
      expect(checkText(left)?.detail).toBe(blank ? "TEXT_BLANK" : undefined);
    });
    fc.assert(property, RUNS);
  });

  it("finds nothing the second time", () => {
    const property = fc.property(text, (given) => {
      const once = sanitize(given);
      expect(sanitize(once.text)).toEqual({ text: once.text, blank: once.blank, removed: [] });
    });
    fc.assert(property, RUNS);
  });

  it("lets a text that passes be as it is", () => {
    const property = fc.property(text, (given) => {
      fc.pre(checkText(given) === undefined);
      expect(sanitize(given)).toEqual({ text: given, blank: false, removed: [] });
    });
    fc.assert(property, RUNS);
  });

  it("says all that it removed, and where: put back, the text is whole again", () => {
    const property = fc.property(text, (given) => {
      const { text: left, removed } = sanitize(given);
      const units: (string | undefined)[] = Array.from({ length: given.length });
      for (const { codePoint, count, at } of removed) {
        expect(at).toHaveLength(count);
        expect(at).toEqual([...new Set(at)].sort((a, b) => a - b));
        for (const place of at) {
          const char = String.fromCodePoint(codePoint);
          for (let unit = 0; unit < char.length; unit += 1) units[place + unit] = char.charAt(unit);
        }
      }
      const rest = left.split("");
      expect(units.map((unit) => unit ?? rest.shift()).join("")).toBe(given);
      expect(rest).toEqual([]);
      const codePoints = removed.map(({ codePoint }) => codePoint);
      expect(codePoints).toEqual([...new Set(codePoints)].sort((a, b) => a - b));
    });
    fc.assert(property, RUNS);
  });
});
