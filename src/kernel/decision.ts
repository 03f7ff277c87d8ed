import type { Refusal, WorkerStatus } from "../protocol/index.js";
import type { KernelEvent } from "./events.js";

/** What a command comes to. The caller evolves `events` in the same turn, then words the answer from the state. */
export type Answer =
  | { kind: "done" }
  /** Not done, for a closed reason; `folded`: not logged singly, the caller counts it. */
  | { kind: "refused"; refusal: Refusal; folded: boolean; correctionId?: string; current?: WorkerStatus }
  /** The correction is in the log: from this step, or (`replayed`) from an earlier one. */
  | { kind: "admitted"; correctionId: string; replayed: boolean; deliverable: boolean }
  /** Where the correction stands; `planned`: the step also judged a planned action. */
  | { kind: "stage"; correctionId: string; planned: boolean }
  | { kind: "row"; changed: boolean };

export interface Decision {
  events: readonly KernelEvent[];
  answer: Answer;
}

export const DONE: Decision = { events: [], answer: { kind: "done" } };
