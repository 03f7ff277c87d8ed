import { textAt, type KernelEvent } from "../../src/kernel/index.js";
import { TEXT_FIELDS, type TextField } from "../../src/protocol/index.js";
import type { LogBook } from "./log-book.js";

/** A text by the entry that brought it. */
export interface RedactedPlace {
  entry: number;
  field: TextField;
  committed: string;
}

/** What somebody wants to be gone: any text, one that is needed, one that is gone, or one that never was. */
export function placeToRedact(
  events: readonly KernelEvent[],
  book: LogBook,
  how: number,
  pick: number,
): RedactedPlace | undefined {
  const texts = textsOf(events);
  const from = (places: readonly RedactedPlace[]): RedactedPlace | undefined =>
    places.at(-1 - (pick % Math.max(1, places.length)));
  const any = from(texts);
  if (how < 45) return any;
  if (how < 75) {
    const needed = book.needed()[how < 60 ? "open" : "row"];
    return from(texts.filter(({ committed }) => needed.has(committed)));
  }
  if (how < 88) return from(events.flatMap((event) => (event.kind === "redacted" ? [event] : [])));
  if (how < 94) return any && { ...any, entry: events.length + pick };
  return any && { ...any, committed: "0".repeat(64) };
}

/** Every text that an entry brought, by the first that did. */
function textsOf(events: readonly KernelEvent[]): RedactedPlace[] {
  const places = new Map<string, RedactedPlace>();
  for (const [entry, event] of events.entries()) {
    for (const field of TEXT_FIELDS) {
      const text = textAt(event, field);
      if (typeof text !== "object" || text.salt === undefined || places.has(text.commitment)) continue;
      places.set(text.commitment, { entry, field, committed: text.commitment });
    }
  }
  return [...places.values()];
}
