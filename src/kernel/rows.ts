import { STATUS_SCHEMA, statusDigest, type WorkerStatus } from "../protocol/index.js";
import type { Row, Text } from "./events.js";

/** The row as it goes over the wire and into the digest; undefined where one of its texts is gone. */
export function wireRow(row: Row): WorkerStatus | undefined {
  const out: WorkerStatus = {
    schema: STATUS_SCHEMA,
    worker_id: row.worker_id,
    issue: row.issue,
    lane: row.lane,
    live: row.live,
    seq: row.seq,
  };
  if (row.task_id !== undefined) out.task_id = row.task_id;
  if (row.last_action !== undefined) {
    if (row.last_action.text === undefined) return undefined;
    out.last_action = row.last_action.text;
  }
  if (row.next_action !== undefined) {
    if (row.next_action.summary.text === undefined) return undefined;
    out.next_action = { summary: row.next_action.summary.text, reflects: [...row.next_action.reflects] };
  }
  return out;
}

/** The digest of a row whose texts are at hand. A row with a redacted text keeps its place by its commitments. */
export function rowDigest(row: Row): string {
  const wire = wireRow(row);
  if (wire !== undefined) return statusDigest(wire);
  const hidden = (text: Text): string => text.text ?? `sha256-commitment:${text.commitment}`;
  const { last_action, next_action, ...rest } = row;
  return statusDigest({
    ...rest,
    schema: STATUS_SCHEMA,
    ...(last_action && { last_action: hidden(last_action) }),
    ...(next_action && { next_action: { summary: hidden(next_action.summary), reflects: [...next_action.reflects] } }),
  });
}

export function sameText(a: Text | undefined, b: Text | undefined): boolean {
  if (a === undefined || b === undefined) return a === b;
  return a.text !== undefined && b.text !== undefined ? a.text === b.text : a.commitment === b.commitment;
}

export function sameReflects(a: readonly string[], b: readonly string[]): boolean {
  return a.length === b.length && a.every((id, at) => id === b[at]);
}

/** Whether two rows say the same, `seq` apart. */
export function sameContent(a: Row, b: Row): boolean {
  if (a.issue !== b.issue || a.task_id !== b.task_id || a.lane !== b.lane || a.live !== b.live) return false;
  if (!sameText(a.last_action, b.last_action)) return false;
  if (a.next_action === undefined || b.next_action === undefined) return a.next_action === b.next_action;
  return (
    sameText(a.next_action.summary, b.next_action.summary) &&
    sameReflects(a.next_action.reflects, b.next_action.reflects)
  );
}

/** Whether two rows are about the same run: issue, task and lane. */
export function sameScope(a: Row, b: Row): boolean {
  return a.issue === b.issue && a.task_id === b.task_id && a.lane === b.lane;
}
