import {
  isOpen,
  type DeliveredCorrection,
  type Outcome,
  type PushOf,
  type Stage,
  type StageDetail,
  type WorkerStatus,
} from "../protocol/index.js";
import type { Correction, Worker } from "./state.js";
import type { Admitted, Delivered, Ended, KernelEvent, Acked } from "./events.js";
import { wireRow } from "./rows.js";

/** What a worker's row shows beside liveness and inbox, which the broker knows. */
export interface RowView {
  row: WorkerStatus;
  status_digest: string;
  pending: number;
  lease_ms: number;
}

/** What a view is made of: a worker, and how many of its corrections are open. */
export interface Viewed {
  row?: Worker["row"] | undefined;
  digest?: string | undefined;
  leaseMs: number;
  pending: number;
}

export function rowView({ row, digest, leaseMs, pending }: Viewed): RowView | undefined {
  const wire = row && wireRow(row);
  if (wire === undefined || digest === undefined) return undefined;
  return { row: wire, status_digest: digest, pending, lease_ms: leaseMs };
}

/** Un-acked open corrections of a worker as they are to be delivered: halts first, else in admission order. */
export function deliverable(worker: Worker): Correction[] {
  const waiting = [...worker.open.values()].filter(({ acked }) => !acked);
  const halts = waiting.filter(isHalt);
  return halts.length === 0 ? waiting : [...halts, ...waiting.filter((correction) => !isHalt(correction))];
}

function isHalt(correction: Correction): boolean {
  return correction.content.priority === "halt";
}

/** The push of a correction to `session` at `now`; undefined where its text is gone. */
export function correctionPush(
  correction: Correction,
  session: string,
  now: number,
  backlog: number,
): PushOf<"correction"> | undefined {
  const { message, ...content } = correction.content;
  if (message.text === undefined) return undefined;
  const sent: DeliveredCorrection = Object.assign(content, {
    message: message.text,
    correction_id: correction.id,
    orchestrator_id: correction.sender.subject,
    admitted_at: correction.admittedAt,
    expires_at: correction.dueAt,
  });
  const earlier = correction.lastReceipt === session ? correction.receipts - 1 : correction.receipts;
  return {
    type: "correction",
    correction: sent,
    attempt: earlier + 1,
    redelivered: earlier > 0,
    stale_context: correction.worker.digest !== content.status_digest,
    written_at_seq: correction.seq,
    age_ms: Math.max(0, now - correction.admittedAt),
    backlog,
  };
}

/** Where a correction stands, as `stage` replies and pushes say it. */
export interface StageView {
  correction_id: string;
  worker_id: string;
  stage: Stage;
  detail?: StageDetail;
  echo?: true;
  index: number;
  at: number;
}

export function stageView(correction: Correction): StageView {
  const view: StageView = {
    correction_id: correction.id,
    worker_id: correction.worker.id,
    stage: correction.stage,
    index: correction.stageIndex,
    at: correction.stageAt,
  };
  if (correction.detail !== undefined) view.detail = correction.detail;
  if (correction.echo !== undefined) view.echo = correction.echo;
  return view;
}

export type StageEvent = Admitted | Delivered | Acked | Ended;

/** The stage that an event brings about, if it is one that the sender is told of. */
export function stageOf(event: KernelEvent, index: number): StageView | undefined {
  switch (event.kind) {
    case "admitted":
      return viewOf(event, "ADMITTED", index);
    case "delivered":
      return event.attempt === 1 ? viewOf(event, "DELIVERED", index) : undefined;
    case "acked":
      return viewOf(event, "ACKED", index);
    case "witnessed":
    case "unreflected":
    case "declined":
    case "expired":
    case "withdrawn":
    case "superseded":
    case "stale":
    case "orphaned":
    case "revoked":
      return viewOf(event, event.kind.toUpperCase() as Stage, index);
    default:
      return undefined;
  }
}

function viewOf(event: StageEvent, stage: Stage, index: number): StageView {
  const view: StageView = {
    correction_id: event.correction_id,
    worker_id: event.worker_id,
    stage,
    index,
    at: event.at,
  };
  if ("detail" in event && event.detail !== undefined) view.detail = event.detail;
  if ("echo" in event && event.echo !== undefined) view.echo = event.echo;
  return view;
}

/** The ends among a step's events, as `outcomes` of its answer lists them. */
export function outcomesOf(events: readonly KernelEvent[], first: number): Outcome[] {
  const outcomes: Outcome[] = [];
  events.forEach((event, at) => {
    const view = stageOf(event, first + at);
    if (view === undefined || isOpen(view.stage)) return;
    const { correction_id, stage, index, detail } = view;
    outcomes.push({ correction_id, stage, index, ...(detail !== undefined && { detail }) });
  });
  return outcomes;
}
