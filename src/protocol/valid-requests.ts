import { isCorrectionId, isId } from "./ids.js";
import { LIMITS } from "./limits.js";
import { VIA, type PlannedAction, type RequestOf, type RequestType, type Via } from "./requests.js";
import { checkText, utf8Bytes } from "./text.js";

/** A decoded frame of which nothing but the `type` is known. */
type Loose = Readonly<Record<string, unknown>>;

const REQUEST_ID = /^[ -~]{1,64}$/;
const KEY = /^[A-Za-z0-9._:-]{1,64}$/;

/**
 * What the schema makes of a good frame of the kinds that every correction needs, its members in the schema's order, at
 * a fifth of the cost. Undefined for anything else: the schema decides then, and says what is wrong. A property test
 * holds the two against one another.
 */
export function validRequest(value: Loose, type: RequestType): RequestOf<"correct" | "ack" | "receive"> | undefined {
  switch (type) {
    case "correct":
      return correct(value);
    case "ack":
      return ack(value);
    case "receive":
      return receive(value);
    default:
      return undefined;
  }
}

function correct(value: Loose): RequestOf<"correct"> | undefined {
  const { id, worker_id, issue, task_id, lane, message, status_digest, key, priority, ttl_ms } = value;
  if (!isRequestId(id) || !isIdValue(worker_id) || !isIdValue(issue) || !isIdValue(lane)) return undefined;
  if (!isText(message, Number.POSITIVE_INFINITY)) return undefined;
  const out: RequestOf<"correct"> = { type: "correct", id, worker_id, issue } as RequestOf<"correct">;
  let members = 6;
  if (task_id !== undefined) {
    if (!isIdValue(task_id)) return undefined;
    out.task_id = task_id;
    members += 1;
  }
  out.lane = lane;
  out.message = message;
  if (status_digest !== undefined) {
    if (!isCitedDigest(status_digest)) return undefined;
    out.status_digest = status_digest;
    members += 1;
  }
  if (key !== undefined) {
    if (typeof key !== "string" || !KEY.test(key)) return undefined;
    out.key = key;
    members += 1;
  }
  if (ttl_ms !== undefined) {
    if (!isInteger(ttl_ms, 1, LIMITS.ttl_ceiling_ms)) return undefined;
    out.ttl_ms = ttl_ms;
    members += 1;
  }
  if (priority !== undefined) {
    if (priority !== "normal" && priority !== "halt") return undefined;
    out.priority = priority;
    members += 1;
  }
  return hasMembers(value, members) ? out : undefined;
}

function ack(value: Loose): RequestOf<"ack"> | undefined {
  const { id, correction_id, status_digest, next_action } = value;
  if (!isRequestId(id) || !isCorrection(correction_id) || !isCitedDigest(status_digest)) return undefined;
  const out: RequestOf<"ack"> = { type: "ack", id, correction_id, status_digest };
  if (next_action === undefined) return hasMembers(value, 4) ? out : undefined;
  const action = plannedAction(next_action);
  if (action === undefined || !hasMembers(value, 5)) return undefined;
  out.next_action = action;
  return out;
}

function plannedAction(value: unknown): PlannedAction | undefined {
  if (typeof value !== "object" || value === null) return undefined;
  const { summary, reflects, via } = value as Loose;
  if (!isText(summary, LIMITS.summary_bytes)) return undefined;
  const out: PlannedAction = { summary };
  let members = 1;
  if (reflects !== undefined) {
    if (!isReflects(reflects)) return undefined;
    out.reflects = reflects;
    members += 1;
  }
  if (via !== undefined) {
    if (!isVia(via)) return undefined;
    out.via = via;
    members += 1;
  }
  return hasMembers(value, members) ? out : undefined;
}

function receive(value: Loose): RequestOf<"receive"> | undefined {
  const { id, correction_id } = value;
  if (!isRequestId(id) || !isCorrection(correction_id) || !hasMembers(value, 3)) return undefined;
  return { type: "receive", id, correction_id };
}

function isRequestId(value: unknown): value is string {
  return typeof value === "string" && REQUEST_ID.test(value);
}

function isIdValue(value: unknown): value is string {
  return typeof value === "string" && isId(value);
}

function isCorrection(value: unknown): value is string {
  return typeof value === "string" && isCorrectionId(value);
}

function isCitedDigest(value: unknown): value is string {
  return typeof value === "string" && utf8Bytes(value) <= LIMITS.digest_bytes;
}

function isText(value: unknown, maxBytes: number): value is string {
  return typeof value === "string" && checkText(value) === undefined && utf8Bytes(value) <= maxBytes;
}

function isReflects(value: unknown): value is string[] {
  if (!Array.isArray(value) || value.length > LIMITS.reflects) return false;
  return value.every(isCorrection) && new Set(value).size === value.length;
}

function isVia(value: unknown): value is Via {
  return (VIA as readonly unknown[]).includes(value);
}

function isInteger(value: unknown, min: number, max: number): value is number {
  return Number.isSafeInteger(value) && (value as number) >= min && (value as number) <= max;
}

/** Whether an object has so many members: with those that were found, none is unknown. */
function hasMembers(value: object, count: number): boolean {
  return Object.keys(value).length === count;
}
