import type { TextLine } from "../kernel/index.js";
import { commitment } from "../protocol/index.js";
import type { TextPlace } from "./event-store.js";

/** Whether a text opens the commitment of a place; salts are random, so that no other text does. */
export function opensCommitment({ field, salt, utf8 }: TextLine, place: TextPlace): boolean {
  return field === place.field && commitment(field, Buffer.from(salt, "hex"), utf8) === place.committed;
}
