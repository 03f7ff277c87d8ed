import { whyKept, type Principal, type TextLine } from "../kernel/index.js";
import type { TextField } from "../protocol/index.js";
import type { EventStore, TextPlace } from "../storage/event-store.js";
import { commitmentOf } from "../storage/texts.js";
import type { Parts } from "./parts.js";

/** Which texts are to go: all of a correction or of an entry, or only those under one field. */
export type RedactionRequest = ({ correction_id: string } | { index: number }) & { field?: TextField };

const READ_AT_ONCE = 1_024;

/**
 * Erases texts for good and keeps what the log commits to (WITNESS-LOG.md, "Redaction"). Resolves with their places when
 * nothing of them is left. Throws an Error whose sentence says which text must stay, and until when; then none has gone.
 */
export async function redact(parts: Parts, request: RedactionRequest, by: Principal): Promise<TextPlace[]> {
  const { core, store } = parts;
  if (!core.running) throw new Error("the broker has stopped");
  const texts = await textsOf(parts, request);
  if (texts.length === 0) throw new Error("there is no such text, or it has gone already");
  const places = await Promise.all(texts.map((text) => placeOf(parts, text)));
  const kept = places.map((place) => whyKept(core.state, commandOf(place))).find((why) => why !== undefined);
  if (kept !== undefined) throw new Error(kept);
  for (const place of places) core.execute({ kind: "redact", by, ...commandOf(place) });
  await core.committed();
  for (const place of places) await store.redact(place);
  return places;
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

/** A text by the first entry that has it: the row that a plan makes says the plan's summary again. */
async function placeOf({ store }: Parts, text: TextLine): Promise<TextPlace> {
  const { index, field, salt } = text;
  const from = Math.max(0, index - STEP_ENTRIES);
  const { texts } = await store.read(from, index - from + 1);
  const first = texts.find((one) => one.field === field && one.salt === salt);
  return { index: first?.index ?? index, field, committed: commitmentOf(text) };
}

async function textsOf({ store, core }: Parts, request: RedactionRequest): Promise<TextLine[]> {
  const found: TextLine[] = [];
  const [from, end] = "index" in request ? [request.index, request.index + 1] : [0, core.durable];
  for (let at = from; at < end;) {
    const { entries, texts } = await store.read(at, Math.min(READ_AT_ONCE, end - at));
    if (entries.length === 0) break;
    const first = at;
    for (const text of texts) {
      const line = entries[text.index - first] ?? "";
      if ("correction_id" in request && !isOf(line, request.correction_id)) continue;
      if (request.field === undefined || request.field === text.field) found.push(text);
    }
    at += entries.length;
  }
  return found;
}

function isOf(line: string, correction_id: string): boolean {
  return (
    line.includes(correction_id) && (JSON.parse(line) as { correction_id?: string }).correction_id === correction_id
  );
}
