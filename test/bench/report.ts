import { cpus } from "node:os";
import type { Figure } from "./figures/figure.js";

/** What was measured on. */
export function machine(): string {
  const all = cpus();
  return `${all[0]?.model.trim() ?? "unknown CPU"}, ${all.length} cores, Node ${process.version}, ${process.platform}`;
}

export type Verdict = "ambition" | "gate" | "missed" | "";

export function verdict({ gate, ambition, measured }: Figure): Verdict {
  if (gate === undefined) return "";
  if (measured > gate) return "missed";
  return ambition !== undefined && measured <= ambition ? "ambition" : "gate";
}

/** One line a figure, in columns. */
export function table(figures: readonly Figure[]): string {
  const rows = figures.map((figure) => [
    figure.figure,
    figure.what,
    figure.gate?.toFixed(2) ?? "",
    figure.ambition?.toFixed(2) ?? "",
    figure.measured.toFixed(3),
    figure.spread.map((value) => value.toFixed(3)).join(" - "),
    String(figure.rounds),
    verdict(figure),
    figure.note ?? "",
  ]);
  const lines = [
    ["", "figure", "gate", "ambition", "measured", "quartiles", "rounds", "reached", "behind it"],
    ...rows,
  ];
  const widths = lines[0]?.map((_, column) => Math.max(...lines.map((line) => line[column]?.length ?? 0))) ?? [];
  return lines
    .map((line) =>
      line
        .map((cell, at) => cell.padEnd(widths[at] ?? 0))
        .join("  ")
        .trimEnd(),
    )
    .join("\n");
}
