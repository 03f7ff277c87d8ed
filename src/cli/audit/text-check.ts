import { textAt, type KernelEvent, type Text, type TextLine } from "../../kernel/index.js";
import { commitment, TEXT_FIELDS, type TextField } from "../../protocol/index.js";

/** What became of the texts that a log commits to. */
export interface TextCounts {
  /** Those that are there, and are what was committed to; one that two entries bring counts once. */
  matching: number;
  /** Those that are not there. */
  absent: number;
  /** Entry of the first that is not there. */
  firstAbsent?: { index: number; field: TextField };
}

/** Holds the texts of a log against their commitments (WITNESS-LOG.md, "Texts"). */
export class TextCheck {
  readonly counts: TextCounts = { matching: 0, absent: 0 };
  /** The commitments in each worker's row: an entry that keeps a text has none of its own. */
  readonly #kept = new Map<string, Partial<Record<TextField, string>>>();

  /**
   * Takes the texts of one entry; what is wrong with them, if anything. `most`: bytes of a refused text beyond which it
   * is committed to and not kept.
   */
  take(event: KernelEvent, texts: readonly TextLine[], most: number): string | undefined {
    const stray = texts.find(({ field }) => typeof textAt(event, field) !== "object");
    if (stray !== undefined) return `it has no ${stray.field} to which the text with it could belong`;
    const { index } = event as unknown as { index: number };
    for (const field of TEXT_FIELDS) {
      const held = textAt(event, field);
      if (typeof held !== "object") continue;
      const text = texts.find((one) => one.field === field);
      if (text !== undefined && !opens(text, held)) return `its ${field} is not the text that it commits to`;
      if (this.#keeps(event, field, held)) continue;
      if (text !== undefined) this.counts.matching += 1;
      else if (event.kind !== "refused" || held.bytes <= most) {
        this.counts.absent += 1;
        this.counts.firstAbsent ??= { index, field };
      }
    }
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

/** Whether a text is what is committed to. */
export function opens({ field, salt, utf8 }: TextLine, { bytes, commitment: committed }: Text): boolean {
  return bytes === Buffer.byteLength(utf8) && commitment(field, Buffer.from(salt, "hex"), utf8) === committed;
}
