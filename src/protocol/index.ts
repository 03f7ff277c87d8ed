export { encodeId, decodeId, isId, isCorrectionId } from "./ids.js";
export { PROTOCOL, RULES_VERSION, STATUS_SCHEMA, SUBPROTOCOL_JSON, SUBPROTOCOL_MSGPACK } from "./version.js";
export { LIMITS, type Limits, type TunableLimits } from "./limits.js";
export { REASONS, DETAILS, type Reason, type Detail, type MalformedDetail, type Refusal } from "./reasons.js";
export {
  OPEN_STAGES,
  END_STAGES,
  STAGES,
  STAGE_DETAILS,
  isOpen,
  type OpenStage,
  type EndStage,
  type Stage,
  type StageDetail,
} from "./stages.js";
export { CLOSE, FINAL_CLOSE_CODES, type Close, type CloseName } from "./close-codes.js";
export { TEXT_POLICY, checkText, describeTextFault, utf8Bytes, type TextFault } from "./text.js";
export { matchesPattern, matchesWhole } from "./patterns.js";
export {
  ROLES,
  TOKEN_ROLES,
  VERBS,
  ROLE_VERBS,
  covers,
  type Role,
  type TokenRole,
  type Verb,
  type Patterns,
  type Scope,
} from "./grants.js";
export { canonicalJson, type Json } from "./jcs.js";
export { commitment, TEXT_FIELDS, type TextField } from "./commitment.js";
export { workerStatus, type WorkerStatus, type NextAction } from "./status.js";
export { canonicalRow, statusDigest } from "./digest.js";
export { canonicalCorrection, correctionContent, correctionId, type CorrectionContent } from "./correction.js";
export {
  REQUESTS,
  VIA,
  type Request,
  type RequestOf,
  type RequestType,
  type Filter,
  type PlannedAction,
  type Via,
} from "./requests.js";
export { REQUEST_VERB } from "./verbs.js";
export {
  REPLIES,
  PUSHES,
  LIVENESS,
  type Reply,
  type ReplyOf,
  type ReplyType,
  type Push,
  type PushOf,
  type PushType,
  type View,
  type Outcome,
  type Liveness,
  type DeliveredCorrection,
} from "./answers.js";
export { parseRequest, type MalformedRequest, type Parsed, type ValueFault } from "./parse.js";
