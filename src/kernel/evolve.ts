import { LIMITS, isOpen, type EndStage } from "../protocol/index.js";
import type { Admitted, Ended, GrantAdded, KernelEvent, Row, StatusChanged, Text } from "./events.js";
import { principalKey, type Correction, type Grant, type Sender, type State, type Worker } from "./state.js";

/**
 * Applies one event to the state, in place: the only way in which state changes. Total for events of `decide`.
 * Returns the `worker_entry` of its log entry: the count of entries that name its worker, from that worker's first row on.
 */
export function evolve(state: State, event: KernelEvent): number | undefined {
  const index = state.size;
  state.size = index + 1;
  state.at = event.at;
  apply(state, event, index);
  const worker = "worker_id" in event && event.worker_id !== undefined ? state.workers.get(event.worker_id) : undefined;
  if (worker?.row === undefined) return undefined;
  worker.entries += 1;
  return worker.entries;
}

function apply(state: State, event: KernelEvent, index: number): void {
  switch (event.kind) {
    case "log_opened":
      state.shard = event.shard;
      state.opened = { origin: event.origin, log_key: event.log_key, id_key: event.id_key };
      return;
    case "broker_started":
      state.limits = event.limits;
      for (const worker of state.workers.values()) delete worker.session;
      return;
    case "broker_stopped":
      return;
    case "grant_added":
      return addGrant(state, event, index);
    case "grant_revoked": {
      const grant = state.grants.get(event.token);
      if (grant !== undefined) grant.revoked = true;
      return;
    }
    case "session_opened": {
      const worker = workerOf(state, event.worker_id);
      worker.session = event.session;
      worker.leaseMs = event.lease_ms;
      return;
    }
    case "status":
      return moveRow(state, event);
    case "admitted":
      return admit(state, event, index);
    case "refused":
      if (event.by.role !== "broker") fillBucket(state, principalKey(event.by.role, event.by.subject), event.at);
      return;
    case "refusals_folded":
      return;
    case "delivered": {
      const correction = known(state, event.correction_id);
      correction.receipts += 1;
      correction.lastReceipt = event.session;
      if (correction.stage === "ADMITTED") setStage(correction, "DELIVERED", index, event.at);
      return;
    }
    case "acked": {
      const correction = known(state, event.correction_id);
      correction.acked = true;
      setStage(correction, "ACKED", index, event.at);
      setDue(state, correction, event.expires_at);
      return;
    }
    case "planned":
    // What may be redacted is in no row and in no open correction, so not in the state.
    case "redacted":
      return;
    case "late_ack":
      known(state, event.correction_id).lateAck = true;
      return;
    default:
      return end(state, event, index);
  }
}

/** The worker's record; a session makes one before the first row does. */
function workerOf(state: State, id: string): Worker {
  let worker = state.workers.get(id);
  if (worker === undefined) {
    worker = {
      id,
      leaseMs: LIMITS.lease_default_ms,
      ended: false,
      open: new Map(),
      citing: new Map(),
      entries: 0,
      digestTimes: [],
    };
    state.workers.set(id, worker);
  }
  return worker;
}

function senderOf(state: State, subject: string): Sender {
  let sender = state.senders.get(subject);
  if (sender === undefined) {
    sender = { open: new Map(), ended: [], admittedTimes: [] };
    state.senders.set(subject, sender);
  }
  return sender;
}

function known(state: State, id: string): Correction {
  const correction = state.corrections.get(id);
  if (correction === undefined) throw new Error(`event names correction ${id}, which is not in the log before it`);
  return correction;
}

function addGrant(state: State, event: GrantAdded, index: number): void {
  const { token, subject, role, verbs, patterns, expires_at } = event;
  const grant: Grant = { index, revoked: false, token, subject, role, verbs, patterns };
  if (expires_at !== undefined) grant.expires_at = expires_at;
  state.grants.set(token, grant);
  if (verbs.includes("correct")) {
    const tokens = state.tokensOf.get(subject);
    if (tokens === undefined) state.tokensOf.set(subject, new Set([token]));
    else tokens.add(token);
  }
  if (event.expires_at !== undefined) {
    state.due.push({ at: event.expires_at, index, kind: "grant", id: event.token });
  }
}

