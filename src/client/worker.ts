import type { PlannedAction, RequestOf } from "../protocol/index.js";
import { doneAnswer, type StatusAnswer } from "./answers.js";
import type { CallOptions } from "./bounded.js";
import type { ConnectOptions } from "./connect-options.js";
import { CLIENT, Connection } from "./connection.js";
import type { Correction } from "./correction.js";
import { confirmAnswer, proveEntry, type EntryProof, type LoggedAnswer } from "./entry-proof.js";
import { Inbox } from "./inbox.js";
import type { Refused } from "./refusals.js";
import { RowLane, type StatusFields } from "./row-lane.js";
import { systemRuntime, type Runtime } from "./runtime.js";

/** What a worker is opened with. */
export interface WorkerOptions extends ConnectOptions {
  /** The worker that the token is made for. */
  workerId: string;
  /** How long the row stays live after the last sign of life: 45,000 to 900,000 ms; default 60,000. */
  leaseMs?: number;
  /** Whether corrections are pushed from the start; default true. */
  inbox?: boolean;
}

/** How `plan` names what the plan follows from. */
export interface PlanFields extends CallOptions {
  /** Ids of acked corrections that the plan takes up; at most 9. */
  reflects?: string[];
  /** How the worker came to it: its claim, kept in the log. */
  via?: NonNullable<PlannedAction["via"]>;
}

/**
 * A running agent's side of the channel (PROTOCOL.md sections 2, 4 and 5). Calls resolve with the broker's answer or
 * with a `Refused` value. They reject with A2achanError only when there is no answer: `timeout`, `aborted`, `closed`,
 * `bad_frame`, `protocol`, or what ended the client (`fenced`, `unauthenticated`, `role_not_granted`).
 */
export class Worker implements AsyncDisposable {
  readonly #connection: Connection;
  readonly #lane: RowLane;
  readonly #inbox: Inbox;
  readonly #setInbox: (open: boolean) => void;

  /** @internal */
  constructor(connection: Connection, lane: RowLane, inbox: Inbox, setInbox: (open: boolean) => void) {
    this.#connection = connection;
    this.#lane = lane;
    this.#inbox = inbox;
    this.#setInbox = setInbox;
  }

  /**
   * Publishes the row and makes it live. A `next_action` that differs from the row's is a planned action: it ends every
   * acked correction as WITNESSED (named in `reflects`) or UNREFLECTED. What was published last is published again
   * after each reconnect.
   */
  status(fields: StatusFields, options?: CallOptions): Promise<StatusAnswer | Refused> {
    return this.#lane.status(fields, options);
  }

  /** The last published row with another next action. Rejects with `no_status` when nothing was published yet. */
  plan(summary: string, { signal, ...fields }: PlanFields = {}): Promise<StatusAnswer | Refused> {
    return this.#lane.plan({ summary, ...fields }, signal === undefined ? {} : { signal });
  }

  /**
   * Corrections as they come, halts first, each id once for the life of this object. Taking one gives its receipt
   * (DELIVERED); one that is over by then is not yielded. Ends when the client is closed; throws what ended it otherwise.
   */
  corrections(options?: CallOptions): AsyncIterableIterator<Correction> {
    return this.#inbox.stream(options);
  }

  /** All corrections that wait now, received, halts first: for a loop that looks between its turns. Does not wait. */
  take(options?: CallOptions): Promise<Correction[]> {
    return this.#inbox.drain(options);
  }

  /** Opens or closes the inbox: while it is closed, corrections are admitted but not pushed. */
  async inbox(open: boolean, options?: CallOptions): Promise<Refused | undefined> {
    this.#setInbox(open);
    return doneAnswer(await this.#connection.call({ type: "inbox", open }, options));
  }

  /** Ends the run: what is open is ORPHANED and the row is not live any more. Closes the client, unless refused. */
  async bye(outcome?: RequestOf<"bye">["outcome"], options?: CallOptions): Promise<Refused | undefined> {
    const refused = doneAnswer(await this.#lane.bye(outcome, options));
    if (refused === undefined) await this.#connection.close();
    return refused;
  }

  /**
   * Whether an entry is in the log: its proof, checked under a checkpoint that extends every one this client kept;
   * undefined where the log ends before `index`. Rejects with `log_forked` when the broker cannot prove what it shows,
   * with `unverifiable` in a browser.
   */
  prove(index: number, options?: CallOptions): Promise<EntryProof | Refused | undefined> {
    return proveEntry(this.#connection, index, options);
  }

  /**
   * Proves the entry that an answer of the broker names (a receipt, a stage, an outcome), and that it says what the
   * answer said. Rejects with `log_forked` when it does not, with `unverifiable` for a folded refusal.
   */
  confirm(answer: LoggedAnswer, options?: CallOptions): Promise<EntryProof | Refused> {
    return confirmAnswer(this.#connection, answer, options);
  }

  /** Closes the connection without a bye: the row stays live until its lease lapses. */
  close(): Promise<void> {
    return this.#connection.close();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }
}

/**
 * Connects as a worker. A newer session of the same worker fences this one (`fenced`). Rejects with `unauthenticated`,
 * `role_not_granted`, `bad_frame`, `unreachable`, `protocol` or `aborted`.
 */
export function connectWorker(options: WorkerOptions): Promise<Worker> {
  return openWorker(options, systemRuntime);
}

/** `connectWorker` with time and chance from outside. */
export async function openWorker(options: WorkerOptions, runtime: Runtime): Promise<Worker> {
  const { workerId, leaseMs } = options;
  let open = options.inbox ?? true;
  const connection = new Connection(options, runtime);
  const lane = new RowLane(connection, runtime.clock);
  const inbox = new Inbox(connection, lane);
  await connection.open({
    hello: () => ({
      role: "worker",
      worker_id: workerId,
      inbox: open,
      client: CLIENT,
      ...(leaseMs !== undefined && { lease_ms: leaseMs }),
    }),
    push: (frame) => {
      if (frame.type === "correction") inbox.pushed(frame);
      else if (frame.type === "stage") inbox.recalled(frame.correction_id);
    },
    up: (_welcome, again) => {
      if (again) lane.reconnected();
    },
    down: () => {
      lane.down();
      inbox.down();
    },
    ended: (error) => {
      lane.ended(error);
      inbox.ended();
    },
  });
  return new Worker(connection, lane, inbox, (next) => {
    open = next;
  });
}
