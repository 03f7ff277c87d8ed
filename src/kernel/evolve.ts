import { LIMITS, isOpen, type EndStage } from "../protocol/index.js";
import { OUTSIDE } from "./due.js";
import type {
  Acked,
  Admitted,
  Delivered,
  Ended,
  GrantAdded,
  KernelEvent,
  Row,
  SessionOpened,
  StatusChanged,
  Text,
} from "./events.js";
import { principalKey, type Correction, type Grant, type Sender, type State, type Worker } from "./state.js";

/**
 * Applies one event to the state, in place: the only way in which state changes. Total for events of `decide`.
 * Returns the `worker_entry` of its log entry: the count of entries that name its worker, from that worker's first row on.
 */
export function evolve(state: State, event: KernelEvent): number | undefined {
  const index = state.size;
  state.size = index + 1;
  state.at = event.at;
  const worker = apply(state, event, index);
  if (worker?.row === undefined) return undefined;
  worker.entries += 1;
  return worker.entries;
}

/** Applies what its kind says; returns the worker that the event names, if there is a record of it. */
function apply(state: State, event: KernelEvent, index: number): Worker | undefined {
  switch (event.kind) {
    case "log_opened":
      state.shard = event.shard;
      state.opened = { origin: event.origin, log_key: event.log_key, id_key: event.id_key };
      return undefined;
    case "broker_started":
      state.limits = event.limits;
      for (const worker of state.workers.values()) delete worker.session;
      return undefined;
    case "grant_added":
      addGrant(state, event, index);
      return undefined;
    case "grant_revoked": {
      const grant = state.grants.get(event.token);
      if (grant !== undefined) grant.revoked = true;
      return undefined;
    }
    case "broker_stopped":
    case "refusals_folded":
    // What may be redacted is in no row and in no open correction, so not in the state.
    case "redacted":
      return undefined;
    case "refused":
      if (event.by.role !== "broker") fillBucket(state, principalKey(event.by.role, event.by.subject), event.at);
      return event.worker_id === undefined ? undefined : state.workers.get(event.worker_id);
    case "session_opened":
      return openSession(state, event);
    case "status":
      return moveRow(state, event);
    case "planned":
      return state.workers.get(event.worker_id);
    case "admitted":
      return admit(state, event, index);
    case "delivered":
      return deliver(known(state, event.correction_id), event, index);
    case "acked":
      return ack(state, known(state, event.correction_id), event, index);
    case "late_ack": {
      const correction = known(state, event.correction_id);
      correction.lateAck = true;
      return correction.worker;
    }
    default:
      return end(state, known(state, event.correction_id), event, index);
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
    sender = { subject, open: new Map(), ended: [], admittedTimes: [] };
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
    state.due.put({ dueAt: event.expires_at, index, place: OUTSIDE, token: event.token });
  }
}

function openSession(state: State, event: SessionOpened): Worker {
  const worker = workerOf(state, event.worker_id);
  worker.session = event.session;
  worker.leaseMs = event.lease_ms;
  return worker;
}

function moveRow(state: State, event: StatusChanged): Worker {
  const worker = workerOf(state, event.worker_id);
  worker.row = keptRow(event.row, worker.row);
  worker.ended = event.cause === "ended";
  if (event.cause === "ended") delete worker.session;
  if (event.cause === "published") remember(worker.digestTimes, event.at, state.limits.digests_per_window);
  worker.digest = event.status_digest;
  for (const sent of worker.citing.values()) {
    for (const correction of sent) {
      correction.citing = false;
      letGo(state, correction);
    }
  }
  worker.citing.clear();
  return worker;
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

function admit(state: State, event: Admitted, index: number): Worker {
  const worker = workerOf(state, event.worker_id);
  const sender = senderOf(state, event.orchestrator_id);
  const correction: Correction = {
    id: event.correction_id,
    index,
    worker,
    sender,
    content: { ...event.content, message: keep(event.content.message) },
    seq: event.seq,
    admittedAt: event.at,
    stage: "ADMITTED",
    stageIndex: index,
    stageAt: event.at,
    dueAt: event.expires_at,
    place: OUTSIDE,
    expiresAt: event.expires_at,
    acked: false,
    lateAck: false,
    receipts: 0,
    citing: true,
    recent: false,
  };
  state.corrections.set(correction.id, correction);
  worker.open.set(correction.id, correction);
  const citing = worker.citing.get(sender.subject);
  if (citing === undefined) worker.citing.set(sender.subject, [correction]);
  else citing.push(correction);
  sender.open.set(correction.id, correction);
  remember(sender.admittedTimes, event.at, state.limits.admitted_per_window);
  state.due.put(correction);
  return worker;
}

function deliver(correction: Correction, event: Delivered, index: number): Worker {
  correction.receipts += 1;
  correction.lastReceipt = event.session;
  if (correction.stage === "ADMITTED") setStage(correction, "DELIVERED", index, event.at);
  return correction.worker;
}

function ack(state: State, correction: Correction, event: Acked, index: number): Worker {
  correction.acked = true;
  setStage(correction, "ACKED", index, event.at);
  correction.dueAt = event.expires_at;
  state.due.put(correction);
  return correction.worker;
}

/** Ends a correction, in place of the oldest of the last ended ones of its sender. */
function end(state: State, correction: Correction, event: Ended, index: number): Worker {
  const { id, worker, sender } = correction;
  setStage(correction, event.kind.toUpperCase() as EndStage, index, event.at);
  if (event.detail !== undefined) correction.detail = event.detail;
  if (event.echo !== undefined) correction.echo = event.echo;
  // Its text is sent to nobody any more.
  const { bytes, commitment } = correction.content.message;
  correction.content.message = { bytes, commitment };
  state.due.remove(correction);
  worker.open.delete(id);
  sender.open.delete(id);
  correction.recent = true;
  sender.ended.push(correction);
  while (sender.ended.length > state.limits.ended_per_principal) {
    const oldest = sender.ended.shift() as Correction;
    oldest.recent = false;
    letGo(state, oldest);
  }
  return worker;
}

/** Forgets a correction that ended, once it is not among the last and its digest is not current any more. */
function letGo(state: State, { id, stage, citing, recent }: Correction): void {
  if (!isOpen(stage) && !citing && !recent) state.corrections.delete(id);
}

function setStage(correction: Correction, stage: Correction["stage"], index: number, at: number): void {
  correction.stage = stage;
  correction.stageIndex = index;
  correction.stageAt = at;
}

function remember(times: number[], at: number, most: number): void {
  times.push(at);
  if (times.length > most) times.splice(0, times.length - most);
}

function fillBucket(state: State, principal: string, at: number): void {
  const fullAt = Math.max(state.refusalFullAt.get(principal) ?? 0, at);
  state.refusalFullAt.set(principal, fullAt + state.limits.refusal_refill_ms);
}
