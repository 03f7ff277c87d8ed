import { EMOJI, HIDDEN, JOINED_SCRIPTS, MARKS, PICTOGRAPHS, SKIN_TONES, WHITE_SPACE } from "./text-table.js";

export { TEXT_POLICY } from "./text-table.js";

/** Why free text is refused: the first fault in the order of the details, and within one detail the first in the text. */
export type TextFault = {
  readonly detail: "TEXT_BLANK" | "TEXT_HIDDEN" | "TEXT_ENCODING";
  /** UTF-16 index of the offending code point, from 0. */
  readonly at: number;
  /** Absent for TEXT_BLANK. */
  readonly codePoint?: number;
};

/** Combining marks (General_Category M*) that may stand in a row. */
const MAX_MARKS = 8;

const ZERO_WIDTH_NON_JOINER = 0x200c;
const ZERO_WIDTH_JOINER = 0x200d;
const EMOJI_PRESENTATION = 0xfe0f;

/** No code point: before the start or after the end of the text. */
const NONE = -1;

/** Length of the text in UTF-8 bytes, without encoding it; a lone surrogate counts 3, as its replacement character. */
export function utf8Bytes(text: string): number {
  let bytes = text.length;
  for (let at = 0; at < text.length; at += 1) {
    const unit = text.charCodeAt(at);
    if (unit < 0x80) continue;
    if (unit < 0x800) {
      bytes += 1;
    } else {
      bytes += 2;
      // A pair is 2 units and 4 bytes: what its first half adds covers both.
      if (isHighSurrogate(unit) && isLowSurrogate(text.charCodeAt(at + 1))) at += 1;
    }
  }
  return bytes;
}

/**
 * Text policy 1 (PROTOCOL.md section 2): text is accepted as it is or refused, never stripped or normalised.
 * TEXT_ENCODING is a lone surrogate, TEXT_BLANK nothing but White_Space, TEXT_HIDDEN a character that people do not see.
 * The verdict depends on the frozen table alone, so it replays on every runtime. Total; length limits are not checked here.
 */
export function checkText(text: string): TextFault | undefined {
  if (isVisibleAscii(text)) return undefined;
  return findLoneSurrogate(text) ?? findBlank(text) ?? textFaults(text).next().value;
}

/** Most texts: printable ASCII, \n and \t, and not blank. */
function isVisibleAscii(text: string): boolean {
  let visible = false;
  for (let at = 0; at < text.length; at += 1) {
    const unit = text.charCodeAt(at);
    if (unit > 0x20 && unit < 0x7f) visible = true;
    else if (unit !== 0x20 && unit !== 0x0a && unit !== 0x09) return false;
  }
  return visible;
}

function findLoneSurrogate(text: string): TextFault | undefined {
  for (let at = 0; at < text.length; at += 1) {
    const unit = text.charCodeAt(at);
    if (isHighSurrogate(unit) && isLowSurrogate(text.charCodeAt(at + 1))) at += 1;
    else if (isHighSurrogate(unit) || isLowSurrogate(unit)) return { detail: "TEXT_ENCODING", at, codePoint: unit };
  }
  return undefined;
}

function findBlank(text: string): TextFault | undefined {
  for (let at = 0; at < text.length; at += 1) {
    if (!isIn(WHITE_SPACE, text.charCodeAt(at))) return undefined;
  }
  return { detail: "TEXT_BLANK", at: 0 };
}

/**
 * Every code point that the policy refuses, in order. Each is judged in the text as it stands, as if those refused
 * before it did not count as marks.
 */
export function* textFaults(text: string): Generator<Required<TextFault>, undefined> {
  let marks = 0;
  for (let at = 0, codePoint = NONE; at < text.length; at += unitsOf(codePoint)) {
    codePoint = codePointAt(text, at);
    if (isSurrogate(codePoint)) {
      yield { detail: "TEXT_ENCODING", at, codePoint };
    } else if (isIn(HIDDEN, codePoint) && !isInPlace(text, at, codePoint)) {
      yield { detail: "TEXT_HIDDEN", at, codePoint };
    } else if (isIn(MARKS, codePoint)) {
      if (marks < MAX_MARKS) marks += 1;
      else yield { detail: "TEXT_HIDDEN", at, codePoint };
    } else if (!isJoiner(codePoint)) {
      // A joiner does not end the run: marks on both sides of it stack on the same letter.
      marks = 0;
    }
  }
}

/** Whether a hidden character stands where writing needs it. */
function isInPlace(text: string, at: number, codePoint: number): boolean {
  if (codePoint === EMOJI_PRESENTATION) return isIn(EMOJI, codePointBefore(text, at));
  if (codePoint === ZERO_WIDTH_JOINER) return joinsPictographs(text, at) || joinsWord(text, at);
  return codePoint === ZERO_WIDTH_NON_JOINER && joinsWord(text, at);
}

/** Pictograph, at most one skin tone or U+FE0F, the joiner at `at`, pictograph. */
function joinsPictographs(text: string, at: number): boolean {
  if (!isIn(PICTOGRAPHS, codePointAt(text, at + 1))) return false;
  const before = codePointBefore(text, at);
  if (before !== EMOJI_PRESENTATION && !isIn(SKIN_TONES, before)) return isIn(PICTOGRAPHS, before);
  return isIn(PICTOGRAPHS, codePointBefore(text, at - unitsOf(before)));
}

/**
 * Letter or digit, any marks (a virama, vowel signs), the joiner at `at`, then a letter, digit or mark, all of them of
 * an Arabic or Indic script. The walk ends at the last joiner, so that all walks of a text together are linear.
 */
