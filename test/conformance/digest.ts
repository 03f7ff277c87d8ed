import { createHash } from "node:crypto";

/** RFC 8785 (JCS) of strings, safe integers, booleans, arrays and objects. Written apart from the broker's own. */
function canonical(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join(",")}]`;
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  const names = Object.keys(value).toSorted();
  return `{${names.map((name) => `${JSON.stringify(name)}:${canonical((value as Record<string, unknown>)[name])}`).join(",")}}`;
}

/** The status digest of a row (A2C-ROW-04). */
export function digestOf(row: unknown): string {
  return `sha256:${createHash("sha256").update(canonical(row), "utf8").digest("hex")}`;
}
