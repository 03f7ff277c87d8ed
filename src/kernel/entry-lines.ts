import { STATUS_SCHEMA, type TextField } from "../protocol/index.js";
import type {
  Acked,
  Admitted,
  Delivered,
  Ended,
  KernelEvent,
  LoggedContent,
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

function admitted(event: Admitted, index: number, workerEntry: string, onText: OnText): string {
  return (
    `{"at":${event.at},"by":${principal(event.by)},"content":${contentOf(event.content, onText)},` +
    `"correction_id":"${event.correction_id}","deliverable":${event.deliverable},"expires_at":${event.expires_at},` +
    `"index":${index},"kind":"admitted","orchestrator_id":${quoted(event.orchestrator_id)},"seq":${event.seq},` +
    `${workerEntry}"worker_id":${quoted(event.worker_id)}}`
  );
}

function contentOf(content: LoggedContent, onText: OnText): string {
  let out = "{";
  if (content.freshness !== undefined) out += `"freshness":"${content.freshness}",`;
  out += `"issue":${quoted(content.issue)}`;
  if (content.key !== undefined) out += `,"key":${quoted(content.key)}`;
  out += `,"lane":${quoted(content.lane)}`;
  if (content.max_bytes !== undefined) out += `,"max_bytes":${content.max_bytes}`;
  out += `,"message":${committed("message", content.message, onText)}`;
  if (content.orchestrator_id !== undefined) out += `,"orchestrator_id":${quoted(content.orchestrator_id)}`;
  if (content.priority !== undefined) out += `,"priority":"${content.priority}"`;
  if (content.status_digest !== undefined) out += `,"status_digest":${quoted(content.status_digest)}`;
  if (content.supersedes !== undefined) out += `,"supersedes":${quoted(content.supersedes)}`;
  if (content.task_id !== undefined) out += `,"task_id":${quoted(content.task_id)}`;
  if (content.ttl_ms !== undefined) out += `,"ttl_ms":${content.ttl_ms}`;
  return `${out},"worker_id":${quoted(content.worker_id)}}`;
}

function delivered(event: Delivered, index: number, workerEntry: string): string {
  return (
    `{"at":${event.at},"attempt":${event.attempt},"by":${principal(event.by)},"correction_id":"${event.correction_id}",` +
    `"index":${index},"kind":"delivered","orchestrator_id":${quoted(event.orchestrator_id)},` +
    `"redelivered":${event.redelivered},"session":"${event.session}","stale_context":${event.stale_context},` +
    `${workerEntry}"worker_id":${quoted(event.worker_id)}}`
  );
}

function acked(event: Acked, index: number, workerEntry: string): string {
  return (
    `{"at":${event.at},"by":${principal(event.by)},"correction_id":"${event.correction_id}",` +
    `"expires_at":${event.expires_at},"index":${index},"kind":"acked",` +
    `"orchestrator_id":${quoted(event.orchestrator_id)},"session":"${event.session}",` +
    `${workerEntry}"worker_id":${quoted(event.worker_id)}}`
  );
}

function planned(event: Planned, index: number, workerEntry: string, onText: OnText): string {
  return (
    `{"at":${event.at},"by":${principal(event.by)},${event.echo === undefined ? "" : '"echo":true,'}"index":${index},` +
    `"kind":"planned","reflects":${ids(event.reflects)},"summary":${committed("summary", event.summary, onText)},` +
    `${event.via === undefined ? "" : `"via":"${event.via}",`}${workerEntry}"worker_id":${quoted(event.worker_id)}}`
  );
}

function ended(event: Ended, index: number, workerEntry: string, onText: OnText): string {
  let out = `{"at":${event.at},"by":${principal(event.by)},"correction_id":"${event.correction_id}"`;
  if (event.detail !== undefined) out += `,"detail":"${event.detail}"`;
  if (event.echo !== undefined) out += ',"echo":true';
  out += `,"index":${index},"kind":"${event.kind}","orchestrator_id":${quoted(event.orchestrator_id)}`;
  if (event.reason !== undefined) out += `,"reason":${committed("reason", event.reason, onText)}`;
  if (event.superseded_by !== undefined) out += `,"superseded_by":${quoted(event.superseded_by)}`;
  return `${out},${workerEntry}"worker_id":${quoted(event.worker_id)}}`;
}

function status(event: StatusChanged, index: number, workerEntry: string, onText: OnText): string {
  return (
    `{"at":${event.at},"by":${principal(event.by)},"cause":"${event.cause}","index":${index},"kind":"status",` +
    `${event.outcome === undefined ? "" : `"outcome":"${event.outcome}",`}"row":${rowOf(event.row, onText)},` +
    `"status_digest":"${event.status_digest}",${workerEntry}"worker_id":${quoted(event.worker_id)}}`
  );
}

function rowOf(row: Row, onText: OnText): string {
  let out = `{"issue":${quoted(row.issue)},"lane":${quoted(row.lane)}`;
  if (row.last_action !== undefined) out += `,"last_action":${committed("last_action", row.last_action, onText)}`;
  out += `,"live":${row.live}`;
  if (row.next_action !== undefined) {
    const { reflects, summary } = row.next_action;
    out += `,"next_action":{"reflects":${ids(reflects)},"summary":${committed("summary", summary, onText)}}`;
  }
  out += `,"schema":"${STATUS_SCHEMA}","seq":${row.seq}`;
  if (row.task_id !== undefined) out += `,"task_id":${quoted(row.task_id)}`;
  return `${out},"worker_id":${quoted(row.worker_id)}}`;
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

function quoted(value: string): string {
  return JSON.stringify(value);
}
