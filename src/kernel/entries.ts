import { STATUS_SCHEMA, type TextField } from "../protocol/index.js";
import { frequentLine, type OnText } from "./entry-lines.js";
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
  const onText = (field: TextField, { text, salt }: Text): void => {
    if (text !== undefined && salt !== undefined) texts.push({ index, field, salt, utf8: text });
  };
  const place = workerEntry === undefined ? "" : `,"worker_entry":${workerEntry}`;
  const line = frequentLine(event, index, place, onText) ?? generalLine(event, index, workerEntry, onText);
  return { line, texts };
}

/** The same line for an event of any kind. */
export function generalLine(
  event: KernelEvent,
  index: number,
  workerEntry: number | undefined,
  onText: OnText = () => {},
): string {
  const entry: Record<string, unknown> = { ...event, index };
  if (workerEntry !== undefined) entry["worker_entry"] = workerEntry;
  if (event.kind === "status") entry["row"] = { ...event.row, schema: STATUS_SCHEMA };
  return write(entry, "", onText);
}

/** What a log line says: its event, and its place in the log and in its worker's story. A row in it has its `schema`. */
export type LoggedEvent = KernelEvent & { index: number; worker_entry?: number };

/** What a log line says, with those of its texts that are still at hand. Throws SyntaxError for what is not JSON. */
export function readEntry(line: string, texts: readonly TextLine[] = []): LoggedEvent {
  const entry = JSON.parse(line) as LoggedEvent;
  for (const text of texts) open(entry, text);
  return entry;
}

/** The event alone, as the kernel made it. */
export function eventOf({ index: _index, worker_entry: _entry, ...rest }: LoggedEvent): KernelEvent {
  const event: object = rest;
  if (!("row" in event) || !isObject(event.row)) return event as KernelEvent;
  const { schema: _schema, ...row } = event.row;
  return { ...event, row } as unknown as KernelEvent;
}

/** The event of a log line, with those of its texts that are still at hand. */
export function decodeEntry(line: string, texts: readonly TextLine[] = []): KernelEvent {
  return eventOf(readEntry(line, texts));
}

/**
 * Entries decoded in one go: enough for parsing and folding to have the processor's caches in turn, and so few that a
 * collection between finds hardly any of them alive.
 */
const RUN = 64;

/**
 * The events of consecutive log lines from index `first` on, as `readEntry` gives them, in runs; `texts` are theirs, in
 * order.
 */
export function* decodeEntries(
  lines: readonly string[],
  first: number,
  texts: readonly TextLine[],
): Iterable<KernelEvent[]> {
  let at = 0;
  for (let from = 0; from < lines.length; from += RUN) {
    const run: KernelEvent[] = [];
    for (const line of lines.slice(from, from + RUN)) {
      const event = readEntry(line);
      const index = first + from + run.length;
      for (let text = texts[at]; text?.index === index; text = texts[++at]) open(event, text);
      run.push(event);
    }
    yield run;
  }
}

/** Puts a text where the entry holds its commitment. */
function open(event: KernelEvent, { field, utf8, salt }: TextLine): void {
  const text = textAt(event, field);
  if (typeof text !== "object") return;
  text.text = utf8;
  text.salt = salt;
}

/** What an entry holds of the text under `field`; a closed reason is a string and no text. */
export function textAt(event: KernelEvent, field: TextField): Text | string | undefined {
  switch (field) {
    case "message":
      return "content" in event ? event.content?.message : undefined;
    case "reason":
      return "reason" in event ? event.reason : undefined;
    case "last_action":
      return event.kind === "status" ? event.row.last_action : "last_action" in event ? event.last_action : undefined;
    case "summary":
      if (event.kind === "planned") return event.summary;
      if (event.kind === "status") return event.row.next_action?.summary;
      return "next_action" in event ? event.next_action?.summary : undefined;
  }
}

function write(value: unknown, key: string, onText: OnText): string {
  if (Array.isArray(value)) return `[${value.map((item) => write(item, key, onText)).join(",")}]`;
  if (!isObject(value)) return JSON.stringify(value);
  if (isText(value)) {
    onText(key as TextField, value);
    return `{"bytes":${value.bytes},"commitment":"${value.commitment}"}`;
  }
  let out = "";
  for (const name of Object.keys(value).sort()) {
    const member = value[name];
    if (member !== undefined) out += `${out === "" ? "" : ","}"${name}":${write(member, name, onText)}`;
  }
  return `{${out}}`;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function isText(value: object): value is Text {
  return "commitment" in value;
}
