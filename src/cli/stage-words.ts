import { isOpen, type Liveness, type Stage } from "../protocol/index.js";
import type { Colour } from "./terminal/paint.js";

/** What each stage of a correction says, for people. */
export const STAGE_WORDS: Readonly<Record<Stage, string>> = {
  ADMITTED: "in the log, on disk; nobody has seen it yet",
  DELIVERED: "the worker has taken it: that is its own receipt",
  ACKED: "the worker says: understood",
  WITNESSED: "acked, and named in its next planned action",
  UNREFLECTED: "acked, but its next planned action is another",
  DECLINED: "the worker will not, and said why",
  EXPIRED: "not witnessed in time, though perhaps applied",
  WITHDRAWN: "taken back before the worker had it",
  SUPERSEDED: "another correction took its place",
  STALE: "the row that it cited is gone",
  ORPHANED: "the worker's run has ended",
  REVOKED: "its sender's grant is gone",
};

export function stageColour(stage: Stage): Colour {
  if (isOpen(stage)) return "cyan";
  return stage === "WITNESSED" ? "green" : "red";
}

export function livenessColour(liveness: Liveness): Colour {
  if (liveness === "live") return "green";
  return liveness === "suspect" ? "yellow" : "red";
}
