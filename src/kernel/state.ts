import { LIMITS, type Limits, type Stage, type StageDetail } from "../protocol/index.js";
import { DueQueue, type Due } from "./due.js";
import type { GrantAdded, LoggedContent, LogOpened, Row } from "./events.js";

export interface Grant extends Omit<GrantAdded, "kind" | "at" | "by"> {
  /** Index of its entry. */
  index: number;
  revoked: boolean;
}

/** The time from which a grant holds no more. */
export interface Expiry extends Due {
  token: string;
}

/** In the queue of what is due as long as it is open. */
export interface Correction extends Due {
  id: string;
  /** Index of its admission: the order of everything. */
  index: number;
  worker: Worker;
  sender: Sender;
  content: LoggedContent;
  /** `seq` of the row that it cites. */
  seq: number;
  admittedAt: number;
  stage: Stage;
  detail?: StageDetail;
  echo?: true;
  /** Index and time of the entry that set the stage. */
  stageIndex: number;
  stageAt: number;
  /** End of the window that runs now: admission to ack, then ack to planned action. */
  dueAt: number;
  expiresAt: number;
  acked: boolean;
  lateAck: boolean;
  /** Receipts so far, one a session, and the session of the last. */
  receipts: number;
  lastReceipt?: string;
  /** Cites the digest that is current now. */
  citing: boolean;
  /** Among the last ended ones of its sender. */
  recent: boolean;
}

export interface Worker {
  id: string;
  session?: string;
  leaseMs: number;
  row?: Row;
  digest?: string;
  /** The row ended by `bye` and has not been live since. */
  ended: boolean;
  /** Open corrections in admission order. */
  open: Map<string, Correction>;
  /** The corrections, open or ended, that cite the current digest, of each sender. */
  citing: Map<string, Correction[]>;
  /** Entries that name this worker since it has a row. */
  entries: number;
  /** Times of its latest new digests of its own making, at most `digests_per_window`. */
  digestTimes: number[];
}

export interface Sender {
  subject: string;
  /** Open corrections of this orchestrator. */
  open: Map<string, Correction>;
  /** Its last ended ones, oldest first. */
  ended: Correction[];
  /** Times of its latest admissions, at most `admitted_per_window`. */
  admittedTimes: number[];
}

/**
 * Everything that `decide` reads. Rebuilt from the log by `evolve`, and changed by nothing else; only the expiry of a
 * grant that is past may linger in `due` after a rebuild, and ends nothing when it is taken.
 */
export interface State {
  /** Entries in the log. */
  size: number;
  /** Log time of the last entry. */
  at: number;
  shard: string;
  /** What the log was opened with; undefined before its first entry. */
  opened?: Pick<LogOpened, "origin" | "log_key" | "id_key">;
  limits: Limits;
  grants: Map<string, Grant>;
  /** Token ids of each subject that may correct. */
  tokensOf: Map<string, Set<string>>;
  workers: Map<string, Worker>;
  corrections: Map<string, Correction>;
  senders: Map<string, Sender>;
  /** Per principal: the log time at which its bucket of single refusals is full again. */
  refusalFullAt: Map<string, number>;
  /** Open corrections, and grants that expire. */
  due: DueQueue<Correction | Expiry>;
}

export function emptyState(): State {
  return {
    size: 0,
    at: 0,
    shard: "",
    limits: LIMITS,
    grants: new Map(),
    tokensOf: new Map(),
    workers: new Map(),
    corrections: new Map(),
    senders: new Map(),
    refusalFullAt: new Map(),
    due: new DueQueue(),
  };
}

export function principalKey(role: string, subject: string): string {
  return `${role} ${subject}`;
}
