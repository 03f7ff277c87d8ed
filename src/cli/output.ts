import { Option } from "commander";
import { lineCells, paint, type Colour, type Output } from "./terminal/paint.js";
import { printable, printableJson } from "./terminal/printable.js";
import { tableLines, type Column } from "./terminal/table.js";
import { cellsOf, wrap } from "./terminal/width.js";

/** How a command prints its result: for people, as one JSON value, or as one JSON value a line. */
export type Format = "table" | "json" | "jsonl";

export function formatOption(): Option {
  return new Option(
    "-o, --output <format>",
    "how to print the result: for people (cut to the screen on a terminal, whole in a pipe), or for programs",
  )
    .choices(["table", "json", "jsonl"])
    .default("table");
}

/** Prints records: columns for people, all fields for programs. */
export function printRecords<T extends object>(
  format: Format,
  columns: readonly Column<T>[],
  records: readonly T[],
): void {
  if (format === "json") return printJson(format, records);
  if (format === "jsonl") return records.forEach((record) => printJson(format, record));
  printTable(columns, records);
}

export function printTable<T>(columns: readonly Column<T>[], records: readonly T[]): void {
  tableLines(columns, records).forEach(print);
}

/** Prints one record: a sentence for people, all fields on one line for programs. */
export function printRecord(format: Format, sentence: string, record: object): void {
  if (format === "table") print(sentence);
  else printJson("jsonl", record);
}

/** Prints a result for programs: laid out, or on one line. */
export function printJson(format: Exclude<Format, "table">, record: object): void {
  print(printableJson(record, format === "json" ? 2 : undefined));
}

/** One named value of a record; undefined is not shown. */
export type Field = readonly [name: string, value: string | undefined, colour?: Colour];

/**
 * The lines of one record, a field a line; a long value goes on below itself, and one long word stands whole below its
 * name. Values are made printable here.
 */
export function fieldLines(fields: readonly Field[], stream: Output = process.stdout): string[] {
  const cells = lineCells(stream) ?? Infinity;
  const shown = fields.filter((field): field is [string, string, Colour?] => field[1] !== undefined);
  const indent = Math.max(...shown.map(([name]) => name.length)) + 2;
  const room = Math.max(20, cells - indent);
  return shown.flatMap(([name, value, colour]) => {
    const text = printable(value);
    const label = paint(name.padEnd(indent), "dim", stream);
    if (!text.includes(" ") && cellsOf(text) > room) return [label.trimEnd(), `  ${paint(text, colour, stream)}`];
    return wrap(text, room).map((line, at) => (at === 0 ? label : " ".repeat(indent)) + paint(line, colour, stream));
  });
}

export function print(line: string): void {
  process.stdout.write(`${line}\n`);
}

/** Says something that is no result: on stderr. */
export function tell(line: string): void {
  process.stderr.write(`${line}\n`);
}

/** Says something longer on stderr, on lines that fit a terminal. */
export function tellAtLength(text: string): void {
  wrap(text, lineCells(process.stderr) ?? Infinity).forEach(tell);
}
