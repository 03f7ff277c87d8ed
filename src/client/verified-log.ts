import type { CallOptions } from "./bounded.js";
import type { Connection } from "./connection.js";
import type { A2achanError } from "./errors.js";
import type { LogEntry } from "./follow.js";
import { forked, requireChecks } from "./log-trail.js";
import { isRefused, refusedBy, type Refused } from "./refusals.js";
import type { ShownCheckpoint } from "./shown-checkpoint.js";
import { iteratorOf } from "./stream.js";

/** Every entry before `size` was read, and is under this checkpoint. */
export interface Covered {
  /** Number of entries. */
  covered: number;
  /** The signed checkpoint whose root was computed again from the entries. */
  checkpoint: string;
  /** Whether its signature was checked, with `logKey`. */
  signed: boolean;
}

/**
 * The entries of a follow from the first on, each held to the log's form, and after each run of them the checkpoint that
 * covers it. Fails with `log_forked` at the first difference, which ends the client.
 */
export function verifiedLog(
  connection: Connection,
  entries: AsyncIterableIterator<LogEntry | Refused>,
  options: CallOptions,
): AsyncIterableIterator<LogEntry | Covered | Refused> {
  const audit = new LogAudit(connection, options);
  const next = async (): Promise<LogEntry | Covered | Refused | undefined> => {
    const covered = await audit.covered();
    if (covered !== undefined) return covered;
    const { value, done } = await entries.next();
    if (done === true) return undefined;
    if (!isRefused(value)) audit.take(value);
    return value;
  };
  return iteratorOf(
    () => connection.orEnd(next()),
    () => void entries.return?.(),
  );
}

/** What the entries of one log add up to so far. */
class LogAudit {
  readonly #connection: Connection;
  readonly #options: CallOptions;
  readonly #tree = requireChecks().tree();
  /** The last `worker_entry` of each worker. */
  readonly #workers = new Map<string, number>();
  #size = 0;
  /** The checkpoint that the entries are on their way to. */
  #ahead: ShownCheckpoint | undefined;
  #reached = 0;

  constructor(connection: Connection, options: CallOptions) {
    this.#connection = connection;
    this.#options = options;
  }

  take({ index, line }: LogEntry): void {
    if (index !== this.#size) throw this.#fault(`Entry ${index} comes where entry ${this.#size} belongs.`);
    this.#requireComplete(index, line);
    this.#tree.append(line);
    this.#size += 1;
    const { kept } = this.#connection.trail;
    if (kept !== undefined && kept.size === this.#size) this.#requireRoot(kept);
  }

  /** The checkpoint that the entries have just reached, if they have; asks for one when there is none ahead. */
  async covered(): Promise<Covered | Refused | undefined> {
    if (this.#size === this.#reached) return undefined;
    if (this.#ahead === undefined) {
      const { kept } = this.#connection.trail;
      const reply = await this.#connection.call({ type: "checkpoint" }, this.#options);
      if (reply.type === "refusal") return refusedBy(reply);
      this.#ahead = this.#connection.trail.judge(reply.checkpoint, kept);
    }
    const ahead = this.#ahead;
    if (ahead.size > this.#size) return undefined;
    if (ahead.size < this.#size)
      throw this.#fault(`The log has ${this.#size} entries, and signs ${ahead.size}.`, ahead);
    this.#requireRoot(ahead);
    this.#connection.trail.keep(ahead);
    this.#ahead = undefined;
    this.#reached = this.#size;
    return { covered: this.#size, checkpoint: ahead.note, signed: this.#connection.trail.pinned };
  }

  #requireRoot(checkpoint: ShownCheckpoint): void {
    if (this.#tree.root() === checkpoint.root) return;
    throw this.#fault(`The first ${this.#size} entries do not make the root of their checkpoint.`, checkpoint);
  }

  /** A worker's entries count up from its first row on, so that none of them can be left out (WITNESS-LOG.md). */
  #requireComplete(index: number, line: string): void {
    const { worker_id, worker_entry } = JSON.parse(line) as { worker_id?: string; worker_entry?: number };
    if (worker_id === undefined) return;
    const last = this.#workers.get(worker_id) ?? 0;
    if (worker_entry === undefined && last === 0) return;
    if (worker_entry !== last + 1) {
      throw this.#fault(`Entry ${index} is not entry ${last + 1} of ${worker_id}.`);
    }
    this.#workers.set(worker_id, worker_entry);
  }

  #fault(why: string, shown?: ShownCheckpoint): A2achanError {
    const { kept } = this.#connection.trail;
    return forked(why, kept, shown ?? this.#ahead ?? kept ?? { note: "" });
  }
}
