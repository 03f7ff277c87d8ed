import type { RenderedCorrection } from "../../src/client/index.js";
import { STATUS_SCHEMA, statusDigest, type WorkerStatus } from "../../src/protocol/index.js";

/** A row of `w-1`, with `fields` over it. */
export function rowOf(fields: Partial<WorkerStatus> = {}): WorkerStatus {
  return { schema: STATUS_SCHEMA, worker_id: "w-1", issue: "2162", lane: "src", live: true, seq: 1, ...fields };
}

export function viewFrame(fields: Partial<WorkerStatus> = {}): Record<string, unknown> {
  const row = rowOf(fields);
  return { row, status_digest: statusDigest(row), liveness: "live", inbox: "open", pending: 0, lease_ms: 60_000 };
}

/** The id `corr_` and 32 times the digit. */
export function corr(digit: number): string {
  return `corr_${String(digit).repeat(32)}`;
}

/** The correction `corr(digit)` to `w-1`, as its worker received it. */
export function deliveredFields(digit: number): RenderedCorrection {
  return {
    correction_id: corr(digit),
    orchestrator_id: "orch",
    worker_id: "w-1",
    issue: "2162",
    lane: "src",
    message: `message ${digit}`,
    status_digest: statusDigest(rowOf()),
    key: `k${digit}`,
    admitted_at: 1_000,
    expires_at: 601_000,
    attempt: 1,
    redelivered: false,
    stale_context: false,
    written_at_seq: 1,
    age_ms: 5,
    backlog: 0,
  };
}

/** The push of the correction `corr(digit)` to `w-1`. */
export function correctionFrame(
  digit: number,
  fields: Record<string, unknown> = {},
  beside: Record<string, unknown> = {},
) {
  const { attempt, redelivered, stale_context, written_at_seq, age_ms, backlog, ...correction } =
    deliveredFields(digit);
  const delivery = { attempt, redelivered, stale_context, written_at_seq, age_ms, backlog };
  return { type: "correction", correction: { ...correction, ...fields }, ...delivery, ...beside };
}

/** A `stage` of `corr(digit)`: a push, or, with `id`, a reply. */
export function stageFrame(digit: number, stage: string, index: number, fields: Record<string, unknown> = {}) {
  return { type: "stage", correction_id: corr(digit), worker_id: "w-1", stage, index, at: 1_000 + index, ...fields };
}

/** The answer to a `status` frame: its fields as the row. */
export function rowReply(status: Record<string, unknown>, seq: number, fields: Record<string, unknown> = {}) {
  const { type: _type, id, next_action, ...rest } = status;
  const plan = next_action as { summary: string; reflects?: string[] } | undefined;
  const row = rowOf({
    ...rest,
    seq,
    ...(plan !== undefined && { next_action: { summary: plan.summary, reflects: plan.reflects ?? [] } }),
  });
  return {
    type: "row",
    id,
    row,
    status_digest: statusDigest(row),
    changed: true,
    pending: 0,
    outcomes: [],
    ...fields,
  };
}
