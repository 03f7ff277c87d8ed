import { RULES_VERSION, TEXT_POLICY } from "../protocol/index.js";
import { changed } from "./action.js";
import { stillCovered } from "./authority.js";
import type { AddGrant, Bye, Lapse, RevokeGrant, Start } from "./commands.js";
import { DONE, type Decision } from "./decision.js";
import type { Ended, GrantAdded, KernelEvent, Principal } from "./events.js";
import { refuseWorker } from "./holder.js";
import { ended, staleEnds } from "./lifecycle.js";
import { refuse } from "./refuse.js";
import type { Correction, Expiry, Grant, State, Worker } from "./state.js";

/** Who the entry names when nobody but the broker moved. */
export const BROKER: Principal = { role: "broker", subject: "broker" };

/** Opens a log or takes one up again; fail closed: no row is live until its worker says so again. */
export function decideStart(state: State, command: Start): Decision {
  const { now, shard, origin, log_key, id_key, version, limits, torn } = command;
  const at = now;
  const events: KernelEvent[] = [];
  if (state.size === 0) events.push({ kind: "log_opened", at, by: BROKER, shard, origin, log_key, id_key });
  events.push({
    kind: "broker_started",
    at,
    by: BROKER,
    version,
    rules: RULES_VERSION,
    text_policy: TEXT_POLICY,
    limits,
    ...(torn !== undefined && { torn }),
  });
  for (const worker of state.workers.values()) events.push(...notLive(worker, "restart", now));
  return { events, answer: { kind: "done" } };
}

export function decideLapse(state: State, { now, worker_id }: Lapse): Decision {
  const worker = state.workers.get(worker_id);
  if (worker === undefined) return DONE;
  return { events: notLive(worker, "lease_lapsed", now), answer: { kind: "done" } };
}

function notLive(worker: Worker, cause: "restart" | "lease_lapsed", now: number): KernelEvent[] {
  const before = worker.row;
  if (before === undefined || !before.live) return [];
  const after = { ...before, live: false, seq: before.seq + 1 };
  const ends = staleEnds(worker.open.values(), before, after, now, BROKER);
  return [changed(after, cause, now, BROKER), ...ends];
}

/** The worker ends its run: what is open is ORPHANED, and the row is not live any more. */
export function decideBye(state: State, command: Bye): Decision {
  const { now, by, worker_id, session, outcome } = command;
  const refusal = refuseWorker(state, command);
  if (refusal !== undefined) return refuse(state, now, by, "bye", refusal, { worker_id, session });
  const worker = state.workers.get(worker_id);
  const row = worker?.row;
  if (worker === undefined || row === undefined || worker.ended) return DONE;
  const orphans = [...worker.open.values()].map((correction) => ended(correction, "orphaned", now, by));
  const after = row.live ? { ...row, live: false, seq: row.seq + 1 } : row;
  const status = changed(after, "ended", now, by, outcome === undefined ? {} : { outcome });
  return { events: [...orphans, status], answer: { kind: "done" } };
}

/** A grant for a token that had one takes its place, and ends what only the old one covered. */
export function decideAddGrant(state: State, command: AddGrant): Decision {
  const { kind: _kind, now, by, ...grant } = command;
  const added: GrantAdded = { kind: "grant_added", at: now, by, ...grant };
  const before = state.grants.get(grant.token);
  const ends =
    before === undefined ? [] : revocations(state, before, { ...grant, index: state.size, revoked: false }, now, by);
  return { events: [added, ...ends], answer: { kind: "done" } };
}

export function decideRevokeGrant(state: State, { now, by, token }: RevokeGrant): Decision {
  const grant = state.grants.get(token);
  if (grant === undefined || grant.revoked) return DONE;
  const revoked: KernelEvent = { kind: "grant_revoked", at: now, by, token };
  const ends = revocations(state, grant, { ...grant, revoked: true }, now, by);
  return { events: [revoked, ...ends], answer: { kind: "done" } };
}

/** The ends of the corrections that `before` covered and nothing covers once `after` stands in its place. */
function revocations(state: State, before: Grant, after: Grant, now: number, by: Principal): Ended[] {
  const grants = new Map(state.grants).set(after.token, after);
  const gone = uncovered({ ...state, grants }, before, now);
  return gone.map((correction) => ended(correction, "revoked", now, by));
}

/** The corrections that end with a grant: ADMITTED ones that no other token of the sender, valid at `at`, covers. */
function uncovered(state: State, grant: Grant, at: number): Correction[] {
  const open = [...(state.senders.get(grant.subject)?.open.values() ?? [])];
  return open.filter((correction) => correction.stage === "ADMITTED" && !stillCovered(state, correction, at));
}

/**
 * What one due thing ends: a correction whose window is over, or the corrections of a grant that expires. Judged as of
 * the due time, so that the outcome is the same whenever the broker comes round to it.
 */
export function decideDue(state: State, due: Correction | Expiry, now: number): KernelEvent[] {
  if ("token" in due) {
    const grant = state.grants.get(due.token);
    const gone = grant === undefined ? [] : uncovered(state, grant, due.dueAt);
    return gone.map((one) => ended(one, "revoked", now, BROKER));
  }
  return [ended(due, "expired", now, BROKER, due.acked ? { detail: "WINDOW" } : {})];
}
