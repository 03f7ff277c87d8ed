import { LOG_CHECKS, type LogChecks } from "#log-checks";
import type { ReplyOf } from "../protocol/index.js";
import { A2achanError } from "./errors.js";
import { readCheckpoint, type ShownCheckpoint } from "./shown-checkpoint.js";

/** Where a client's highest checkpoint outlives the process. */
export interface CheckpointStore {
  /** The note as it was last saved; undefined when there is none. */
  load(): string | undefined | Promise<string | undefined>;
  /** Called one at a time. What it throws ends the client with `unverifiable`. */
  save(note: string): void | Promise<void>;
}

/** What a client holds the log to. */
export interface TrailOptions {
  logKey?: string;
  checkpoints?: CheckpointStore;
}

const ASK = "Keep both checkpoints as evidence and ask the log's operator.";

/** The highest checkpoint that was proved to a client: what it holds every later one to (PROTOCOL.md section 6). */
export class LogTrail {
  readonly #options: TrailOptions;
  readonly #failed: (error: A2achanError) => void;
  #kept: ShownCheckpoint | undefined;
  #unsaved: string | undefined;
  #saving: Promise<void> | undefined;

  constructor(options: TrailOptions, failed: (error: A2achanError) => void) {
    this.#options = options;
    this.#failed = failed;
  }

  /** Takes up what was kept before; undefined when there is nothing to wait for. Fails with `unverifiable`, `log_forked`. */
  load(): Promise<void> | undefined {
    const { logKey, checkpoints } = this.#options;
    if (logKey !== undefined && !requireChecks().isKey(logKey)) {
      throw new A2achanError("unverifiable", { sentence: "logKey is no verifier key; give NAME+ID+BASE64." });
    }
    return checkpoints === undefined ? undefined : this.#load(checkpoints);
  }

  /** The highest checkpoint that was proved. */
  get kept(): ShownCheckpoint | undefined {
    return this.#kept;
  }

  /** Whether signatures are checked. */
  get pinned(): boolean {
    return this.#options.logKey !== undefined;
  }

  /** Resolves when all that is kept is saved. */
  get saved(): Promise<void> {
    return this.#saving ?? Promise.resolve();
  }

  /**
   * Takes the checkpoint of a `welcome`. Returns the size from which the log must prove that it grew; undefined when
   * nothing is to be proved. Throws `log_forked` or `unverifiable`.
   */
  welcomed(note: string | undefined): number | undefined {
    if (note === undefined) {
      if (this.#kept === undefined && !this.pinned) return undefined;
      throw new A2achanError("unverifiable", { sentence: "The broker shows no checkpoint of its log any more." });
    }
    const shown = this.judge(note);
    const kept = this.#kept;
    if (kept !== undefined && kept.size > 0 && shown.size > kept.size && LOG_CHECKS !== undefined) return kept.size;
    this.keep(shown);
    return undefined;
  }

  /** Takes the answer to `prove` from the size of `older`: keeps its checkpoint, or throws `log_forked`. */
  grown(older: ShownCheckpoint, { checkpoint, hashes }: ReplyOf<"proof">): ShownCheckpoint {
    const shown = this.judge(checkpoint, older);
    if (hashes === undefined || !requireChecks().isConsistent(older, shown, hashes)) {
      throw forked(`The log does not prove that it still begins with the ${older.size} entries it had.`, older, shown);
    }
    this.keep(shown);
    return shown;
  }

  /**
   * Reads a checkpoint and holds it, as far as that goes without a proof, to what was kept when it was asked for: answers
   * may overtake one another. Throws `log_forked`.
   */
  judge(note: string, kept: ShownCheckpoint | undefined = this.#kept): ShownCheckpoint {
    const shown = readCheckpoint(note);
    if (shown === undefined) throw forked("The broker shows something that is no checkpoint.", kept, { note });
    const { logKey } = this.#options;
    if (logKey !== undefined && !requireChecks().isSigned(note, logKey)) {
      throw forked("The checkpoint is not signed by the key of this log.", kept, shown);
    }
    if (kept === undefined) return shown;
    if (shown.origin !== kept.origin) {
      throw forked(`The broker shows the log ${shown.origin}, not ${kept.origin}.`, kept, shown);
    }
    if (shown.size < kept.size) {
      throw forked(`The log has ${shown.size} entries and had ${kept.size}: it was rolled back.`, kept, shown);
    }
    for (const other of [kept, this.#kept]) {
      if (shown.size === other?.size && shown.root !== other.root) {
        throw forked(`The log shows two histories of ${shown.size} entries.`, other, shown);
      }
    }
    return shown;
  }

  /** Keeps a checkpoint that was proved, if it is the highest. */
  keep(shown: ShownCheckpoint): void {
    if (this.#kept !== undefined && shown.size <= this.#kept.size) return;
    this.#kept = shown;
    const { checkpoints } = this.#options;
    if (checkpoints === undefined) return;
    this.#unsaved = shown.note;
    this.#saving ??= this.#save(checkpoints);
  }

  async #load(checkpoints: CheckpointStore): Promise<void> {
    const note = await readKept(checkpoints);
    if (note === undefined) return;
    const kept = readCheckpoint(note);
    if (kept === undefined) {
      throw new A2achanError("unverifiable", { sentence: "What was kept as a checkpoint is none; restore it." });
    }
    this.judge(note);
    this.#kept = kept;
  }

  async #save(checkpoints: CheckpointStore): Promise<void> {
    try {
      while (this.#unsaved !== undefined) {
        const note = this.#unsaved;
        this.#unsaved = undefined;
        await checkpoints.save(note);
      }
    } catch (cause) {
      this.#failed(new A2achanError("unverifiable", { sentence: "The log's checkpoint could not be saved.", cause }));
    } finally {
      this.#saving = undefined;
    }
  }
}

async function readKept(checkpoints: CheckpointStore): Promise<string | undefined> {
  try {
    return await checkpoints.load();
  } catch (cause) {
    throw new A2achanError("unverifiable", { sentence: "The kept checkpoint cannot be read.", cause });
  }
}

/** The checks of this platform. Throws `unverifiable` where there are none. */
export function requireChecks(): LogChecks {
  if (LOG_CHECKS === undefined) throw new A2achanError("unverifiable");
  return LOG_CHECKS;
}

/** The error that shows a broker's word against its own. */
export function forked(why: string, kept: { note: string } | undefined, shown: { note: string }): A2achanError {
  const checkpoints = { ...(kept !== undefined && { kept: kept.note }), shown: shown.note };
  return new A2achanError("log_forked", { sentence: `${why} ${ASK}`, checkpoints });
}
