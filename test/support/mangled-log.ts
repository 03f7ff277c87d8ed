import type { LoggedLine } from "../../src/storage/journal/index.js";

/** A log in which one thing is not as it was written. */
export interface Mangled {
  name: string;
  entries: LoggedLine[];
  /** Where a verifier must see it without any checkpoint; undefined where only a checkpoint can show it. */
  index?: number;
}

/** Everything that can be done to one entry of a log, `at`, by whoever holds the file and not the key. */
export function manglings(log: readonly LoggedLine[], at: number): Mangled[] {
  const entry = log[at] as LoggedLine;
  const next = log[at + 1];
  const later = { ...entry, line: entry.line.replace(/"at":(\d+)/, (_, time: string) => `"at":${Number(time) + 1}`) };
  const all: Mangled[] = [
    { name: "one byte", entries: log.with(at, { ...entry, line: `${entry.line.slice(0, -1)} }` }), index: at },
    { name: "another time", entries: log.with(at, later) },
    { name: "inserted twice", entries: log.toSpliced(at, 0, entry), index: at + 1 },
    { name: "truncated", entries: log.slice(0, at) },
  ];
  if (next === undefined) all.push({ name: "deleted", entries: log.toSpliced(at, 1) });
  else {
    all.push({ name: "deleted", entries: log.toSpliced(at, 1), index: at });
    all.push({ name: "swapped", entries: log.with(at, next).with(at + 1, entry), index: at });
  }
  // Each stands where the file has it, whatever it says of itself.
  return all.map((one) => ({ ...one, entries: one.entries.map((logged, index) => ({ ...logged, index })) }));
}

/** The line of an entry as JCS would have it; all that stands in a log is plain ASCII names, numbers and strings. */
export function lineOf(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(lineOf).join(",")}]`;
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  const members = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return `{${members.map(([key, member]) => `"${key}":${lineOf(member)}`).join(",")}}`;
}
