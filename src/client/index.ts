export { A2achanError, ERROR_CODES, type ErrorCode } from "./errors.js";
export type { ConnectOptions } from "./connect-options.js";
export { checkpointFile } from "#checkpoint-file";
export type { CheckpointStore } from "./log-trail.js";
export type { EntryProof, LoggedAnswer } from "./entry-proof.js";
export type { Covered } from "./verified-log.js";
export type { CallOptions } from "./bounded.js";
export { connectWorker, type PlanFields, type Worker, type WorkerOptions } from "./worker.js";
export type { StatusFields } from "./row-lane.js";
export type { StageAnswer, StatusAnswer } from "./answers.js";
export type { Correction } from "./correction.js";
export { renderForModel, type RenderedCorrection, type RenderOptions } from "./render.js";
export { sanitize, type RemovedCodePoint, type Sanitized } from "./sanitize.js";
export {
  connectOrchestrator,
  type CorrectOptions,
  type CorrectionScope,
  type Orchestrator,
  type WorkerFilter,
  type WorkerPage,
} from "./orchestrator.js";
export type { Admitted, Denied, Receipt } from "./receipt.js";
export type { Outcome, StageNotice } from "./course.js";
export type { MovedField } from "./moved.js";
export type { Gone, WorkerChange } from "./watch-hub.js";
export { connectAuditor, type Auditor, type LogPage } from "./auditor.js";
export type { LogEntry, LogFilter } from "./follow.js";
export { isRefused, type Refused } from "./refusals.js";
export {
  decodeId,
  encodeId,
  statusDigest,
  type PlannedAction,
  type View,
  type WorkerStatus,
} from "../protocol/index.js";
