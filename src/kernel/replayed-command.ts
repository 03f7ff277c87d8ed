import { correctionContent } from "../protocol/index.js";
import type { Command, Correct, Start, Status } from "./commands.js";
import type { KernelEvent, LoggedContent, Planned, Refused, StatusChanged, Text } from "./events.js";
import { keptRow } from "./evolve.js";
import { rowDigest, sameReflects, wireRow } from "./rows.js";
import type { State } from "./state.js";

/** The log goes on with something that no command begins with. */
export const UNDECIDED = "undecided";
/** Which command it was is told by an entry that is still to come. */
export const WAIT = "wait";

/** A text that no decision looks into: the entry tells what became of the request without it. */
const UNREAD: Text = { bytes: 0, commitment: "" };

/**
 * The command that entries from the first to the last of `events` begin with, so that the kernel can decide it again.
 * What an entry does not say is taken from the state, or is on the list of what is attested (WITNESS-LOG.md).
 * A request that did several things may come back as several commands with the same entries.
 */
export function commandFrom(state: State, events: readonly KernelEvent[]): Command | typeof WAIT | typeof UNDECIDED {
  const event = events[0] as KernelEvent;
  const last = events.at(-1) as KernelEvent;
  const now = event.at;
  switch (event.kind) {
    case "log_opened":
      if (last.kind === "broker_started") return started(last, now, event);
      return events.length === 1 ? WAIT : UNDECIDED;
    case "broker_started":
      return started(event, now, { shard: state.shard, origin: "", log_key: "", id_key: "" });
    case "broker_stopped":
      return { kind: "stop", now };
    case "grant_added": {
      const { by, token, subject, role, verbs, patterns, expires_at } = event;
      const grant = { by, token, subject, role, verbs, patterns };
      return { kind: "add_grant", now, ...grant, ...(expires_at !== undefined && { expires_at }) };
    }
    case "grant_revoked":
      return { kind: "revoke_grant", now, by: event.by, token: event.token };
    case "redacted": {
      const { by, entry, field, committed } = event;
      return { kind: "redact", now, by, entry, field, committed };
    }
    case "session_opened": {
      const { by, worker_id, session, lease_ms } = event;
      return { kind: "open_session", now, by, worker_id, session, lease_ms };
    }
    case "status":
      return moved(state, event);
    case "planned":
      if (last.kind === "status")
        return published(state, { ...last, at: now, by: event.by }, planOf(state, event, last));
      return last === event || last.kind === "witnessed" || last.kind === "unreflected" ? WAIT : UNDECIDED;
    case "orphaned":
      if (last.kind === "status") return moved(state, { ...last, at: now, by: event.by });
      return last.kind === "orphaned" ? WAIT : UNDECIDED;
    case "admitted": {
      const { by, content, correction_id, deliverable } = event;
      return correct(content, { now, by, correction_id, reachable: deliverable });
    }
    case "refused":
      return refusedRequest(event);
    case "refusals_folded": {
      const { role, subject, counts, first_at, last_at } = event;
      return { kind: "fold", now, role, subject, counts, first_at, last_at };
    }
    case "delivered": {
      const { by, worker_id, session, correction_id } = event;
      return { kind: "receive", now, by, worker_id, session, correction_id };
    }
    case "acked":
    case "late_ack": {
      const { by, worker_id, session, correction_id } = event;
      return { kind: "ack", now, by, worker_id, session, correction_id, status_digest: cited(state, correction_id) };
    }
    case "declined": {
      const { by, worker_id, correction_id, reason = UNREAD } = event;
      const session = state.workers.get(worker_id)?.session ?? "";
      const status_digest = cited(state, correction_id);
      return { kind: "decline", now, by, worker_id, session, correction_id, status_digest, reason };
    }
    case "withdrawn":
      return { kind: "withdraw", now, by: event.by, correction_id: event.correction_id };
    case "expired":
    case "revoked":
      return { kind: "tick", now };
    case "witnessed":
    case "unreflected":
    case "superseded":
    case "stale":
      return UNDECIDED;
  }
}

type Started = Extract<KernelEvent, { kind: "broker_started" }>;

function started(
  { version, limits, torn }: Started,
  now: number,
  { shard, origin, log_key, id_key }: Pick<Start, "shard" | "origin" | "log_key" | "id_key">,
): Start {
  const opened = { shard, origin, log_key, id_key };
  return { kind: "start", now, ...opened, version, limits, ...(torn !== undefined && { torn }) };
}

function moved(state: State, event: StatusChanged): Command | typeof UNDECIDED {
  const { at: now, by, worker_id, cause, outcome } = event;
  switch (cause) {
    case "published":
      return published(state, event, event.row.next_action);
    case "lease_lapsed":
      return { kind: "lapse", now, worker_id };
    case "ended": {
      const session = state.workers.get(worker_id)?.session ?? "";
      return { kind: "bye", now, by, worker_id, session, ...(outcome !== undefined && { outcome }) };
    }
    case "restart":
      return UNDECIDED;
  }
}

