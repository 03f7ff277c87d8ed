/** Stages of an open correction, in order (PROTOCOL.md section 4). */
export const OPEN_STAGES = ["ADMITTED", "DELIVERED", "ACKED"] as const;

/** Ends of a correction: exactly one each. WITNESSED means acked and named in the next planned action, no more. */
export const END_STAGES = [
  "WITNESSED",
  "UNREFLECTED",
  "DECLINED",
  "EXPIRED",
  "WITHDRAWN",
  "SUPERSEDED",
  "STALE",
  "ORPHANED",
  "REVOKED",
] as const;

export const STAGES = [...OPEN_STAGES, ...END_STAGES] as const;

export type OpenStage = (typeof OPEN_STAGES)[number];
export type EndStage = (typeof END_STAGES)[number];
export type Stage = OpenStage | EndStage;

/** STALE: RUN_CHANGED or DIGEST_MOVED. EXPIRED after the ack: WINDOW. */
export const STAGE_DETAILS = ["RUN_CHANGED", "DIGEST_MOVED", "WINDOW"] as const;
export type StageDetail = (typeof STAGE_DETAILS)[number];

export function isOpen(stage: Stage): stage is OpenStage {
  return stage === "ADMITTED" || stage === "DELIVERED" || stage === "ACKED";
}
