import { checkText, textFaults } from "../protocol/text.js";

/** A code point that was taken out of a text. */
export interface RemovedCodePoint {
  codePoint: number;
  /** How often. */
  count: number;
  /** Where, as UTF-16 indexes in the text that was given; ascending. */
  at: number[];
}

/** What `sanitize` made of a text. */
export interface Sanitized {
  /** Passes text policy 1, unless it is `blank`. */
  text: string;
  /** Nothing but white space is left: there is nothing to send. */
  blank: boolean;
  /** What was taken out, by code point in ascending order; empty when the text is as it was. */
  removed: RemovedCodePoint[];
}

/**
 * Takes out of a text what text policy 1 refuses (PROTOCOL.md section 2): hidden characters, half surrogate pairs and
 * combining marks beyond 8 in a row. It adds and replaces nothing, and a second time finds nothing. The broker never
 * does this: look at `removed` and decide whether the rest is still what was meant. Length is not judged here.
 */
export function sanitize(text: string): Sanitized {
  let kept = text;
  // Where each unit of `kept` stood in `text`.
  let origins = Array.from({ length: text.length }, (_, at) => at);
  const removed = new Map<number, RemovedCodePoint>();
  for (;;) {
    // What goes may leave a joiner behind that now joins nothing, so the rest is read again until it passes.
    const faults = [...textFaults(kept)];
    if (faults.length === 0) break;
    const parts: string[] = [];
    const rest: number[] = [];
    let from = 0;
    for (const { at, codePoint } of faults) {
      note(removed, codePoint, origins[at] ?? at);
      parts.push(kept.slice(from, at));
      for (let unit = from; unit < at; unit += 1) rest.push(origins[unit] ?? unit);
      from = at + (codePoint > 0xffff ? 2 : 1);
    }
    parts.push(kept.slice(from));
    for (let unit = from; unit < kept.length; unit += 1) rest.push(origins[unit] ?? unit);
    kept = parts.join("");
    origins = rest;
  }
  const list = [...removed.values()].sort((a, b) => a.codePoint - b.codePoint);
  for (const { at } of list) at.sort((a, b) => a - b);
  return { text: kept, blank: checkText(kept) !== undefined, removed: list };
}

function note(removed: Map<number, RemovedCodePoint>, codePoint: number, at: number): void {
  const known = removed.get(codePoint);
  if (known === undefined) removed.set(codePoint, { codePoint, count: 1, at: [at] });
  else {
    known.count += 1;
    known.at.push(at);
  }
}
