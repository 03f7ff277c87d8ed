import { decodeEntry, textAt, whyKept, type Principal, type TextLine } from "../kernel/index.js";
import { TEXT_FIELDS, type TextField } from "../protocol/index.js";
import type { EventStore, TextPlace } from "../storage/event-store.js";
import { commitmentOf, opensCommitment } from "../storage/texts.js";
import type { Parts } from "./parts.js";

/** Which texts are to go: all of a correction or of an entry, or only those under one field. */
export type RedactionRequest = ({ correction_id: string } | { index: number }) & {
  field?: TextField;
  /** And every other text of the same words. */
  everywhere?: boolean;
};

export interface Redaction {
  redacted: TextPlace[];
  /** Texts of the same words that are still there: a request that was sent again, a plan that repeats its correction. */
  elsewhere: TextPlace[];
}

const READ_AT_ONCE = 1_024;

/**
 * Erases texts for good and keeps what the log commits to (WITNESS-LOG.md, "Redaction"). Resolves with their places when
 * nothing of them is left. Throws an Error whose sentence says which text must stay, and until when; then none has gone.
 */
export async function redact(parts: Parts, request: RedactionRequest, by: Principal): Promise<Redaction> {
  const { core, store } = parts;
  if (!core.running) throw new Error("the broker has stopped");
  const texts = "index" in request ? await textsAt(parts, request.index) : await textsOf(parts, request.correction_id);
  const asked = texts.filter(({ field }) => request.field === undefined || request.field === field);
  if (asked.length === 0) throw new Error("there is no such text, or it has gone already");
  const words = new Set(asked.map(({ utf8 }) => utf8));
  const salts = new Set(asked.map(({ salt }) => salt));
  const same = await textsWhere(parts, ({ utf8, salt }) => words.has(utf8) && !salts.has(salt));
  const redacted = await placesOf(parts, request.everywhere === true ? [...asked, ...same] : asked);
  const elsewhere = request.everywhere === true ? [] : await placesOf(parts, same);
  const kept = redacted.map((place) => whyKept(core.state, commandOf(place))).find((why) => why !== undefined);
  if (kept !== undefined) throw new Error(kept);
  for (const place of redacted) core.execute({ kind: "redact", by, ...commandOf(place) });
  await core.committed();
  for (const place of redacted) await store.redact(place);
  return { redacted, elsewhere };
}

/** Erases what a redaction named and an end of the process came before. */
export async function finishRedactions(store: EventStore, places: readonly TextPlace[]): Promise<void> {
  for (const place of places) await store.redact(place);
}

function commandOf({ index, field, committed }: TextPlace): { entry: number; field: TextField; committed: string } {
  return { entry: index, field, committed };
}

/** Entries that one step makes at most: a plan and its row, which hold one text, are no further apart. */
const STEP_ENTRIES = 16;

/** Texts by the first entry that has each: the row that a plan makes says the plan's summary again. */
async function placesOf({ store }: Parts, texts: readonly TextLine[]): Promise<TextPlace[]> {
  const places = new Map<string, TextPlace>();
  for (const text of texts) {
    const { index, field, salt } = text;
    const from = Math.max(0, index - STEP_ENTRIES);
    const { texts: near } = await store.read(from, index - from + 1);
    const first = near.find((one) => one.field === field && one.salt === salt)?.index ?? index;
    places.set(`${first} ${field}`, { index: first, field, committed: commitmentOf(text) });
  }
  return [...places.values()];
}

/** The texts of one entry, those too that an earlier entry brought and that stand in its row still. */
async function textsAt(parts: Parts, index: number): Promise<TextLine[]> {
  const { entries, texts } = await parts.store.read(index, 1);
  const [line] = entries;
  if (line === undefined) return [];
  const event = decodeEntry(line);
  const kept = TEXT_FIELDS.flatMap((field) => {
    const held = textAt(event, field);
    if (typeof held !== "object" || texts.some((text) => text.field === field)) return [];
    return { index, field, committed: held.commitment };
  });
  if (kept.length === 0) return texts;
  const brought = await textsWhere(parts, (text) => kept.some((place) => opensCommitment(text, place)));
  return [...texts, ...brought.filter((text) => text.index < index)];
}

/** The texts of all entries that name a correction. */
function textsOf(parts: Parts, correction_id: string): Promise<TextLine[]> {
  return textsWhere(parts, (_, line) => isOf(line, correction_id));
}

async function textsWhere(
  { store, core }: Parts,
  wanted: (text: TextLine, line: string) => boolean,
): Promise<TextLine[]> {
  const found: TextLine[] = [];
  for (let at = 0; at < core.durable;) {
    const { entries, texts } = await store.read(at, Math.min(READ_AT_ONCE, core.durable - at));
    if (entries.length === 0) break;
    for (const text of texts) if (wanted(text, entries[text.index - at] ?? "")) found.push(text);
    at += entries.length;
  }
  return found;
}

function isOf(line: string, correction_id: string): boolean {
  return (
    line.includes(correction_id) && (JSON.parse(line) as { correction_id?: string }).correction_id === correction_id
  );
}
