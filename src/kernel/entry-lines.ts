import { STATUS_SCHEMA, type TextField } from "../protocol/index.js";
import type {
  Acked,
  Admitted,
  Delivered,
  Ended,
  KernelEvent,
  Planned,
  Principal,
  Row,
  StatusChanged,
  Text,
} from "./events.js";

/** Told of each text in the order in which the line names them. */
export type OnText = (field: TextField, text: Text) => void;

/**
 * The RFC 8785 text of the entries that every correction makes, written by hand in key order because the general form
 * costs ten times as much; undefined for the kinds that are rare. A property test holds it against the general form.
 */
export function frequentLine(
  event: KernelEvent,
  index: number,
  workerEntry: string,
  onText: OnText,
): string | undefined {
  switch (event.kind) {
    case "admitted":
      return admitted(event, index, workerEntry, onText);
    case "delivered":
      return delivered(event, index, workerEntry);
    case "acked":
      return acked(event, index, workerEntry);
    case "planned":
      return planned(event, index, workerEntry, onText);
    case "status":
      return status(event, index, workerEntry, onText);
    case "witnessed":
    case "unreflected":
    case "declined":
    case "expired":
    case "withdrawn":
    case "superseded":
    case "stale":
    case "orphaned":
    case "revoked":
      return ended(event, index, workerEntry, onText);
    default:
      return undefined;
  }
}

// Joined, not added up: a text that is added up stays in pieces until somebody reads it, and a log in memory never does.
function admitted(event: Admitted, index: number, workerEntry: string, onText: OnText): string {
  const { at, by, content, correction_id, deliverable, expires_at, orchestrator_id, seq, worker_id } = event;
  return [
    `{"at":`,
    at,
    `,"by":`,
    principal(by),
    `,"content":{`,
    content.freshness === undefined ? "" : `"freshness":"${content.freshness}",`,
    `"issue":`,
    quoted(content.issue),
    optional("key", content.key),
    `,"lane":`,
    quoted(content.lane),
    content.max_bytes === undefined ? "" : `,"max_bytes":${content.max_bytes}`,
    `,"message":`,
    committed("message", content.message, onText),
    optional("orchestrator_id", content.orchestrator_id),
    optional("priority", content.priority),
    optional("status_digest", content.status_digest),
    optional("supersedes", content.supersedes),
    optional("task_id", content.task_id),
    content.ttl_ms === undefined ? "" : `,"ttl_ms":${content.ttl_ms}`,
    `,"worker_id":`,
    quoted(content.worker_id),
    `},"correction_id":"`,
    correction_id,
    `","deliverable":`,
    deliverable,
    `,"expires_at":`,
    expires_at,
    `,"index":`,
    index,
    `,"kind":"admitted","orchestrator_id":`,
    quoted(orchestrator_id),
    `,"seq":`,
    seq,
    workerEntry,
    `,"worker_id":`,
    quoted(worker_id),
    `}`,
  ].join("");
}

function delivered(event: Delivered, index: number, workerEntry: string): string {
  const { at, attempt, by, correction_id, orchestrator_id, redelivered, session, stale_context, worker_id } = event;
  return [
    `{"at":`,
    at,
    `,"attempt":`,
    attempt,
    `,"by":`,
    principal(by),
    `,"correction_id":"`,
    correction_id,
    `","index":`,
    index,
    `,"kind":"delivered","orchestrator_id":`,
    quoted(orchestrator_id),
    `,"redelivered":`,
    redelivered,
    `,"session":"`,
    session,
    `","stale_context":`,
    stale_context,
    workerEntry,
    `,"worker_id":`,
    quoted(worker_id),
    `}`,
  ].join("");
}

