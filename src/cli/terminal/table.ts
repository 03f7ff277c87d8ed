import { lineCells, paint, type Colour, type Output } from "./paint.js";
import { printable } from "./printable.js";
import { cellsOf, cut, pad } from "./width.js";

export interface Column<T> {
  title: string;
  cell: (record: T) => string | number | undefined;
  colour?: (record: T) => Colour | undefined;
}

/** No column is made narrower than this. */
const NARROWEST = 3;
const GAP = "  ";

/**
 * The lines of a table for a stream, its head first. With `cells` (default: those of the stream, if it is a terminal) no
 * line is wider: the widest columns are cut until all fit. Every cell is made printable here.
 */
export function tableLines<T>(
  columns: readonly Column<T>[],
  records: readonly T[],
  { stream = process.stdout, cells = lineCells(stream) }: { stream?: Output; cells?: number | undefined } = {},
): string[] {
  const rows = records.map((record) => ({
    texts: columns.map(({ cell }) => printable(String(cell(record) ?? "-"))),
    colours: columns.map(({ colour }) => colour?.(record)),
  }));
  const head = { texts: columns.map(({ title }) => title), colours: columns.map((): Colour => "dim") };
  const all = [head, ...rows];
  const natural = columns.map((_, at) => Math.max(...all.map(({ texts }) => cellsOf(texts[at] ?? ""))));
  const widths = cells === undefined ? natural : fit(natural, cells - GAP.length * (columns.length - 1));
  return all.map(({ texts, colours }) =>
    texts
      .map((text, at) => {
        const width = widths[at] ?? 0;
        const shown = cut(text, width);
        const last = at === texts.length - 1;
        return paint(shown, colours[at], stream) + (last ? "" : pad(shown, width).slice(shown.length));
      })
      .join(GAP),
  );
}

/**
 * Widths that add up to at most `room`: each as wide as it wants to be unless it is among the widest, where the last
 * column, which holds the longest texts, may have twice as much as another.
 */
function fit(natural: readonly number[], room: number): number[] {
  const widths = [...natural];
  const shares = widths.map((_, at) => (at === widths.length - 1 ? 2 : 1));
  let over = widths.reduce((sum, width) => sum + width, 0) - room;
  for (; over > 0; over -= 1) {
    const weights = widths.map((width, at) => (width > NARROWEST ? width / (shares[at] ?? 1) : 0));
    const widest = Math.max(...weights);
    if (widest === 0) break;
    const at = weights.indexOf(widest);
    widths[at] = (widths[at] ?? 0) - 1;
  }
  return widths;
}
