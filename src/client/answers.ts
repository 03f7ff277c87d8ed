import type { Outcome as PlanOutcome, ReplyOf, WorkerStatus } from "../protocol/index.js";
import { A2achanError } from "./errors.js";
import { bodyOf } from "./frames.js";
import { refusedBy, type Refused } from "./refusals.js";

/** The row as a `status` left it (PROTOCOL.md section 6). */
export interface StatusAnswer {
  row: WorkerStatus;
  status_digest: string;
  /** False when the row said the same already. */
  changed: boolean;
  /** Open corrections of the worker. */
  pending: number;
  /** What this step ended. */
  outcomes: PlanOutcome[];
}

/** Where a correction stands (PROTOCOL.md section 4); after a planned action also the row's new seq and digest. */
export type StageAnswer = Omit<ReplyOf<"stage">, "type" | "id">;

export function statusAnswer(reply: ReplyOf<"row"> | ReplyOf<"refusal">): StatusAnswer | Refused {
  if (reply.type === "refusal") return refusedBy(reply);
  if (!("changed" in reply)) throw new A2achanError("protocol");
  return bodyOf(reply);
}

export function stageAnswer(reply: ReplyOf<"stage"> | ReplyOf<"refusal">): StageAnswer | Refused {
  return reply.type === "refusal" ? refusedBy(reply) : bodyOf(reply);
}

/** The answer of a request that is done or refused. */
export function doneAnswer(reply: ReplyOf<"ok"> | ReplyOf<"refusal">): Refused | undefined {
  return reply.type === "refusal" ? refusedBy(reply) : undefined;
}
