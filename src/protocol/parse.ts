import type { z } from "zod";
import type { FieldFault } from "./fields.js";
import { requestIdField } from "./fields.js";
import { isId } from "./ids.js";
import type { MalformedDetail, Refusal } from "./reasons.js";
import { REQUESTS, type Request, type RequestOf, type RequestType } from "./requests.js";
import { validRequest } from "./valid-requests.js";

/** What the codec found wrong inside a value that is otherwise a frame. */
export interface ValueFault {
  detail: MalformedDetail;
  path: readonly (string | number)[];
}

/** A request that is refused before anyone looks at the state: what can still be said of it. */
export interface MalformedRequest {
  type: RequestType;
  id: string;
  refusal: Refusal;
  /** The worker that a `correct` names and the text it carries, where those fields by themselves are sound. */
  worker_id?: string;
  message?: string;
}

export type Parsed =
  | { kind: "request"; request: Request }
  | { kind: "malformed"; malformed: MalformedRequest }
  /** No known `type` or no good `id`: it cannot be answered (close 4400). */
  | { kind: "unknown" };

/** Judges the shape of one decoded frame (PROTOCOL.md section 6). The value must be a fresh plain object. */
export function parseRequest(value: object, fault?: ValueFault): Parsed {
  const { type, id } = value as { type?: unknown; id?: unknown };
  if (typeof type !== "string" || !isRequestType(type)) return { kind: "unknown" };
  const valid = fault === undefined ? validRequest(value as Record<string, unknown>, type) : undefined;
  if (valid !== undefined) return { kind: "request", request: valid };
  if (!requestIdField.safeParse(id).success) return { kind: "unknown" };
  const schema: z.ZodType<RequestOf<RequestType>> = REQUESTS[type];
  if (fault === undefined) {
    const result = schema.safeParse(value);
    if (result.success) return { kind: "request", request: result.data };
    return malformed(type, id as string, value, refusalOf(result.error.issues));
  }
  const refusal: Refusal = { reason: "MALFORMED", detail: fault.detail };
  const [field] = fault.path;
  if (typeof field === "string" && Object.hasOwn(REQUESTS[type].shape, field)) refusal.path = field;
  return malformed(type, id as string, value, refusal);
}

function isRequestType(type: string): type is RequestType {
  return Object.hasOwn(REQUESTS, type);
}

// MALFORMED wins over OVERSIZE, wherever in the frame each stands; among equals the first in schema order.
function refusalOf(issues: readonly z.core.$ZodIssue[]): Refusal {
  const refusals = issues.map((issue): Refusal => {
    const path = issue.path.length > 0 ? { path: issue.path.join(".") } : {};
    const fault = issue.code === "custom" ? (issue.params as FieldFault | undefined) : undefined;
    if (fault === undefined) return { reason: "MALFORMED", detail: "SHAPE", ...path };
    if ("detail" in fault) return { reason: "MALFORMED", detail: fault.detail, ...path };
    return { reason: "OVERSIZE", bytes: fault.bytes, max_bytes: fault.max_bytes, ...path };
  });
  const first = refusals.find(({ reason }) => reason === "MALFORMED") ?? refusals[0];
  return first ?? { reason: "MALFORMED", detail: "SHAPE" };
}

function malformed(type: RequestType, id: string, value: object, refusal: Refusal): Parsed {
  const out: MalformedRequest = { type, id, refusal };
  const { worker_id, message } = value as { worker_id?: unknown; message?: unknown };
  if (typeof worker_id === "string" && isId(worker_id)) out.worker_id = worker_id;
  if (type === "correct" && typeof message === "string" && message.isWellFormed()) out.message = message;
  return { kind: "malformed", malformed: out };
}
