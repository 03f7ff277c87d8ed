import { covers, isOpen, type Refusal, type Scope } from "../protocol/index.js";
import { overRate } from "./admission.js";
import { grantFor } from "./authority.js";
import type { Ack, Status } from "./commands.js";
import type { Decision } from "./decision.js";
import type {
  Acked,
  Ended,
  KernelEvent,
  LateAck,
  Planned,
  PlannedText,
  Principal,
  Row,
  StatusChanged,
  Text,
} from "./events.js";
import { heldCorrection, refuseWorker } from "./holder.js";
import { ended, ofCorrection, receipt, staleEnds, stageAnswer } from "./lifecycle.js";
import { refuse } from "./refuse.js";
import { rowDigest, sameContent, sameReflects, sameText } from "./rows.js";
import type { Correction, State, Worker } from "./state.js";

/** A worker publishes its row; with a `next_action` that differs from the row's this is also its planned action. */
export function decideStatus(state: State, command: Status): Decision {
  const { now, by, worker_id, issue, task_id, lane } = command;
  const worker = state.workers.get(worker_id);
  const before = worker?.row;
  const no = (refusal: Refusal): Decision => refuseAction(state, command, refusal, before);

  const refusal = refuseWorker(state, command);
  if (refusal !== undefined) return no(refusal);
  if (worker === undefined || !mayPublish(state, command, { worker_id, issue, lane })) {
    return no({ reason: "DEFAULT_DENY", detail: "NO_GRANT" });
  }
  if (command.expect_seq !== undefined && command.expect_seq !== (before?.seq ?? 0)) {
    return no({ reason: "UNWITNESSED", detail: "SEQ" });
  }
  const after: Row = { worker_id, issue, lane, live: true, seq: before?.seq ?? 0 };
  if (task_id !== undefined) after.task_id = task_id;
  if (command.last_action !== undefined) after.last_action = unchanged(before?.last_action, command.last_action);
  if (command.next_action !== undefined) after.next_action = nextAction(before, command.next_action);
  const same = before !== undefined && sameContent(before, after);
  if (same) return { events: [], answer: { kind: "row", changed: false } };
  if (overDigestRate(state, worker, now)) return no({ reason: "RATE_LIMITED", detail: "RATE" });
  return { events: move(worker, after, command, by), answer: { kind: "row", changed: true } };
}

/** The addressed worker acknowledges a correction, at best with the planned action that names it. */
export function decideAck(state: State, command: Ack): Decision {
  const { now, by, worker_id, session, next_action } = command;
  const found = heldCorrection(state, command);
  if ("events" in found) return found;
  if (!isOpen(found.stage)) return stageAnswer(lateAck(found, command), found);
  if (found.acked) return stageAnswer([], found);
  const worker = state.workers.get(worker_id) as Worker;
  const before = worker.row as Row;
  const no = (refusal: Refusal): Decision => refuseAction(state, command, refusal, before);
  if (next_action !== undefined && !mayPublish(state, command, before)) {
    return no({ reason: "DEFAULT_DENY", detail: "NO_GRANT" });
  }
  if (next_action !== undefined && !before.live) return no({ reason: "UNWITNESSED", detail: "NOT_LIVE" });

  const plans = next_action !== undefined && differs(before, next_action);
  if (plans && overDigestRate(state, worker, now)) return no({ reason: "RATE_LIMITED", detail: "RATE" });
  const delivered = receipt(found, now, by, session);
  const window = found.expiresAt - found.admittedAt;
  const acked: Acked = { kind: "acked", at: now, by, ...ofCorrection(found), session, expires_at: now + window };
  const events: KernelEvent[] = delivered === undefined ? [acked] : [delivered, acked];
  if (plans) {
    const after: Row = { ...before, next_action: nextAction(before, next_action) };
    events.push(...move(worker, after, command, by, found));
  }
  return stageAnswer(events, found, plans);
}

