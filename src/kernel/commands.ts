import type {
  CorrectionContent,
  Limits,
  Patterns,
  Refusal,
  RequestType,
  Role,
  TextField,
  TokenRole,
  Verb,
} from "../protocol/index.js";
import type { PlannedText, Principal, Text, WorkerOutcome } from "./events.js";

interface Base {
  /** Log time in ms; never less than that of the command before. */
  now: number;
}
interface FromClient extends Base {
  by: Principal;
}
interface FromWorker extends FromClient {
  worker_id: string;
  session: string;
}

/** The broker starts: opens a new log, or takes up an old one (every live row is rewritten not live). */
export interface Start extends Base {
  kind: "start";
  shard: string;
  origin: string;
  log_key: string;
  id_key: string;
  version: string;
  limits: Limits;
  torn?: { file: string; bytes: number };
}
export interface Stop extends Base {
  kind: "stop";
}
export interface AddGrant extends FromClient {
  kind: "add_grant";
  token: string;
  subject: string;
  role: TokenRole;
  verbs: readonly Verb[];
  patterns: Patterns;
  expires_at?: number;
}
export interface RevokeGrant extends FromClient {
  kind: "revoke_grant";
  token: string;
}
export interface Redact extends FromClient {
  kind: "redact";
  /** Index of the entry that brought the text. */
  entry: number;
  field: TextField;
  /** The commitment that it opens. */
  committed: string;
}
/** A `hello` that asks for a role, and as a worker for a name. `by` has the role of the token, which it may not be. */
export interface TakeRole extends FromClient {
  kind: "take_role";
  role: Role;
  worker_id?: string;
}
export interface OpenSession extends FromWorker {
  kind: "open_session";
  lease_ms: number;
}
/** Attested: the lease of the worker's session ran out on the broker's monotonic clock. */
export interface Lapse extends Base {
  kind: "lapse";
  worker_id: string;
}
/** Ends what is due. Every command does; this one does nothing else. */
export interface Tick extends Base {
  kind: "tick";
}
/** Refusals that were answered but not logged singly, counted by the broker. */
export interface Fold extends Base {
  kind: "fold";
  role: string;
  subject: string;
  counts: Readonly<Record<string, number>>;
  first_at: number;
  last_at: number;
}
/** A request whose shape was refused at the edge (attested: MALFORMED, or OVERSIZE of a text other than `message`). */
export interface Malformed extends FromClient {
  kind: "malformed";
  request: RequestType;
  refusal: Refusal;
  session?: string;
  worker_id?: string;
  message?: Text;
}
/** A request that changes nothing, to be judged by grant and session only. */
export interface Read extends FromClient {
  kind: "read";
  request: RequestType;
  worker_id?: string;
  session?: string;
}
export interface Status extends FromWorker {
  kind: "status";
  issue: string;
  task_id?: string;
  lane: string;
  last_action?: Text;
  next_action?: PlannedText;
  expect_seq?: number;
}
export interface Receive extends FromWorker {
  kind: "receive";
  correction_id: string;
}
export interface Ack extends FromWorker {
  kind: "ack";
  correction_id: string;
  status_digest: string;
  next_action?: PlannedText;
}
export interface Decline extends FromWorker {
  kind: "decline";
  correction_id: string;
  status_digest: string;
  reason: Text;
}
export interface Bye extends FromWorker {
  kind: "bye";
  outcome?: WorkerOutcome;
}
export interface Correct extends FromClient {
  kind: "correct";
  content: Omit<CorrectionContent, "message">;
  message: Text;
  correction_id: string;
  /** Attested: a session of the worker is connected and its inbox open. */
  reachable: boolean;
}
export interface Withdraw extends FromClient {
  kind: "withdraw";
  correction_id: string;
}
export interface AskStage extends FromClient {
  kind: "stage";
  correction_id: string;
}

export type ClientCommand = Malformed | Read | Status | Receive | Ack | Decline | Bye | Correct | Withdraw | AskStage;

export type Command =
  | Start
  | Stop
  | AddGrant
  | RevokeGrant
  | Redact
  | TakeRole
  | OpenSession
  | Lapse
  | Tick
  | Fold
  | ClientCommand;
