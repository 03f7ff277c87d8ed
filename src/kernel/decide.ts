import { decideAck, decideStatus } from "./action.js";
import { decideCorrect } from "./admission.js";
import { refuseOther, refuseRole, refuseVerb } from "./authority.js";
import {
  BROKER,
  decideAddGrant,
  decideBye,
  decideDue,
  decideLapse,
  decideRevokeGrant,
  decideStart,
} from "./broker-moves.js";
import type { Command, Fold, Malformed, OpenSession, Read, TakeRole } from "./commands.js";
import { DONE, type Answer, type Decision } from "./decision.js";
import type { KernelEvent, RefusedRequest } from "./events.js";
import { evolve } from "./evolve.js";
import { decideDecline, decideReceive, decideSenders } from "./lifecycle.js";
import { decideRedact } from "./redaction.js";
import { refuse } from "./refuse.js";
import type { State } from "./state.js";

/** What one command did: its events from index `first` on, of which those from `own` on are the command's. */
export interface Step {
  first: number;
  events: readonly KernelEvent[];
  /** The `worker_entry` of each event, where it has one. */
  workerEntries: readonly (number | undefined)[];
  own: number;
  answer: Answer;
}

/**
 * One synchronous turn: ends what is due at the command's `now`, decides the command, and applies its events.
 * Nothing may be awaited inside, and nobody else may touch the state: that is what makes a stale citation lose
 * under any interleaving.
 */
export function step(state: State, command: Command): Step {
  const first = state.size;
  const events: KernelEvent[] = [];
  const workerEntries: (number | undefined)[] = [];
  const record = (event: KernelEvent): void => {
    workerEntries.push(evolve(state, event));
    events.push(event);
  };
  settle(state, command.now, record);
  const own = events.length;
  const decision = decide(state, command);
  decision.events.forEach(record);
  return { first, events, workerEntries, own, answer: decision.answer };
}

/** Log time at which something falls due next, or undefined. */
export function nextDue(state: State): number | undefined {
  return state.due.peek()?.dueAt;
}

function settle(state: State, now: number, record: (event: KernelEvent) => void): void {
  for (let due = state.due.peek(); due !== undefined && due.dueAt <= now; due = state.due.peek()) {
    state.due.remove(due);
    decideDue(state, due, now).forEach(record);
  }
}

/** Decides one command on a state in which nothing is due. Pure: reads the state, changes nothing. */
function decide(state: State, command: Command): Decision {
  switch (command.kind) {
    case "start":
      return decideStart(state, command);
    case "stop":
      return { events: [{ kind: "broker_stopped", at: command.now, by: BROKER }], answer: { kind: "done" } };
    case "add_grant":
      return decideAddGrant(state, command);
    case "revoke_grant":
      return decideRevokeGrant(state, command);
    case "redact":
      return decideRedact(state, command);
    case "take_role":
      return decideTakeRole(state, command);
    case "open_session":
      return decideOpenSession(state, command);
    case "lapse":
      return decideLapse(state, command);
    case "tick":
      return DONE;
    case "fold":
      return decideFold(command);
    case "malformed":
      return decideMalformed(state, command);
    case "read":
      return decideRead(state, command);
    case "status":
      return decideStatus(state, command);
    case "receive":
      return decideReceive(state, command);
    case "ack":
      return decideAck(state, command);
    case "decline":
      return decideDecline(state, command);
    case "bye":
      return decideBye(state, command);
    case "correct":
      return decideCorrect(state, command);
    case "withdraw":
    case "stage":
      return decideSenders(state, command);
  }
}

function decideTakeRole(state: State, command: TakeRole): Decision {
  const { now, by, role, worker_id } = command;
  const refusal = refuseRole(state, command);
  if (refusal === undefined) return DONE;
  return refuse(state, now, by, "hello", refusal, { role, ...(worker_id !== undefined && { worker_id }) });
}

function decideOpenSession(state: State, command: OpenSession): Decision {
  const { now, by, worker_id, session, lease_ms } = command;
  const refusal = refuseVerb(state, by, "status", now) ?? refuseOther(by, worker_id);
  if (refusal !== undefined) return refuse(state, now, by, "hello", refusal, { worker_id });
  return {
    events: [{ kind: "session_opened", at: now, by, worker_id, session, lease_ms }],
    answer: { kind: "done" },
  };
}

function decideFold({ now, role, subject, counts, first_at, last_at }: Fold): Decision {
  const folded: KernelEvent = {
    kind: "refusals_folded",
    at: now,
    by: BROKER,
    role,
    subject,
    counts,
    first_at,
    last_at,
  };
  return { events: [folded], answer: { kind: "done" } };
}

function decideMalformed(state: State, command: Malformed): Decision {
  const { now, by, request, refusal, message } = command;
  const first = refuseVerb(state, by, request, now) ?? refuseFenced(state, command) ?? refusal;
  const content = message === undefined ? {} : { content: { message } };
  return refuse(state, now, by, request, first, { ...askerOf(command), ...content });
}

function decideRead(state: State, command: Read): Decision {
  const { now, by, request } = command;
  const refusal = refuseVerb(state, by, request, now) ?? refuseFenced(state, command);
  if (refusal === undefined) return DONE;
  return refuse(state, now, by, request, refusal, askerOf(command));
}

function askerOf({ worker_id, session }: Read | Malformed): RefusedRequest {
  return { ...(worker_id !== undefined && { worker_id }), ...(session !== undefined && { session }) };
}

function refuseFenced(state: State, { by, session, worker_id }: Read | Malformed): ReturnType<typeof refuseVerb> {
  if (by.role !== "worker" || session === undefined || worker_id === undefined) return undefined;
  const current = state.workers.get(worker_id)?.session;
  return current === session ? undefined : { reason: "LEASE_HELD", detail: "SESSION" };
}
