import { textAt, type KernelEvent, type Text, type TextLine } from "../../kernel/index.js";
import { commitment, TEXT_FIELDS, type TextField } from "../../protocol/index.js";

/** What became of the texts that a log commits to. */
export interface TextCounts {
  /** Those that are there, and are what was committed to. */
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
    for (const { field, salt, utf8 } of texts) {
      const held = textAt(event, field);
      if (typeof held !== "object") return `it has no ${field} to which the text with it could belong`;
      if (commitment(field, Buffer.from(salt, "hex"), utf8) !== held.commitment || held.bytes !== Buffer.byteLength(utf8))
        return `its ${field} is not the text that it commits to`;
      this.counts.matching += 1;
    }
    const { index } = event as unknown as { index: number };
    for (const field of TEXT_FIELDS) {
      const held = textAt(event, field);
      if (typeof held !== "object" || this.#keeps(event, field, held)) continue;
      if (event.kind === "refused" && held.bytes > most) continue;
      if (texts.some((text) => text.field === field)) continue;
      this.counts.absent += 1;
      this.counts.firstAbsent ??= { index, field };
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