function refuseAction(state: State, command: Status | Ack, refusal: Refusal, before: Row | undefined): Decision {
  const { kind, now, by, ...asked } = command;
  return refuse(state, now, by, kind, refusal, { ...asked, ...(before && { seq: before.seq }) });
}

/** Whether the worker's grant lets it publish a row of this scope, by a `status` or by the plan in an `ack`. */
function mayPublish(state: State, { by, now }: Status | Ack, scope: Scope): boolean {
  const grant = grantFor(state, by, "publish", now);
  return grant !== undefined && covers(grant.patterns, scope);
}

function overDigestRate({ limits }: State, worker: Worker, now: number): boolean {
  return overRate(worker.digestTimes, limits.digests_per_window, limits.rate_window_ms, now);
}

// EXPIRED says not witnessed: that the worker acted all the same is worth an entry, once.
function lateAck(correction: Correction, { now, by, session }: Ack): LateAck[] {
  if (correction.stage !== "EXPIRED" || correction.acked || correction.lateAck) return [];
  return [{ kind: "late_ack", at: now, by, ...ofCorrection(correction), session }];
}

/** Planned action, the ends that it decides by admission index, the row, then what the row's move makes stale. */
function move(
  worker: Worker,
  after: Row,
  command: Pick<Status, "now" | "next_action">,
  by: Principal,
  justAcked?: Correction,
): KernelEvent[] {
  const { now, next_action } = command;
  const before = worker.row;
  const judged: Ended[] = [];
  const events: KernelEvent[] = [];
  if (next_action !== undefined && after.next_action !== undefined && differs(before, next_action)) {
    const plan = planned(worker.id, before, after.next_action, next_action, now, by);
    judged.push(...judge(worker, plan, justAcked));
    events.push(plan, ...judged);
  }
  events.push(changed({ ...after, seq: after.seq + 1 }, "published", now, by));
  if (before === undefined) return events;
  const done = new Set(judged.map((end) => end.correction_id));
  const left = [...worker.open.values()].filter(({ id }) => !done.has(id));
  return [...events, ...staleEnds(left, before, after, now, by)];
}

function planned(
  worker_id: string,
  before: Row | undefined,
  { summary, reflects }: NonNullable<Row["next_action"]>,
  { via }: PlannedText,
  at: number,
  by: Principal,
): Planned {
  const plan: Planned = { kind: "planned", at, by, worker_id, summary, reflects };
  if (via !== undefined) plan.via = via;
  if (before?.next_action !== undefined && sameText(before.next_action.summary, summary)) plan.echo = true;
  return plan;
}

/** Every acked correction is judged by the next planned action: named in `reflects`, or not. */
function judge(worker: Worker, plan: Planned, justAcked: Correction | undefined): Ended[] {
  const ends: Ended[] = [];
  for (const correction of worker.open.values()) {
    if (correction.stage !== "ACKED" && correction !== justAcked) continue;
    const named = plan.reflects.includes(correction.id);
    const echo = named && plan.echo ? { echo: plan.echo } : {};
    ends.push(ended(correction, named ? "witnessed" : "unreflected", plan.at, plan.by, echo));
  }
  return ends;
}

/** The broker's entry for a row that changed. */
export function changed(
  row: Row,
  cause: StatusChanged["cause"],
  at: number,
  by: Principal,
  more: Pick<StatusChanged, "outcome"> = {},
): StatusChanged {
  return { kind: "status", at, by, worker_id: row.worker_id, row, status_digest: rowDigest(row), cause, ...more };
}

function differs(before: Row | undefined, next: PlannedText): boolean {
  const now = before?.next_action;
  return now === undefined || !sameText(now.summary, next.summary) || !sameReflects(now.reflects, next.reflects ?? []);
}

function nextAction(before: Row | undefined, next: PlannedText): NonNullable<Row["next_action"]> {
  return { summary: unchanged(before?.next_action?.summary, next.summary), reflects: next.reflects ?? [] };
}

// A text that stays keeps its commitment, so that the log holds it once.
function unchanged(before: Text | undefined, after: Text): Text {
  return before !== undefined && sameText(before, after) ? before : after;
}
