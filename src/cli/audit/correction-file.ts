import { emptyState, evolve, type KernelEvent, type State } from "../../kernel/index.js";
import { STAGES, type Stage } from "../../protocol/index.js";
import type { LoggedLine } from "../../storage/journal/index.js";
import { openedEntry, provenRow } from "./opened-entry.js";

type Of<Kind extends KernelEvent["kind"]> = Extract<KernelEvent, { kind: Kind }>;
type Row = Of<"status">["row"];
type Plan = Of<"planned">;

/** One thing that happened to a correction. */
export interface Happening {
  index: number;
  event: Extract<KernelEvent, { correction_id: string; orchestrator_id: string }>;
  /** The stage that it set; a `late_ack` sets none. */
  stage?: Stage;
}

/** All that a log says of one correction. */
export interface CorrectionFile {
  admitted: Of<"admitted">;
  /** The row that it cites, as it was then, and the entry that made it. */
  cited?: { index: number; row: Row; digest: string; proven: boolean };
  happened: Happening[];
  /** The planned action that judged it. */
  judgedBy?: { index: number; plan: Plan };
  /** The entries that say of a text of it that it was redacted, by the text's commitment. */
  redacted: Record<string, number>;
}

/** Gathers what a log says of one correction; takes every entry, in order, from the first on. */
export class CorrectionFinder {
  readonly #id: string;
  readonly #state: State = emptyState();
  /** Entry of each worker's row. */
  readonly #rowAt = new Map<string, number>();
  #file: CorrectionFile | undefined;
  #lastPlan: { index: number; plan: Plan } | undefined;

  constructor(id: string) {
    this.#id = id;
  }

  get file(): CorrectionFile | undefined {
    return this.#file;
  }

  take({ index, line, texts }: LoggedLine): void {
    const event = openedEntry(line, texts);
    if (event.kind === "status") this.#rowAt.set(event.worker_id, index);
    if (event.kind === "admitted" && event.correction_id === this.#id)
      this.#file = { admitted: event, happened: [], ...this.#citedBy(event), redacted: {} };
    if (event.kind === "planned" && event.worker_id === this.#file?.admitted.worker_id)
      this.#lastPlan = { index, plan: event };
    if ("orchestrator_id" in event && event.correction_id === this.#id) this.#note(index, event);
    if (event.kind === "redacted") this.#redact(event.committed, index);
    evolve(this.#state, event);
  }

  #redact(committed: string, index: number): void {
    if (this.#file !== undefined && JSON.stringify(this.#file).includes(committed))
      this.#file.redacted[committed] = index;
  }

  #note(index: number, event: Happening["event"]): void {
    const file = this.#file;
    if (file === undefined) return;
    const stage = STAGES.find((one) => one.toLowerCase() === event.kind);
    file.happened.push({ index, event, ...(stage !== undefined && { stage }) });
    if ((event.kind === "witnessed" || event.kind === "unreflected") && this.#lastPlan !== undefined)
      file.judgedBy = this.#lastPlan;
  }

  #citedBy({ worker_id }: Of<"admitted">): Pick<CorrectionFile, "cited"> {
    const { row, digest } = this.#state.workers.get(worker_id) ?? {};
    const index = this.#rowAt.get(worker_id);
    if (row === undefined || digest === undefined || index === undefined) return {};
    return { cited: { index, row, digest, proven: provenRow(row, digest) !== undefined } };
  }
}
