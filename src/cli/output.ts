import { Option } from "commander";

/** How a command prints its result: for people, as one JSON value, or as one JSON value a line. */
export type Format = "table" | "json" | "jsonl";

export function formatOption(): Option {
  return new Option("-o, --output <format>", "how to print the result")
    .choices(["table", "json", "jsonl"])
    .default("table");
}

type Cell = string | number | boolean | undefined;

/** Prints records: columns for people, all fields for programs. */
export function printRecords(
  format: Format,
  columns: readonly string[],
  records: readonly Record<string, unknown>[],
): void {
  if (format === "json") return print(JSON.stringify(records, undefined, 2));
  if (format === "jsonl") return records.forEach((record) => print(JSON.stringify(record)));
  const rows = [
    columns.map((name) => name.toUpperCase()),
    ...records.map((record) => columns.map((name) => cell(record[name] as Cell))),
  ];
  const widths = columns.map((_, at) => Math.max(...rows.map((row) => (row[at] ?? "").length)));
  for (const row of rows)
    print(
      row
        .map((text, at) => text.padEnd(widths[at] ?? 0))
        .join("  ")
        .trimEnd(),
    );
}

/** Prints one record: a sentence for people, all fields on one line for programs. */
export function printRecord(format: Format, sentence: string, record: Record<string, unknown>): void {
  print(format === "table" ? sentence : JSON.stringify(record));
}

export function print(line: string): void {
  process.stdout.write(`${line}\n`);
}

function cell(value: Cell): string {
  return value === undefined ? "-" : printable(String(value));
}

/** What a terminal can be given: everything but printable characters is escaped. */
export function printable(text: string): string {
  return text.replace(/[^\P{C}]|\p{Zl}|\p{Zp}/gu, (char) => `\\u{${(char.codePointAt(0) ?? 0).toString(16)}}`);
}
