import type { ReplyOf } from "../protocol/index.js";
import type { CallOptions } from "./bounded.js";
import type { ConnectOptions } from "./connect-options.js";
import { CLIENT, Connection } from "./connection.js";
import { proveEntry, type EntryProof } from "./entry-proof.js";
import { A2achanError } from "./errors.js";
import { Follow, type LogEntry, type LogFilter } from "./follow.js";
import { refusedBy, type Refused } from "./refusals.js";
import { systemRuntime, type Runtime } from "./runtime.js";
import { verifiedLog, type Covered } from "./verified-log.js";

/** A run of log entries. */
export interface LogPage {
  /** The exact lines of the log, without line ends. */
  entries: string[];
  /** The texts that the entries commit to, if the token grants them. */
  texts: NonNullable<ReplyOf<"entries">["texts"]>;
  /** Give this as `after` to get the next page. */
  next: number;
}

/**
 * An auditor's side of the channel: the witness log, as it was written (PROTOCOL.md section 6). Refusals are values; calls
 * and streams reject with A2achanError as those of the other clients do.
 */
export class Auditor implements AsyncDisposable {
  readonly #connection: Connection;
  readonly #setFollow: (follow: Follow | undefined) => void;
  readonly #follow: () => Follow | undefined;

  /** @internal */
  constructor(
    connection: Connection,
    follow: () => Follow | undefined,
    setFollow: (follow: Follow | undefined) => void,
  ) {
    this.#connection = connection;
    this.#follow = follow;
    this.#setFollow = setFollow;
  }

  /** One page of what is durable, behind the first `after` entries of the log; `limit` is 1 to 1,000. */
  async log({ signal, after = 0, ...rest }: CallOptions & LogFilter & { limit?: number } = {}): Promise<
    LogPage | Refused
  > {
    const reply = await this.#connection.call({ type: "log", after, ...rest }, signal === undefined ? {} : { signal });
    if (reply.type === "refusal") return refusedBy(reply);
    const { entries, texts = [], next } = reply;
    if (next === undefined) throw new A2achanError("protocol");
    return { entries, texts, next };
  }

  /**
   * The log's entries from behind `after` on, for as long as it grows, each once and in order, across reconnects. A
   * client follows once at a time: a second `follow` ends the first. A refusal is the last item.
   */
  follow({ signal, ...filter }: CallOptions & LogFilter = {}): AsyncIterableIterator<LogEntry | Refused> {
    this.#follow()?.stop();
    const follow = new Follow(this.#connection, filter);
    this.#setFollow(follow);
    return follow.stream(signal === undefined ? {} : { signal });
  }

  /**
   * The whole log from its first entry on, verified as it comes: each index once, each worker's entries without a gap,
   * and the tree over all of them. Behind each run of entries comes `{ covered, checkpoint }`: what was read so far makes
   * the root of that checkpoint, signed by `logKey` if that is given. The first difference rejects with `log_forked` and
   * ends the client. That the verdicts in it are right is for `a2achan verify`, which decides them again. It is the one
   * follow of this client.
   */
  verified(options: CallOptions = {}): AsyncIterableIterator<LogEntry | Covered | Refused> {
    return verifiedLog(this.#connection, this.follow(options), options);
  }

  /**
   * Whether an entry is in the log: its proof, checked under a checkpoint that extends every one this client kept;
   * undefined where the log ends before `index`. Rejects with `log_forked` when the broker cannot prove what it shows,
   * with `unverifiable` in a browser.
   */
  prove(index: number, options?: CallOptions): Promise<EntryProof | Refused | undefined> {
    return proveEntry(this.#connection, index, options);
  }

  /** Closes the connection; a follow is over. */
  close(): Promise<void> {
    return this.#connection.close();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }
}

/**
 * Connects as an auditor. Rejects with `unauthenticated`, `role_not_granted`, `bad_frame`, `unreachable`, `protocol`
 * or `aborted`.
 */
export function connectAuditor(options: ConnectOptions): Promise<Auditor> {
  return openAuditor(options, systemRuntime);
}

/** `connectAuditor` with time and chance from outside. */
export async function openAuditor(options: ConnectOptions, runtime: Runtime): Promise<Auditor> {
  const connection = new Connection(options, runtime);
  let follow: Follow | undefined;
  await connection.open({
    hello: () => ({ role: "auditor", client: CLIENT }),
    push: (frame) => {
      if (frame.type === "entries") follow?.pushed(frame);
    },
    up: (_welcome, again) => {
      if (again) follow?.reconnected();
    },
    down: () => {},
    ended: () => follow?.ended(),
  });
  return new Auditor(
    connection,
    () => follow,
    (next) => {
      follow = next;
    },
  );
}
