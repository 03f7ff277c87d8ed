import { statusDigest, type CorrectionContent, type Filter, type View, type WorkerStatus } from "../protocol/index.js";
import { stageAnswer } from "./answers.js";
import type { CallOptions } from "./bounded.js";
import type { ConnectOptions } from "./connect-options.js";
import { CLIENT, Connection } from "./connection.js";
import type { StageNotice } from "./course.js";
import { confirmAnswer, proveEntry, type EntryProof, type LoggedAnswer } from "./entry-proof.js";
import { A2achanError } from "./errors.js";
import { bodyOf } from "./frames.js";
import { issueId } from "./issue-id.js";
import { receiptOf, type Receipt } from "./receipt.js";
import { isRefused, refusedBy, type Refused } from "./refusals.js";
import { systemRuntime, type Runtime } from "./runtime.js";
import { StageBook } from "./stage-book.js";
import { WatchHub, type WorkerChange } from "./watch-hub.js";

/** What a correction can say beside its message (PROTOCOL.md section 3). */
export interface CorrectOptions extends CallOptions {
  /** 1-64 of `[A-Za-z0-9._:-]`; default: a fresh one, a new attempt. Give one to be able to repeat the call safely. */
  key?: string;
  /** Milliseconds from admission to ack, and again from ack to the planned action: 1 to 3,600,000; default 600,000. */
  ttl_ms?: number;
  /** `halt` goes before all others and finds one place more in a full inbox. */
  priority?: NonNullable<CorrectionContent["priority"]>;
  /** `exact`: STALE as soon as the row moves before delivery. Default `run`: as long as issue, task and lane stay. */
  freshness?: NonNullable<CorrectionContent["freshness"]>;
  /** An open correction of one's own for the same worker, which this one takes the place of. */
  supersedes?: string;
  /** UTF-8 bytes that the message may have; can only narrow the limit of 1,024. */
  max_bytes?: number;
  /**
   * The digest that the decision was made on, when that row was read elsewhere (by a person, in another process) and is
   * not at hand: cited as it is. Default: that of the row given.
   */
  digest?: string;
  /**
   * Where the caller holds the worker to be, if it knows that from elsewhere (its own plan, say) and not from the row.
   * Refused with TRUST_VIOLATION/SCOPE unless it equals the row's issue, task and lane; default: those of the row.
   */
  scope?: CorrectionScope;
}

/** Issue, task and lane as an orchestrator names them. A number for `issue` is taken as its digits. */
export interface CorrectionScope {
  issue: string | number;
  task_id?: string;
  lane: string;
}

/** Which workers: strings are grant patterns (`*`, `**`). A number for `issue` is taken as its digits. */
export type WorkerFilter = Omit<Filter, "issue"> & { issue?: string | number };

/** One page of workers, in the order of their ids. */
export interface WorkerPage {
  rows: View[];
  /** Give this as `after` to get the next page; absent from the last one. */
  next?: string;
}

/**
 * An orchestrator's side of the channel (PROTOCOL.md sections 3, 4 and 6). Calls resolve with the broker's answer or
 * with a refusal as a value. They reject with A2achanError only when there is no answer: `timeout`, `aborted`, `closed`,
 * `bad_frame`, `protocol`, or what ended the client (`unauthenticated`, `role_not_granted`).
 */
export class Orchestrator implements AsyncDisposable {
  readonly #connection: Connection;
  readonly #book: StageBook;
  readonly #hub: WatchHub;
  readonly #freshKey: () => string;

  /** @internal */
  constructor(connection: Connection, book: StageBook, hub: WatchHub, freshKey: () => string) {
    this.#connection = connection;
    this.#book = book;
    this.#hub = hub;
    this.#freshKey = freshKey;
  }

  /**
   * The workers that the grant and the filter cover, live: first as they are, then each that changes; one that leaves
   * as `{ worker_id, gone: true }`. Changes that were not taken yet fall together. A refusal is the last item.
   */
  workers(filter: WorkerFilter = {}, options?: CallOptions): AsyncIterableIterator<WorkerChange> {
    return this.#hub.read(filterOf(filter), options);
  }

