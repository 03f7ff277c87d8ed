import { textAt, type KernelEvent, type LoggedEvent, type Text, type TextLine } from "../../kernel/index.js";
import { TEXT_FIELDS, type TextField } from "../../protocol/index.js";
import { opens } from "./opened-entry.js";

type Redacted = Extract<KernelEvent, { kind: "redacted" }>;

/** What became of the texts that a log commits to. */
export interface TextCounts {
  /** Those that are there, and are what was committed to; one that two entries bring counts once. */
  matching: number;
  /** Those that are not there, and of which a later entry says that they were redacted. */
  redacted: number;
  /** Those that are not there without a word. */
  absent: number;
  /** The first of those. */
  firstAbsent?: { index: number; field: TextField };
}

/** Holds the texts of a log against their commitments (WITNESS-LOG.md, "Texts"). */
export class TextCheck {
  #matching = 0;
  #redacted = 0;
  /** What is not there, by entry and field, and the beginning of what it commits to: numbers, since there may be many. */
  readonly #absent = new Map<number, number>();
  /** The commitments in each worker's row: an entry that keeps a text has none of its own. */
  readonly #kept = new Map<string, Partial<Record<TextField, string>>>();

  /**
   * Takes the texts of one entry; what is wrong with them, if anything. `most`: bytes of a refused text beyond which it
   * is committed to and not kept.
   */
  take(event: LoggedEvent, texts: readonly TextLine[], most: number): string | undefined {
    const stray = texts.find(({ field }) => typeof textAt(event, field) !== "object");
    if (stray !== undefined) return `it has no ${stray.field} to which the text with it could belong`;
    const { index } = event;
    for (const field of TEXT_FIELDS) {
      const held = textAt(event, field);
      if (typeof held !== "object") continue;
      const text = texts.find((one) => one.field === field);
      if (text !== undefined && !opens(text, held)) return `its ${field} is not the text that it commits to`;
      if (this.#keeps(event, field, held)) continue;
      if (text !== undefined) this.#matching += 1;
      else if (event.kind !== "refused" || held.bytes <= most)
        this.#absent.set(placeOf(index, field), beginningOf(held.commitment));
    }
    return event.kind === "redacted" ? this.#redact(event) : undefined;
  }

  /** What was found so far. */
  get counts(): TextCounts {
    const [first] = this.#absent.keys();
    return {
      matching: this.#matching,
      redacted: this.#redacted,
      absent: this.#absent.size,
      ...(first !== undefined && { firstAbsent: textOf(first) }),
    };
  }

  #redact({ entry, field, committed }: Redacted): string | undefined {
    const absent = this.#absent.get(placeOf(entry, field));
    if (absent === undefined) return undefined;
    if (absent !== beginningOf(committed)) return `it redacts another text than the ${field} of entry ${entry}`;
    this.#absent.delete(placeOf(entry, field));
    this.#redacted += 1;
    return undefined;
  }

  /** Whether an entry says again what the worker's row says already. */
  #keeps(event: KernelEvent, field: TextField, { commitment: committed }: Text): boolean {
    if (event.kind !== "status" && event.kind !== "planned") return false;
    let row = this.#kept.get(event.worker_id);
    if (row === undefined) this.#kept.set(event.worker_id, (row = {}));
    if (row[field] === committed) return true;
    row[field] = committed;
    return false;
  }
}

const FIELDS = TEXT_FIELDS.length;

function placeOf(index: number, field: TextField): number {
  return index * FIELDS + TEXT_FIELDS.indexOf(field);
}

function textOf(place: number): { index: number; field: TextField } {
  return { index: Math.floor(place / FIELDS), field: TEXT_FIELDS[place % FIELDS] as TextField };
}

/** 48 bits of a commitment: enough to tell that it is another. */
function beginningOf(committed: string): number {
  return Number.parseInt(committed.slice(0, 12), 16);
}