function joinsWord(text: string, at: number): boolean {
  if (!isIn(JOINED_SCRIPTS, codePointAt(text, at + 1))) return false;
  let end = at;
  let before = codePointBefore(text, end);
  while (isIn(MARKS, before) && isIn(JOINED_SCRIPTS, before)) {
    end -= unitsOf(before);
    before = codePointBefore(text, end);
  }
  return isIn(JOINED_SCRIPTS, before);
}

/** `ranges` are sorted pairs of first and last code point. */
function isIn(ranges: readonly number[], codePoint: number): boolean {
  let low = 0;
  let high = ranges.length / 2;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (codePoint > (ranges[2 * middle + 1] ?? NONE)) low = middle + 1;
    else high = middle;
  }
  return codePoint >= (ranges[2 * low] ?? Infinity);
}

function codePointAt(text: string, at: number): number {
  return text.codePointAt(at) ?? NONE;
}

function codePointBefore(text: string, at: number): number {
  if (at <= 0) return NONE;
  return codePointAt(text, at >= 2 && isLowSurrogate(text.charCodeAt(at - 1)) ? at - 2 : at - 1);
}

function unitsOf(codePoint: number): number {
  return codePoint > 0xffff ? 2 : 1;
}

function isJoiner(codePoint: number): boolean {
  return codePoint === ZERO_WIDTH_NON_JOINER || codePoint === ZERO_WIDTH_JOINER;
}

function isSurrogate(codePoint: number): boolean {
  return codePoint >= 0xd800 && codePoint <= 0xdfff;
}

function isHighSurrogate(unit: number): boolean {
  return unit >= 0xd800 && unit <= 0xdbff;
}

function isLowSurrogate(unit: number): boolean {
  return unit >= 0xdc00 && unit <= 0xdfff;
}

type Words = readonly [name: string, advice: string];

const BIDI: Words = ["a bidi control", "remove it, it changes the order in which text is shown"];
const CONTROL: Words = ["a control character", "remove it, only newline and tab are allowed"];
const PRIVATE: Words = ["a private-use character", "remove it, it has no agreed meaning"];
const SELECTOR: Words = ["a variation selector", "remove it, only one U+FE0F directly after an emoji is allowed"];
const TAG: Words = ["a tag character", "remove it, people do not see it and models may read it"];
const ZERO_WIDTH: Words = ["a zero-width character", "remove it"];
const NONCHARACTER: Words = ["a noncharacter", "remove it"];
const OTHER: Words = ["an invisible or format character", "remove it"];

/** The first match counts. */
const HIDDEN_WORDS: readonly (readonly [first: number, last: number, words: Words])[] = [
  [0x0d, 0x0d, ["a carriage return", "replace each \\r\\n by \\n"]],
  [0x00, 0x1f, CONTROL],
  [0x7f, 0x9f, CONTROL],
  [0xad, 0xad, ["a soft hyphen", "remove it or write a plain hyphen"]],
  [0x61c, 0x61c, BIDI],
  [0x180e, 0x180e, ZERO_WIDTH],
  [0x180b, 0x180f, SELECTOR],
  [0x200b, 0x200b, ZERO_WIDTH],
  [0x200c, 0x200c, ["a zero-width non-joiner", "remove it outside Arabic- and Indic-script words"]],
  [0x200d, 0x200d, ["a zero-width joiner", "remove it outside emoji and Arabic- and Indic-script words"]],
  [0x200e, 0x200f, BIDI],
  [0x2028, 0x2029, ["a line or paragraph separator", "replace it by \\n"]],
  [0x202a, 0x202e, BIDI],
  [0x2060, 0x2060, ZERO_WIDTH],
  [0x2066, 0x2069, BIDI],
  [0xe000, 0xf8ff, PRIVATE],
  [0xfe00, 0xfe0f, SELECTOR],
  [0xfeff, 0xfeff, ["a zero-width character (byte order mark)", "remove it"]],
  [0xe0001, 0xe007f, TAG],
  [0xe0100, 0xe01ef, SELECTOR],
  [0xf0000, 0xffffd, PRIVATE],
  [0x100000, 0x10fffd, PRIVATE],
];

/** The fault as one ASCII sentence for a person, with what to do; it never holds the character itself. */
export function describeTextFault(fault: TextFault): string {
  const { detail, at, codePoint } = fault;
  if (detail === "TEXT_BLANK") return "The text is empty or only white space; write at least one visible character.";
  if (codePoint === undefined) return `The text is refused at UTF-16 index ${at}; remove what stands there.`;
  const place = `(${notation(codePoint)}) at UTF-16 index ${at}`;
  if (detail === "TEXT_ENCODING") return `The text has half of a surrogate pair ${place}; send the whole character.`;
  if (!isIn(HIDDEN, codePoint)) {
    return `The text has more than ${MAX_MARKS} combining marks in a row, the first too many ${place}; remove some.`;
  }
  const known = HIDDEN_WORDS.find(([first, last]) => codePoint >= first && codePoint <= last);
  const [name, advice] = known?.[2] ?? (isNoncharacter(codePoint) ? NONCHARACTER : OTHER);
  return `The text has ${name} ${place}; ${advice}.`;
}

function isNoncharacter(codePoint: number): boolean {
  return (codePoint & 0xfffe) === 0xfffe || (codePoint >= 0xfdd0 && codePoint <= 0xfdef);
}

function notation(codePoint: number): string {
  return `U+${codePoint.toString(16).toUpperCase().padStart(4, "0")}`;
}