function moveRow(state: State, event: StatusChanged): void {
  const worker = workerOf(state, event.worker_id);
  worker.row = keptRow(event.row, worker.row);
  worker.ended = event.cause === "ended";
  if (event.cause === "ended") delete worker.session;
  if (event.cause === "published") remember(worker.digestTimes, event.at, state.limits.digests_per_window);
  worker.digest = event.status_digest;
  for (const sent of worker.citing.values())
    for (const cited of sent) if (!isOpen(cited.stage) && !cited.recent) state.corrections.delete(cited.id);
  worker.citing.clear();
}

/** A row as the state keeps it: the log holds a text once, at the entry that brought it, and then its commitment alone. */
export function keptRow(row: Row, before: Row | undefined): Row {
  const { worker_id, issue, task_id, lane, live, seq } = row;
  const kept: Row = { worker_id, issue, lane, live, seq };
  if (task_id !== undefined) kept.task_id = task_id;
  if (row.last_action !== undefined) kept.last_action = keep(row.last_action, before?.last_action);
  if (row.next_action !== undefined) {
    kept.next_action = { ...row.next_action, summary: keep(row.next_action.summary, before?.next_action?.summary) };
  }
  return kept;
}

// The state needs the text; the salt is the log's.
function keep(text: Text, before?: Text): Text {
  if (text.text === undefined && before?.commitment === text.commitment) return before;
  const { bytes, commitment } = text;
  return text.text === undefined ? { bytes, commitment } : { bytes, commitment, text: text.text };
}

function admit(state: State, event: Admitted, index: number): void {
  const worker = workerOf(state, event.worker_id);
  const sender = senderOf(state, event.orchestrator_id);
  const correction: Correction = {
    id: event.correction_id,
    index,
    workerId: event.worker_id,
    sender: event.orchestrator_id,
    content: { ...event.content, message: keep(event.content.message) },
    seq: event.seq,
    admittedAt: event.at,
    stage: "ADMITTED",
    stageIndex: index,
    stageAt: event.at,
    dueAt: event.expires_at,
    expiresAt: event.expires_at,
    acked: false,
    lateAck: false,
    receipts: 0,
    recent: false,
  };
  state.corrections.set(correction.id, correction);
  worker.open.set(correction.id, correction);
  const citing = worker.citing.get(correction.sender);
  if (citing === undefined) worker.citing.set(correction.sender, new Set([correction]));
  else citing.add(correction);
  sender.open.set(correction.id, correction);
  remember(sender.admittedTimes, event.at, state.limits.admitted_per_window);
  setDue(state, correction, event.expires_at);
}

function setStage(correction: Correction, stage: Correction["stage"], index: number, at: number): void {
  correction.stage = stage;
  correction.stageIndex = index;
  correction.stageAt = at;
}

function setDue(state: State, correction: Correction, at: number): void {
  correction.dueAt = at;
  state.due.push({ at, index: correction.index, kind: "correction", id: correction.id });
}

/** Ends a correction and lets go of the oldest ended one of its sender, unless the digest that it cites is current. */
function end(state: State, event: Ended, index: number): void {
  const correction = known(state, event.correction_id);
  setStage(correction, event.kind.toUpperCase() as EndStage, index, event.at);
  if (event.detail !== undefined) correction.detail = event.detail;
  if (event.echo !== undefined) correction.echo = event.echo;
  // Its text is sent to nobody any more.
  const { bytes, commitment } = correction.content.message;
  correction.content.message = { bytes, commitment };
  const worker = workerOf(state, correction.workerId);
  const sender = senderOf(state, correction.sender);
  worker.open.delete(correction.id);
  sender.open.delete(correction.id);
  correction.recent = true;
  sender.ended.push(correction);
  while (sender.ended.length > state.limits.ended_per_principal) {
    const oldest = sender.ended.shift() as Correction;
    oldest.recent = false;
    const citing = workerOf(state, oldest.workerId).citing.get(oldest.sender);
    if (citing?.has(oldest) !== true) state.corrections.delete(oldest.id);
  }
}

function remember(times: number[], at: number, most: number): void {
  times.push(at);
  if (times.length > most) times.splice(0, times.length - most);
}

function fillBucket(state: State, principal: string, at: number): void {
  const fullAt = Math.max(state.refusalFullAt.get(principal) ?? 0, at);
  state.refusalFullAt.set(principal, fullAt + state.limits.refusal_refill_ms);
}
