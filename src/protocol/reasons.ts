/** Why a request is refused: closed for protocol 1 (PROTOCOL.md section 3). */
export const REASONS = [
  "DEFAULT_DENY",
  "MALFORMED",
  "OVERSIZE",
  "UNWITNESSED",
  "TRUST_VIOLATION",
  "RATE_LIMITED",
  "LEASE_HELD",
] as const;
export type Reason = (typeof REASONS)[number];

/** The details that each reason can carry; OVERSIZE carries `bytes` and `max_bytes` instead. */
export const DETAILS = {
  DEFAULT_DENY: ["NO_GRANT", "REVOKED"],
  MALFORMED: ["SHAPE", "ID", "TEXT_BLANK", "TEXT_HIDDEN", "TEXT_ENCODING"],
  OVERSIZE: [],
  UNWITNESSED: ["NO_ROW", "NOT_LIVE", "ENDED", "DIGEST", "SUPERSEDES", "SEQ"],
  TRUST_VIOLATION: ["PRINCIPAL", "SCOPE", "SUPERSEDES", "CORRECTION", "CITED"],
  RATE_LIMITED: ["INBOX_FULL", "RATE"],
  LEASE_HELD: ["SESSION"],
} as const satisfies Record<Reason, readonly string[]>;
export type Detail = (typeof DETAILS)[Reason][number];

/** Details of MALFORMED. */
export type MalformedDetail = (typeof DETAILS)["MALFORMED"][number];

/** A closed reason with what it carries: the body of every refusal. */
export interface Refusal {
  reason: Reason;
  detail?: Detail;
  /** Where in the request, as a dotted path of protocol field names. */
  path?: string;
  /** OVERSIZE: UTF-8 bytes of the text. */
  bytes?: number;
  /** OVERSIZE: the limit that applied, in UTF-8 bytes. */
  max_bytes?: number;
}
