import { isOpen, statusDigest, type Refusal, type ReplyOf, type Stage, type WorkerStatus } from "../protocol/index.js";
import type { CallOptions } from "./bounded.js";
import type { Outcome, StageNotice } from "./course.js";
import { A2achanError } from "./errors.js";
import { movedFields, type MovedField } from "./moved.js";
import { adviceFor } from "./refusals.js";
import type { StageBook } from "./stage-book.js";

/** The correction is in the log. */
export interface Admitted {
  verdict: "ALLOW";
  /**
   * False for a repeat (same content, same key) of a correction that has ended otherwise than WITNESSED: nothing was
   * sent by this call. Use a new key for a new attempt.
   */
  sent: boolean;
  correction_id: string;
  /** ADMITTED, or where a repeated one stands by now. */
  stage: Stage;
  /** Of the admission's entry in the log. */
  index: number;
  /** Milliseconds of log time by which the worker must have acknowledged it. */
  expires_at: number;
  /** Whether the worker's session can take it at once; otherwise it waits for the worker, until `expires_at`. */
  deliverable: boolean;
  /** It was admitted by an earlier call, or by an earlier sending of this one. */
  replayed: boolean;
  /**
   * Its end; exactly one comes. Rejects with what ended the client, or with `unknown_outcome` if the broker no longer
   * knows the correction. Need not be awaited; `stages` takes a signal for those who wait no longer.
   */
  readonly outcome: Promise<Outcome>;
  /** Its stages, each once, in order, up to its end. */
  stages(options?: CallOptions): AsyncIterableIterator<StageNotice>;
}

/** The correction was refused: nothing was sent (PROTOCOL.md section 3). */
export interface Denied extends Refusal {
  verdict: "DENY";
  sent: false;
  correction_id?: string;
  /** Of the refusal's entry in the log; absent when `folded`, or when nothing was sent (`codec`). */
  index?: number;
  /** The broker counted this refusal instead of logging it by itself. */
  folded?: true;
  /** The row as it is, on a DIGEST refusal, for those who may watch it. Decide again before citing it. */
  current?: WorkerStatus;
  /** In what `current` differs from the row that was cited; empty if that row was not at hand. */
  moved: MovedField[];
  /** One sentence that says what to do. */
  advice: string;
}

/** What `correct` resolves with: nothing of it is thrown. */
export type Receipt = Admitted | Denied;

/** What a correction cited, and the row that its sender had at hand: another one, perhaps. */
interface Cited {
  row: WorkerStatus;
  status_digest: string;
}

/** A receipt as the caller gets it; an admitted correction is followed in the book from here on. */
export function receiptOf(reply: ReplyOf<"receipt">, cited: Cited, book: StageBook): Receipt {
  return reply.verdict === "ALLOW" ? admitted(reply, cited, book) : denied(reply, cited);
}

function denied(reply: ReplyOf<"receipt">, { row, status_digest }: Cited): Denied {
  const { reason, detail, path, bytes, max_bytes, correction_id, index, folded, current } = reply;
  if (reason === undefined) throw new A2achanError("protocol");
  const refusal: Refusal = {
    reason,
    ...(detail !== undefined && { detail }),
    ...(path !== undefined && { path }),
    ...(bytes !== undefined && { bytes }),
    ...(max_bytes !== undefined && { max_bytes }),
  };
  return {
    verdict: "DENY",
    sent: false,
    ...refusal,
    ...(correction_id !== undefined && { correction_id }),
    ...(index !== undefined && { index }),
    ...(folded !== undefined && { folded }),
    ...(current !== undefined && { current }),
    moved: current !== undefined && statusDigest(row) === status_digest ? movedFields(row, current) : [],
    advice: adviceFor(refusal),
  };
}

function admitted(reply: ReplyOf<"receipt">, { row }: Cited, book: StageBook): Admitted {
  const { correction_id, stage, index, expires_at, deliverable } = reply;
  if (correction_id === undefined || stage === undefined || index === undefined) throw new A2achanError("protocol");
  if (expires_at === undefined || deliverable === undefined) throw new A2achanError("protocol");
  const replayed = reply.replayed === true;
  const { outcome, stages } = book.follow(correction_id);
  book.tell({ correction_id, worker_id: row.worker_id, stage: "ADMITTED", index });
  const notSent = replayed && stage !== "WITNESSED" && !isOpen(stage);
  return {
    verdict: "ALLOW",
    sent: !notSent,
    correction_id,
    stage,
    index,
    expires_at,
    deliverable,
    replayed,
    outcome,
    stages,
  };
}