  /** One page of workers as they are now; `limit` is 1 to 1,000. */
  async list(
    filter: WorkerFilter = {},
    { signal, ...page }: CallOptions & { after?: string; limit?: number } = {},
  ): Promise<WorkerPage | Refused> {
    const reply = await this.#connection.call(
      { type: "list", filter: filterOf(filter), ...page },
      signal === undefined ? {} : { signal },
    );
    if (reply.type === "refusal") return refusedBy(reply);
    return { rows: reply.rows, ...(reply.next !== undefined && { next: reply.next }) };
  }

  /** One worker as it is now; undefined for one that is unknown or outside the grant. */
  async get(workerId: string, options?: CallOptions): Promise<View | Refused | undefined> {
    const reply = await this.#connection.call({ type: "get", worker_id: workerId }, options);
    if (reply.type === "refusal") return refusedBy(reply);
    if ("changed" in reply) throw new A2achanError("protocol");
    const { row, status_digest, liveness, inbox, pending, lease_ms } = reply;
    if (row === undefined) return undefined;
    const beside = { status_digest, liveness, inbox, pending, lease_ms };
    if (!isComplete(beside)) throw new A2achanError("protocol");
    return { row, ...beside };
  }

  /**
   * Sends a correction to the worker whose row is given, for exactly that row: the digest is computed from it, so a
   * row that has changed meanwhile gives a DIGEST refusal, which tells what moved. Deciding again is the caller's.
   * `message` is 1 to 1,024 UTF-8 bytes. A call that fails with `timeout` may have been admitted: repeating it with
   * the same `key` cannot send it twice.
   */
  async correct(
    cited: WorkerStatus | { readonly row: WorkerStatus },
    message: string,
    { signal, key, scope, digest, ...rest }: CorrectOptions = {},
  ): Promise<Receipt> {
    const row = "row" in cited ? cited.row : cited;
    const status_digest = digest ?? statusDigest(row);
    const { issue, task_id, lane } = scope ?? row;
    const named = { worker_id: row.worker_id, issue: issueId(issue), lane, ...(task_id !== undefined && { task_id }) };
    let receipt: Receipt | undefined;
    await this.#connection.call(
      { ...rest, type: "correct", ...named, message, status_digest, key: key ?? this.#freshKey() },
      signal === undefined ? {} : { signal },
      (reply) => {
        // In the turn in which it comes: the stages that follow it find the correction followed.
        if (reply.type === "receipt") receipt = receiptOf(reply, { row, status_digest }, this.#book);
        return false;
      },
    );
    if (receipt === undefined) throw new A2achanError("protocol");
    // One that was sent before, under the caller's key, may have gone on before anybody listened here. All others are told
    // by pushes, and to ask would skip what a resume has yet to tell: its pushes and replies are not ordered.
    if (key === undefined || receipt.verdict === "DENY") return receipt;
    const { correction_id, stage } = receipt;
    if (!this.#book.knows(correction_id, stage)) recall(this.#connection, this.#book, correction_id);
    return receipt;
  }

  /** Takes a correction back while it is ADMITTED; otherwise the answer says where it stands. */
  async withdraw(correctionId: string, options?: CallOptions): Promise<StageNotice | Refused> {
    return ofOwn(await this.#connection.call({ type: "withdraw", correction_id: correctionId }, options));
  }

  /** Where a correction of one's own stands. */
  async stage(correctionId: string, options?: CallOptions): Promise<StageNotice | Refused> {
    return ofOwn(await this.#connection.call({ type: "stage", correction_id: correctionId }, options));
  }

  /**
   * Every stage of this orchestrator's corrections from now on, those of its other sessions included: each once, in
   * order for each correction, across reconnects. What is not taken is kept.
   */
  stages(options?: CallOptions): AsyncIterableIterator<StageNotice> {
    return this.#book.stages(options);
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

  /** Closes the connection. What was admitted stands. */
  close(): Promise<void> {
    return this.#connection.close();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }
}

/** Asks where an awaited correction stands, and tells the book. */
function recall(connection: Connection, book: StageBook, correctionId: string): void {
  connection.ask({ type: "stage", correction_id: correctionId }).reply.then(
    (reply) => {
      if (reply.type === "refusal") book.lose(correctionId, new A2achanError("unknown_outcome"));
      else book.answered(bodyOf(reply));
    },
    () => {}, // the connection has ended, and so has the book
  );
}

/**
 * Connects as an orchestrator or, with a watch-only token, as an observer. Rejects with `unauthenticated`,
 * `role_not_granted`, `bad_frame`, `unreachable`, `protocol` or `aborted`.
 */
export function connectOrchestrator(options: ConnectOptions): Promise<Orchestrator> {
  return openOrchestrator(options, systemRuntime);
}

/** `connectOrchestrator` with time and chance from outside. */
export async function openOrchestrator(options: ConnectOptions, runtime: Runtime): Promise<Orchestrator> {
  const connection = new Connection(options, runtime);
  const book = new StageBook();
  const hub = new WatchHub(connection);
  await connection.open({
    hello: () => ({
      role: "orchestrator",
      client: CLIENT,
      ...(book.cursor !== undefined && { resume_from: book.cursor }),
    }),
    push: (frame) => {
      if (frame.type === "stage") book.pushed(frame);
      else if (frame.type === "row") hub.pushed(frame);
    },
    up: ({ cursor, gap }, again) => {
      if (!again || gap) book.begin(cursor);
      // Behind a gap no push tells how a correction ended that is over.
      if (gap) for (const id of book.awaited()) recall(connection, book, id);
      if (again) hub.reconnected();
    },
    down: () => {},
    ended: (error) => {
      book.end(error);
      hub.ended();
    },
  });
  return new Orchestrator(connection, book, hub, () => runtime.freshKey());
}

/** One refusal for an unknown correction and for another's: here it is not the grant that is to be asked for. */
function ofOwn(reply: Parameters<typeof stageAnswer>[0]): StageNotice | Refused {
  const answer = stageAnswer(reply);
  if (!isRefused(answer) || answer.detail !== "NO_GRANT") return answer;
  return { ...answer, advice: "This token has sent no such correction, or the broker keeps it no more; check its id." };
}

function filterOf({ issue, ...rest }: WorkerFilter): Filter {
  return issue === undefined ? rest : { ...rest, issue: issueId(issue) };
}

type Beside = Omit<View, "row">;

function isComplete(beside: { [K in keyof Beside]: Beside[K] | undefined }): beside is Beside {
  return Object.values(beside).every((value) => value !== undefined);
}
