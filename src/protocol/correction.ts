import { z } from "zod";
import { citedDigestField, correctionIdField, idField, keyField, lifetimeInteger, messageField } from "./fields.js";
import { hmacHex } from "#sha256";
import { LIMITS } from "./limits.js";

/** What a correction says: the fields of `correct`, as sent (PROTOCOL.md section 3). */
export const correctionContent = z.strictObject({
  worker_id: idField,
  issue: idField,
  task_id: z.exactOptional(idField),
  lane: idField,
  message: messageField,
  status_digest: z.exactOptional(citedDigestField),
  key: z.exactOptional(keyField),
  /** Narrows the limit of `message`; can never widen it. */
  max_bytes: z.exactOptional(lifetimeInteger),
  ttl_ms: z.exactOptional(lifetimeInteger.max(LIMITS.ttl_ceiling_ms)),
  priority: z.exactOptional(z.enum(["normal", "halt"])),
  freshness: z.exactOptional(z.enum(["run", "exact"])),
  supersedes: z.exactOptional(correctionIdField),
  orchestrator_id: z.exactOptional(idField),
});

export type CorrectionContent = z.infer<typeof correctionContent>;

/** RFC 8785 text of the content as sent by `principal`: what the id names. Hand-written in key order (hot path). */
export function canonicalCorrection(content: CorrectionContent, principal: string): string {
  let out = "{";
  if (content.freshness !== undefined) out += `"freshness":"${content.freshness}",`;
  out += `"issue":${JSON.stringify(content.issue)}`;
  if (content.key !== undefined) out += `,"key":${JSON.stringify(content.key)}`;
  out += `,"lane":${JSON.stringify(content.lane)}`;
  if (content.max_bytes !== undefined) out += `,"max_bytes":${content.max_bytes}`;
  out += `,"message":${JSON.stringify(content.message)},"orchestrator_id":${JSON.stringify(principal)}`;
  if (content.priority !== undefined) out += `,"priority":"${content.priority}"`;
  if (content.status_digest !== undefined) out += `,"status_digest":${JSON.stringify(content.status_digest)}`;
  if (content.supersedes !== undefined) out += `,"supersedes":${JSON.stringify(content.supersedes)}`;
  if (content.task_id !== undefined) out += `,"task_id":${JSON.stringify(content.task_id)}`;
  if (content.ttl_ms !== undefined) out += `,"ttl_ms":${content.ttl_ms}`;
  return `${out},"worker_id":${JSON.stringify(content.worker_id)}}`;
}

/**
 * The id of a correction: `corr_` and 32 hex digits of HMAC-SHA-256 under the log's id key, so that the same
 * content is the same correction for ever and nobody can guess a message from its id.
 */
export function correctionId(idKey: Uint8Array, content: CorrectionContent, principal: string): string {
  return `corr_${hmacHex(idKey, canonicalCorrection(content, principal)).slice(0, 32)}`;
}
