const CLUSTERS = new Intl.Segmenter("en", { granularity: "grapheme" });

/** Characters that terminals draw two cells wide: East Asian scripts, full-width forms, emoji. */
const WIDE =
  /[\p{Script=Han}\p{Script=Hangul}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Bopomofo}\p{Script=Yi}\p{Emoji_Presentation}\u{3000}-\u{303e}\u{ff01}-\u{ff60}\u{ffe0}-\u{ffe6}]|\u{fe0f}/u;

/** Cells that a printable text takes on a terminal; where terminals differ, the larger number. */
export function cellsOf(text: string): number {
  // Nearly all texts.
  if (/^[ -~]*$/.test(text)) return text.length;
  let cells = 0;
  for (const { segment } of CLUSTERS.segment(text)) cells += clusterCells(segment);
  return cells;
}

/** The text, or as much of it as `cells` have room for with a mark that it was cut. */
export function cut(text: string, cells: number): string {
  if (cellsOf(text) <= cells) return text;
  let kept = "";
  let used = 1;
  for (const { segment } of CLUSTERS.segment(text)) {
    used += clusterCells(segment);
    if (used > cells) break;
    kept += segment;
  }
  return `${kept}…`;
}

/** The text with blanks behind it, up to `cells`. */
export function pad(text: string, cells: number): string {
  return text + " ".repeat(Math.max(0, cells - cellsOf(text)));
}

/**
 * The text on lines of at most `cells`, broken at blanks where there are any; a longer word stands whole, or is broken
 * too when `words` is "broken".
 */
export function wrap(text: string, cells: number, words: "whole" | "broken" = "whole"): string[] {
  const lines: string[] = [];
  let line = "";
  const pieces = text.split(/(?<= )/);
  for (const word of words === "whole" ? pieces : pieces.flatMap((piece) => chop(piece, cells))) {
    if (line !== "" && cellsOf(line) + cellsOf(word.trimEnd()) > cells) {
      lines.push(line.trimEnd());
      line = "";
    }
    line += word;
  }
  return [...lines, line.trimEnd()];
}

/** The pieces of a word, none of which is wider than `cells`. */
function chop(word: string, cells: number): string[] {
  if (cellsOf(word.trimEnd()) <= cells) return [word];
  const pieces: string[] = [];
  let piece = "";
  for (const { segment } of CLUSTERS.segment(word)) {
    if (cellsOf(piece + segment) > cells) {
      pieces.push(piece);
      piece = "";
    }
    piece += segment;
  }
  return [...pieces, piece];
}

function clusterCells(cluster: string): number {
  return WIDE.test(cluster) ? 2 : 1;
}
