import type {
  EndStage,
  Limits,
  Patterns,
  PlannedAction,
  Refusal,
  Role,
  StageDetail,
  TokenRole,
  Verb,
  Via,
  CorrectionContent,
  TextField,
} from "../protocol/index.js";

/**
 * A free text as the kernel holds it. Without `text` (an auditor who may not read texts, or a redacted one) everything
 * but blank, echo, changed and the digest can still be decided. `salt` (hex) comes with a new text only.
 */
export interface Text {
  bytes: number;
  /** `commitment()` of the protocol, lower-case hex. */
  commitment: string;
  text?: string;
  salt?: string;
}

/** Who moved: the session's role and subject, and the token that it showed; the broker itself shows none. */
export interface Principal {
  role: Role | "operator" | "broker";
  subject: string;
  token?: string;
}

/** A status row with its texts as the log holds them; `schema` is the protocol's and left out. */
export interface Row {
  worker_id: string;
  issue: string;
  task_id?: string;
  lane: string;
  live: boolean;
  seq: number;
  last_action?: Text;
  next_action?: { summary: Text; reflects: readonly string[] };
}

/** A planned action as asked for, its summary as the log holds it. */
export type PlannedText = Omit<PlannedAction, "summary"> & { summary: Text };

/** The content of a correction as sent, its message as the log holds it. */
export type LoggedContent = Omit<CorrectionContent, "message"> & { message: Text };

export type StatusCause = "published" | "lease_lapsed" | "restart" | "ended";
export type WorkerOutcome = "completed" | "failed" | "canceled";

interface Base {
  /** Log time in ms; never decreases. */
  at: number;
  by: Principal;
}
interface OfCorrection extends Base {
  correction_id: string;
  worker_id: string;
  /** The sender, to whom every stage is told. */
  orchestrator_id: string;
}

export interface LogOpened extends Base {
  kind: "log_opened";
  /** Names this log in cursors. */
  shard: string;
  /** Names the log in its checkpoints. */
  origin: string;
  /** What they are checked with: `ORIGIN+ID+BASE64` (C2SP signed-note). */
  log_key: string;
  /** Commits to the secret key of the log's correction ids. */
  id_key: string;
}
export interface BrokerStarted extends Base {
  kind: "broker_started";
  version: string;
  rules: number;
  text_policy: number;
  limits: Limits;
  /** A tail of the log that was not whole and was set aside at this start. */
  torn?: { file: string; bytes: number };
}
export interface BrokerStopped extends Base {
  kind: "broker_stopped";
}
export interface GrantAdded extends Base {
  kind: "grant_added";
  token: string;
  subject: string;
  role: TokenRole;
  verbs: readonly Verb[];
  patterns: Patterns;
  /** Log time from which the grant holds no more. */
  expires_at?: number;
}
export interface GrantRevoked extends Base {
  kind: "grant_revoked";
  token: string;
}
export interface SessionOpened extends Base {
  kind: "session_opened";
  worker_id: string;
  session: string;
  lease_ms: number;
}
export interface StatusChanged extends Base {
  kind: "status";
  worker_id: string;
  row: Row;
  status_digest: string;
  cause: StatusCause;
  outcome?: WorkerOutcome;
}
export interface Admitted extends OfCorrection {
  kind: "admitted";
  content: LoggedContent;
  /** `seq` of the row that it cites. */
  seq: number;
  expires_at: number;
  deliverable: boolean;
}
/** What a refused request asked for, as far as a reader needs it to decide it again. */
export interface RefusedRequest {
  /** The role that a `hello` asked for; who asked is known by the token's own. */
  role?: Role;
  worker_id?: string;
  /** The session that asked. */
  session?: string;
  correction_id?: string;
  /** Of a `correct`; the text alone where its shape was refused. */
  content?: LoggedContent | { message: Text };
  /** As cited by an `ack` or a `decline`. */
  status_digest?: string;
  issue?: string;
  task_id?: string;
  lane?: string;
  expect_seq?: number;
  last_action?: Text;
  next_action?: PlannedText;
}
export interface Refused extends Base, Refusal, RefusedRequest {
  kind: "refused";
  verb: string;
  /** `seq` of the worker's row, where the refusal turned on it. */
  seq?: number;
}
export interface RefusalsFolded extends Base {
  kind: "refusals_folded";
  role: string;
  subject: string;
  /** How many of each reason. */
  counts: Readonly<Record<string, number>>;
  first_at: number;
  last_at: number;
}
export interface Delivered extends OfCorrection {
  kind: "delivered";
  session: string;
  attempt: number;
  redelivered: boolean;
  stale_context: boolean;
}
export interface Acked extends OfCorrection {
  kind: "acked";
  session: string;
  /** End of the second window, which the ack opens for the planned action. */
  expires_at: number;
}
export interface Planned extends Base {
  kind: "planned";
  worker_id: string;
  summary: Text;
  reflects: readonly string[];
  via?: Via;
  /** The same summary as before, with other `reflects`. */
  echo?: true;
}
export interface Ended extends OfCorrection {
  kind: Lowercase<EndStage>;
  detail?: StageDetail;
  echo?: true;
  reason?: Text;
  superseded_by?: string;
}
export interface LateAck extends OfCorrection {
  kind: "late_ack";
  session: string;
}

/** A text was erased for good; what the log commits to stays. */
export interface Redacted extends Base {
  kind: "redacted";
  /** The entry that brought the text. */
  entry: number;
  field: TextField;
  /** The commitment that it opened. */
  committed: string;
}

export type KernelEvent =
  | LogOpened
  | BrokerStarted
  | BrokerStopped
  | GrantAdded
  | GrantRevoked
  | SessionOpened
  | StatusChanged
  | Admitted
  | Refused
  | RefusalsFolded
  | Delivered
  | Acked
  | Planned
  | Ended
  | LateAck
  | Redacted;