/** A planned action as the log holds it: `via` is in its own entry alone. */
type Plan = Pick<Planned, "summary" | "reflects" | "via">;

/** What the worker planned. Where the plan's entry and its row's say different things, the row's digest tells which lies. */
function planOf(state: State, plan: Planned, { worker_id, row, status_digest }: StatusChanged): Plan {
  const { next_action } = row;
  if (next_action === undefined || sameReflects(next_action.reflects, plan.reflects)) return plan;
  const kept = keptRow(row, state.workers.get(worker_id)?.row);
  const rowHolds = wireRow(kept) === undefined || rowDigest(kept) === status_digest;
  return rowHolds ? { ...plan, reflects: next_action.reflects } : plan;
}

/** A row that its worker published, or that the plan in its ack made. */
function published(state: State, event: StatusChanged, next: Plan | undefined): Status {
  const { at: now, by, worker_id, row } = event;
  const session = state.workers.get(worker_id)?.session ?? "";
  const command: Status = { kind: "status", now, by, worker_id, session, issue: row.issue, lane: row.lane };
  if (row.task_id !== undefined) command.task_id = row.task_id;
  if (row.last_action !== undefined) command.last_action = row.last_action;
  if (next !== undefined) {
    const { summary, reflects, via } = next;
    command.next_action = { summary, reflects: [...reflects], ...(via !== undefined && { via }) };
  }
  return command;
}

function correct(sent: LoggedContent, rest: Pick<Correct, "now" | "by" | "correction_id" | "reachable">): Correct {
  const known = Object.entries(sent).filter(
    ([key]) => key !== "message" && Object.hasOwn(correctionContent.shape, key),
  );
  return { kind: "correct", ...rest, content: Object.fromEntries(known) as Correct["content"], message: sent.message };
}

/** A refused request: with all that it asked for, unless its shape was refused or the check came before the shape. */
function refusedRequest(event: Refused): Command {
  const { at: now, by, verb, reason, content, worker_id, session, correction_id } = event;
  const request = verb as Extract<Command, { kind: "read" }>["request"];
  const of = { ...(worker_id !== undefined && { worker_id }), ...(session !== undefined && { session }) };
  if (verb === "hello" && event.role !== undefined) {
    const named = worker_id === undefined ? {} : { worker_id };
    return { kind: "take_role", now, by, role: event.role, ...named };
  }
  if (verb === "hello") {
    return { kind: "open_session", now, by, worker_id: worker_id ?? "", session: "", lease_ms: 0 };
  }
  if (content !== undefined && "worker_id" in content) {
    return correct(content, { now, by, correction_id: correction_id ?? "", reachable: false });
  }
  if (verb === "status" && event.issue !== undefined && event.lane !== undefined) {
    const { issue, lane, task_id, last_action, next_action, expect_seq } = event;
    return {
      kind: "status",
      now,
      by,
      worker_id: worker_id ?? "",
      session: session ?? "",
      issue,
      lane,
      ...(task_id !== undefined && { task_id }),
      ...(last_action !== undefined && { last_action }),
      ...(next_action !== undefined && { next_action }),
      ...(expect_seq !== undefined && { expect_seq }),
    };
  }
  if (correction_id !== undefined) {
    const held = { now, by, worker_id: worker_id ?? "", session: session ?? "", correction_id };
    const status_digest = event.status_digest ?? "";
    const next = event.next_action === undefined ? {} : { next_action: event.next_action };
    if (verb === "receive") return { kind: "receive", ...held };
    if (verb === "ack") return { kind: "ack", ...held, status_digest, ...next };
    if (verb === "decline") return { kind: "decline", ...held, status_digest, reason: UNREAD };
    if (verb === "withdraw" || verb === "stage") return { kind: verb, now, by, correction_id };
  }
  if (reason !== "MALFORMED" && reason !== "OVERSIZE" && content === undefined) {
    // Of whoever is no worker the entry names none: only its verb was judged.
    if (verb === "bye" && session !== undefined && worker_id !== undefined) {
      return { kind: "bye", now, by, worker_id, session };
    }
    return { kind: "read", now, by, request, ...of };
  }
  const message = content === undefined ? {} : { message: content.message };
  return { kind: "malformed", now, by, request, refusal: refusalOf(event), ...of, ...message };
}

function refusalOf({
  reason,
  detail,
  path,
  bytes,
  max_bytes,
}: Refused): Extract<Command, { kind: "malformed" }>["refusal"] {
  return {
    reason,
    ...(detail !== undefined && { detail }),
    ...(path !== undefined && { path }),
    ...(bytes !== undefined && { bytes }),
    ...(max_bytes !== undefined && { max_bytes }),
  };
}

function cited(state: State, correctionId: string): string {
  return state.corrections.get(correctionId)?.content.status_digest ?? "";
}
