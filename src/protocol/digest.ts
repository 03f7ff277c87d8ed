import { sha256Hex } from "#sha256";
import type { WorkerStatus } from "./status.js";

/**
 * RFC 8785 text of a row. Written by hand in key order, because this is computed for every change of every row;
 * a property test holds it byte for byte against a general implementation of the RFC.
 */
export function canonicalRow(row: WorkerStatus): string {
  let out = `{"issue":${JSON.stringify(row.issue)},"lane":${JSON.stringify(row.lane)}`;
  if (row.last_action !== undefined) out += `,"last_action":${JSON.stringify(row.last_action)}`;
  out += `,"live":${row.live ? "true" : "false"}`;
  if (row.next_action !== undefined) {
    const reflects = row.next_action.reflects.map((id) => JSON.stringify(id)).join(",");
    out += `,"next_action":{"reflects":[${reflects}],"summary":${JSON.stringify(row.next_action.summary)}}`;
  }
  out += `,"schema":${JSON.stringify(row.schema)},"seq":${row.seq}`;
  if (row.task_id !== undefined) out += `,"task_id":${JSON.stringify(row.task_id)}`;
  return `${out},"worker_id":${JSON.stringify(row.worker_id)}}`;
}

/**
 * `"sha256:"` + lower-case hex of SHA-256 over the canonical row: says which row is meant, not that it is true.
 * Throws RangeError when `seq` is beyond 2^53-1 or no integer: such a number was rounded on the way, and no row has it.
 */
export function statusDigest(row: WorkerStatus): string {
  if (!Number.isSafeInteger(row.seq)) throw new RangeError("seq is no integer up to 2^53-1; read the row again");
  return `sha256:${sha256Hex(canonicalRow(row))}`;
}
