import { paint, type Colour } from "./paint.js";
import { printable } from "./printable.js";
import { cellsOf, cut, pad } from "./width.js";

export interface Column<T> {
  title: string;
  cell: (record: T) => string | number | undefined;
  colour?: (record: T) => Colour | undefined;
}

/** No column is made narrower than this. */
const NARROWEST = 6;
const GAP = "  ";

/**
 * The lines of a table, its head first. With `cells`, no line is wider: the widest columns are cut until all fit.
 * Every cell is made printable here.
 */
export function tableLines<T>(columns: readonly Column<T>[], records: readonly T[], cells?: number): string[] {
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
        return paint(shown, colours[at]) + (last ? "" : pad(shown, width).slice(shown.length));
      })
      .join(GAP),
  );
}

/** Widths that add up to at most `room`, each as wide as it wants to be unless it is among the widest. */
function fit(natural: readonly number[], room: number): number[] {
  const widths = [...natural];
  const total = (): number => widths.reduce((sum, width) => sum + width, 0);
  while (total() > room) {
    const widest = Math.max(...widths);
    if (widest <= NARROWEST) break;
    widths[widths.lastIndexOf(widest)] = widest - 1;
  }
  return widths;
}
