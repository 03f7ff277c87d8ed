import type { TextLine } from "../kernel/index.js";
import { commitment } from "../protocol/index.js";
import type { TextPlace } from "./event-store.js";

/** What an entry holds that this text was left out of: its commitment. */
export function commitmentOf({ field, salt, utf8 }: TextLine): string {
  return commitment(field, Buffer.from(salt, "hex"), utf8);
}

/** Whether a text opens the commitment of a place; salts are random, so that no other text does. */
export function opensCommitment(text: TextLine, place: TextPlace): boolean {
  return text.field === place.field && commitmentOf(text) === place.committed;
}

/** Texts by the index of their entry. */
export function textsByEntry(texts: readonly TextLine[]): ReadonlyMap<number, readonly TextLine[]> {
  const found = new Map<number, TextLine[]>();
  for (const text of texts) {
    const own = found.get(text.index);
    if (own === undefined) found.set(text.index, [text]);
    else own.push(text);
  }
  return found;
}
