import { describe, expect, it } from "vitest";
import { sanitize } from "../../../src/client/sanitize.js";

describe("sanitize", () => {
  it.each<[what: string, given: string, left: string, removed: unknown[]]>([
    ["nothing of a clean text", "Keep\n\tthe parser.", "Keep\n\tthe parser.", []],
    ["nothing of an emoji sequence", "\u{1F469}\u{1F3FD}\u200d\u{1F4BB}", "\u{1F469}\u{1F3FD}\u200d\u{1F4BB}", []],
    ["carriage returns", "a\r\nb\r\n", "a\nb\n", [{ codePoint: 0x0d, count: 2, at: [1, 4] }]],
    [
      "tags and bidi controls, each with its places in the text that was given",
      "a\u{E0041}b\u202ec\u{E0041}",
      "abc",
      [
        { codePoint: 0x202e, count: 1, at: [4] },
        { codePoint: 0xe0041, count: 2, at: [1, 6] },
      ],
    ],
    ["half of a pair", "a\ud83db", "ab", [{ codePoint: 0xd83d, count: 1, at: [1] }]],
    [
      "the ninth mark of a row",
      `e${"\u0301".repeat(9)}!`,
      `e${"\u0301".repeat(8)}!`,
      [{ codePoint: 0x301, count: 1, at: [9] }],
    ],
    [
      "a joiner whose other side is gone",
      `\u0915${"\u0947".repeat(8)}\u200d\u0947`,
      `\u0915${"\u0947".repeat(8)}`,
      [
        { codePoint: 0x947, count: 1, at: [10] },
        { codePoint: 0x200d, count: 1, at: [9] },
      ],
    ],
  ])("removes %s", (_what, given, left, removed) => {
    expect(sanitize(given)).toEqual({ text: left, blank: false, removed });
  });

  it.each(["", " \n", "\u200b", "\ud800\u3000"])("says that nothing is left of %j", (given) => {
    expect(sanitize(given)).toMatchObject({ blank: true });
  });

  it("takes time that grows with the text alone, whatever it holds", () => {
    const given = "\u0915\u0947\u200d\u200b\u0947".repeat(40_000);
    const { removed } = sanitize(given);
    expect(removed.reduce((sum, { count }) => sum + count, 0)).toBeGreaterThan(40_000);
  });
});
