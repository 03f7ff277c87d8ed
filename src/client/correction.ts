import type { DeliveredCorrection, PlannedAction, PushOf } from "../protocol/index.js";
import type { StageAnswer } from "./answers.js";
import type { CallOptions } from "./bounded.js";
import type { Refused } from "./refusals.js";
import type { RowLane } from "./row-lane.js";

/**
 * A correction that this worker has received: the broker has answered DELIVERED (PROTOCOL.md section 4). `message` is
 * text that somebody wrote; that it is sent is witnessed, not that it is right.
 */
export interface Correction extends DeliveredCorrection {
  /** 1 + receipts by earlier sessions. */
  readonly attempt: number;
  /** An earlier session of this worker received it already and may have acted on it. */
  readonly redelivered: boolean;
  /** The row had changed since the correction was written, by the time that it was taken. */
  readonly stale_context: boolean;
  /** `seq` of the row that it was written for. */
  readonly written_at_seq: number;
  /** Milliseconds between the admission and the push. */
  readonly age_ms: number;
  /** Corrections that waited for the application behind this one when it was taken. */
  readonly backlog: number;
  /**
   * Acknowledges it; with `next_action`, also publishes the plan that follows from it: name this id in `reflects` to
   * have it WITNESSED. An end as the answer (EXPIRED, say) means that it was over before. Repeating records nothing.
   */
  ack(fields?: { next_action?: PlannedAction | undefined }, options?: CallOptions): Promise<StageAnswer | Refused>;
  /** Turns it down, with a reason of at most 256 UTF-8 bytes. After an ack it changes nothing. */
  decline(reason: string, options?: CallOptions): Promise<StageAnswer | Refused>;
}

/** Makes a pushed correction, now received, into what the application gets; `backlog` others wait behind it. */
export function received(frame: PushOf<"correction">, backlog: number, lane: RowLane): Correction {
  const { correction, attempt, redelivered, stale_context, written_at_seq, age_ms } = frame;
  const cited = { correction_id: correction.correction_id, status_digest: correction.status_digest ?? "" };
  const acked = { taken: false };
  return {
    ...correction,
    attempt,
    redelivered,
    // The row may have moved since the push.
    stale_context: stale_context || lane.hasMoved(cited.status_digest),
    written_at_seq,
    age_ms,
    backlog,
    ack: ({ next_action } = {}, options = {}) =>
      lane.ack({ ...cited, ...(next_action !== undefined && { next_action }) }, acked, options),
    decline: (reason, options = {}) => lane.decline({ ...cited, reason }, options),
  };
}
