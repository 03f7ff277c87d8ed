import { STATUS_SCHEMA, TEXT_FIELDS, type TextField } from "../protocol/index.js";
import type { KernelEvent, Text } from "./events.js";

/** A text beside the log: opens the commitment that the entry at `index` holds under `field`. */
export interface TextLine {
  index: number;
  field: TextField;
  /** 32 bytes, hex. */
  salt: string;
  utf8: string;
}

export interface EncodedEntry {
  /** RFC 8785 text of the entry: exactly the leaf's bytes. */
  line: string;
  /** The texts that are new with this entry. */
  texts: TextLine[];
}

/** One event as its log entry (WITNESS-LOG.md): no free text in the line, only byte counts and commitments. */
export function encodeEntry(event: KernelEvent, index: number, workerEntry?: number): EncodedEntry {
  const texts: TextLine[] = [];
  const entry: Record<string, unknown> = { ...event, index };
  if (workerEntry !== undefined) entry["worker_entry"] = workerEntry;
  if (event.kind === "status") entry["row"] = { ...event.row, schema: STATUS_SCHEMA };
  return { line: write(entry, "", index, texts), texts };
}

/** The event of a log line, with those of its texts that are still at hand. */
export function decodeEntry(line: string, texts: readonly TextLine[] = []): KernelEvent {
  const { index: _index, worker_entry: _entry, ...event } = JSON.parse(line) as Record<string, unknown>;
  if (isObject(event["row"])) delete event["row"]["schema"];
  if (texts.length > 0) open(event, new Map(texts.map((text) => [text.field, text])));
  return event as unknown as KernelEvent;
}

/** The events of consecutive log lines from index `first` on; `texts` are theirs, in any order. */
export function* decodeEntries(
  lines: readonly string[],
  first: number,
  texts: readonly TextLine[],
): Iterable<KernelEvent> {
  const byIndex = new Map<number, TextLine[]>();
  for (const text of texts) {
    const own = byIndex.get(text.index);
    if (own === undefined) byIndex.set(text.index, [text]);
    else own.push(text);
  }
  let index = first;
  for (const line of lines) yield decodeEntry(line, byIndex.get(index++));
}

function write(value: unknown, key: string, index: number, texts: TextLine[]): string {
  if (Array.isArray(value)) return `[${value.map((item) => write(item, key, index, texts)).join(",")}]`;
  if (!isObject(value)) return JSON.stringify(value);
  if (isText(value)) {
    const { text, salt } = value;
    if (text !== undefined && salt !== undefined) texts.push({ index, field: key as TextField, salt, utf8: text });
    return `{"bytes":${value.bytes},"commitment":"${value.commitment}"}`;
  }
  let out = "";
  for (const name of Object.keys(value).sort()) {
    const member = value[name];
    if (member !== undefined) out += `${out === "" ? "" : ","}"${name}":${write(member, name, index, texts)}`;
  }
  return `{${out}}`;
}

function open(value: Record<string, unknown>, texts: ReadonlyMap<string, TextLine>): void {
  for (const [key, member] of Object.entries(value)) {
    if (!isObject(member)) continue;
    const line = isText(member) && (TEXT_FIELDS as readonly string[]).includes(key) ? texts.get(key) : undefined;
    if (line !== undefined) Object.assign(member, { text: line.utf8, salt: line.salt });
    else open(member, texts);
  }
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function isText(value: object): value is Text {
  return "commitment" in value;
}
