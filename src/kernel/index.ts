export { step, nextDue, type Step } from "./decide.js";
export { emptyState, type State, type Worker, type Correction, type Grant } from "./state.js";
export { evolve } from "./evolve.js";
export { DueQueue, OUTSIDE, type Due } from "./due.js";
export { grantFor, coveredRow, isValid, mayTake } from "./authority.js";
export {
  decodeEntries,
  decodeEntry,
  encodeEntry,
  readEntry,
  textAt,
  type EncodedEntry,
  type LoggedEvent,
  type TextLine,
} from "./entries.js";
export { Replay, type Difference, type ReplayCounts } from "./replay.js";
export { wireRow } from "./rows.js";
export { whyKept } from "./redaction.js";
export { BROKER } from "./broker-moves.js";
export type { Answer } from "./decision.js";
export type { Command } from "./commands.js";
export type { KernelEvent, PlannedText, Principal, Text } from "./events.js";
export {
  correctionPush,
  deliverable,
  outcomesOf,
  rowView,
  stageOf,
  stageView,
  type StageView,
  type Viewed,
} from "./views.js";