function acked(event: Acked, index: number, workerEntry: string): string {
  const { at, by, correction_id, expires_at, orchestrator_id, session, worker_id } = event;
  return [
    `{"at":`,
    at,
    `,"by":`,
    principal(by),
    `,"correction_id":"`,
    correction_id,
    `","expires_at":`,
    expires_at,
    `,"index":`,
    index,
    `,"kind":"acked","orchestrator_id":`,
    quoted(orchestrator_id),
    `,"session":"`,
    session,
    `"`,
    workerEntry,
    `,"worker_id":`,
    quoted(worker_id),
    `}`,
  ].join("");
}

function planned(event: Planned, index: number, workerEntry: string, onText: OnText): string {
  const { at, by, echo, reflects, summary, via, worker_id } = event;
  return [
    `{"at":`,
    at,
    `,"by":`,
    principal(by),
    echo === undefined ? "" : `,"echo":true`,
    `,"index":`,
    index,
    `,"kind":"planned","reflects":`,
    ids(reflects),
    `,"summary":`,
    committed("summary", summary, onText),
    optional("via", via),
    workerEntry,
    `,"worker_id":`,
    quoted(worker_id),
    `}`,
  ].join("");
}

function ended(event: Ended, index: number, workerEntry: string, onText: OnText): string {
  const { at, by, correction_id, detail, echo, kind, orchestrator_id, reason, superseded_by, worker_id } = event;
  return [
    `{"at":`,
    at,
    `,"by":`,
    principal(by),
    `,"correction_id":"`,
    correction_id,
    `"`,
    optional("detail", detail),
    echo === undefined ? "" : `,"echo":true`,
    `,"index":`,
    index,
    `,"kind":"`,
    kind,
    `","orchestrator_id":`,
    quoted(orchestrator_id),
    reason === undefined ? "" : `,"reason":${committed("reason", reason, onText)}`,
    optional("superseded_by", superseded_by),
    workerEntry,
    `,"worker_id":`,
    quoted(worker_id),
    `}`,
  ].join("");
}

function status(event: StatusChanged, index: number, workerEntry: string, onText: OnText): string {
  const { at, by, cause, outcome, row, status_digest, worker_id } = event;
  const { last_action, next_action } = row;
  return [
    `{"at":`,
    at,
    `,"by":`,
    principal(by),
    `,"cause":"`,
    cause,
    `","index":`,
    index,
    `,"kind":"status"`,
    optional("outcome", outcome),
    `,"row":{"issue":`,
    quoted(row.issue),
    `,"lane":`,
    quoted(row.lane),
    last_action === undefined ? "" : `,"last_action":${committed("last_action", last_action, onText)}`,
    `,"live":`,
    row.live,
    next_action === undefined ? "" : nextAction(next_action, onText),
    `,"schema":"`,
    STATUS_SCHEMA,
    `","seq":`,
    row.seq,
    optional("task_id", row.task_id),
    `,"worker_id":`,
    quoted(row.worker_id),
    `},"status_digest":"`,
    status_digest,
    `"`,
    workerEntry,
    `,"worker_id":`,
    quoted(worker_id),
    `}`,
  ].join("");
}

function nextAction({ reflects, summary }: NonNullable<Row["next_action"]>, onText: OnText): string {
  return `,"next_action":{"reflects":${ids(reflects)},"summary":${committed("summary", summary, onText)}}`;
}

const principals = new WeakMap<Principal, string>();

/** Written once for each session, whose principal is one object. Its keys are in order already. */
function principal(by: Principal): string {
  let written = principals.get(by);
  if (written === undefined) {
    const { role, subject, token } = by;
    written = JSON.stringify({ role, subject, token });
    principals.set(by, written);
  }
  return written;
}

function committed(field: TextField, text: Text, onText: OnText): string {
  onText(field, text);
  return `{"bytes":${text.bytes},"commitment":"${text.commitment}"}`;
}

function ids(reflects: readonly string[]): string {
  return reflects.length === 0 ? "[]" : `["${reflects.join('","')}"]`;
}

function optional(name: string, value: string | undefined): string {
  return value === undefined ? "" : `,"${name}":${quoted(value)}`;
}

function quoted(value: string): string {
  return JSON.stringify(value);
}
