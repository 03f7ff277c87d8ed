import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { printable, printableJson } from "../../../src/cli/terminal/printable.js";
import { tableLines } from "../../../src/cli/terminal/table.js";
import { cellsOf, cut, wrap } from "../../../src/cli/terminal/width.js";

/** Texts as hostile as they come: any code points, with those that terminals act on among them often. */
const hostile = fc.string({
  unit: fc.oneof(
    fc.string({ unit: "binary", minLength: 1, maxLength: 1 }),
    fc.integer({ min: 0, max: 0x9f }).map((code) => String.fromCodePoint(code)),
    fc.constantFrom("\u001b[2J", "\u009b31m", "\u202e", "\u2066", "\u200b", "\u2028", "\ufeff", "\ud800", "日", "👩‍💻"),
  ),
});

const MOVES = /[\u0000-\u001f\u007f-\u009f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ud800-\udfff]/;
/** Surrogates of a pair are one code point under the flag `u`. */
const moves = (text: string): boolean => new RegExp(MOVES.source, "u").test(text);

describe("printable", () => {
  it.each([
    ["plain text, ümlaut, 日本語", "plain text, ümlaut, 日本語"],
    ["\u001b[2J\u001b[1;1Hgone", "\\u{1b}[2J\\u{1b}[1;1Hgone"],
    ["\u009b31m", "\\u{9b}31m"],
    ["\u001b]0;title\u0007", "\\u{1b}]0;title\\u{7}"],
    ["two\nlines\tand\rback", "two\\nlines\\tand\\rback"],
    ["\u202edrowssap\u2069", "\\u{202e}drowssap\\u{2069}"],
    ["zero\u200bwidth\u2028line\ufeff", "zero\\u{200b}width\\u{2028}line\\u{feff}"],
    ["half \ud800 pair", "half \\u{d800} pair"],
    ["filler \u3164 here", "filler \\u{3164} here"],
    ["\u{e000}\u{10ffff}", "\\u{e000}\\u{10ffff}"],
  ])("writes %j as %j", (text, shown) => {
    expect(printable(text)).toBe(shown);
  });

  it("leaves nothing that moves a cursor, turns text or hides, whatever it is given", () => {
    fc.assert(
      fc.property(hostile, (text) => {
        expect(moves(printable(text))).toBe(false);
      }),
    );
  });
});

describe("printableJson", () => {
  it("escapes as JSON does what is not printable, and leaves the rest", () => {
    const value = { text: "日本\u009b2J\u202e\u{e0001}\u001b[H" };
    expect(printableJson(value)).toBe('{"text":"日本\\u009b2J\\u202e\\udb40\\udc01\\u001b[H"}');
    expect(printableJson([1], 2)).toBe("[\n  1\n]");
  });

  it("is the same value, without anything that a terminal acts on", () => {
    fc.assert(
      fc.property(hostile, (text) => {
        const json = printableJson({ text });
        expect(moves(json)).toBe(false);
        expect(JSON.parse(json)).toEqual({ text });
      }),
    );
  });
});

describe("cellsOf", () => {
  it.each([
    ["abc", 3],
    ["日本", 4],
    ["e\u0301", 1],
    ["한", 2],
    ["🚀", 2],
    ["❤️", 2],
    ["ａ", 2],
    ["", 0],
  ])("counts %j as %i", (text, cells) => {
    expect(cellsOf(text)).toBe(cells);
  });
});

describe("cut", () => {
  it.each([
    ["abcdef", 6, "abcdef"],
    ["abcdef", 5, "abcd…"],
    ["日本語", 5, "日本…"],
    ["日本語", 4, "日…"],
    ["abc", 1, "…"],
  ])("cuts %j to %i cells: %j", (text, cells, shown) => {
    expect(cut(text, cells)).toBe(shown);
  });
});

describe("wrap", () => {
  it("breaks at blanks and keeps every word", () => {
    expect(wrap("one two three four", 9)).toEqual(["one two", "three", "four"]);
    expect(wrap("a-word-that-is-too-long x", 6)).toEqual(["a-word-that-is-too-long", "x"]);
    expect(wrap("", 9)).toEqual([""]);
  });
});

describe("tableLines", () => {
  const columns = [
    { title: "NAME", cell: ({ name }: { name: string }) => name },
    { title: "TEXT", cell: ({ text }: { text?: string }) => text },
  ];

  it("puts columns below their titles", () => {
    const records = [{ name: "a", text: "first" }, { name: "longer" }];
    expect(tableLines(columns, records, { cells: undefined })).toEqual(["NAME    TEXT", "a       first", "longer  -"]);
  });

  it("cuts the widest columns where the terminal ends, the last one half as much", () => {
    const records = [{ name: "n".repeat(30), text: "t".repeat(90) }];
    expect(tableLines(columns, records, { cells: 40 })).toEqual([
      "NAME          TEXT",
      `${"n".repeat(11)}…  ${"t".repeat(25)}…`,
    ]);
  });

  it("is one line a record, no wider than the terminal, whatever the texts", () => {
    fc.assert(
      fc.property(
        fc.array(fc.record({ name: hostile, text: hostile })),
        fc.integer({ min: 20, max: 200 }),
        (records, cells) => {
          const lines = tableLines(columns, records, { cells });
          expect(lines).toHaveLength(records.length + 1);
          for (const line of lines) {
            expect(cellsOf(line)).toBeLessThanOrEqual(cells);
            expect(moves(line)).toBe(false);
          }
        },
      ),
    );
  });
});
