import {
  readEntry,
  Replay,
  type Difference,
  type KernelEvent,
  type LoggedEvent,
  type ReplayCounts,
} from "../../kernel/index.js";
import type { LoggedLine } from "../../storage/journal/index.js";
import {
  Frontier,
  leafHash,
  openCheckpoint,
  parseCheckpoint,
  parseVerifierKey,
  rootHex,
  type NoteFault,
  type VerifierKey,
} from "../../tlog/index.js";
import { isWellFormed } from "./entry-shape.js";
import { TextCheck, type TextCounts } from "./text-check.js";

/** What a log is held against beside itself. */
export interface Yardsticks {
  /** The log's key, from somewhere else; without it the one that the log names is taken. */
  key?: VerifierKey;
  /** Signed notes, older ones too: the log must begin with what each one signs. */
  checkpoints?: readonly { name: string; note: string }[];
  /** Whether the log must not go on behind the highest of them. */
  bounded?: boolean;
  /** What the head file of a directory tells of. */
  head?: { size: number; root: string };
  /** Whether a text that is not there is a finding: always, never, or once any other is there. */
  texts: "whole" | "none" | "some";
}

/** A tree head that was found to be the log's. */
export interface Agreed {
  name: string;
  size: number;
}

/** What a verification has looked at, and the first thing that is wrong. */
export interface Findings {
  origin?: string;
  /** `ORIGIN+ID+BASE64`, as the log names it. */
  logKey?: string;
  size: number;
  /** Lower-case hex. */
  root: string;
  /** What lies behind the last entry and is none. */
  behind?: string;
  workers: number;
  agreed: readonly Agreed[];
  texts: TextCounts;
  counts: ReplayCounts;
  difference?: Difference;
}

interface Due extends Agreed {
  root: string;
  from: string;
}

/**
 * Checks a log entry by entry, in one pass and without the broker: places, hashes, tree, signatures, each worker's count,
 * texts, and then every decision again (WITNESS-LOG.md, "Verifying"). What it holds does not grow with the log, but with
 * the workers and corrections that the broker holds too. After the first difference nothing more is taken.
 */
export class Verifier {
  readonly #yardsticks: Yardsticks;
  readonly #replay = new Replay();
  readonly #frontier = new Frontier();
  readonly #texts = new TextCheck();
  readonly #workers = new Map<string, number>();
  readonly #agreed: Agreed[] = [];
  /** Tree heads that the log has still to come to, the smallest first. */
  #due: Due[] = [];
  /** Entries that some tree head has vouched for. */
  #vouched = 0;
  #opened: { origin: string; log_key: string } | undefined;
  #behind: string | undefined;
  #difference: Difference | undefined;

  constructor(yardsticks: Yardsticks) {
    this.#yardsticks = yardsticks;
  }

  /** Takes the next entry; the first difference, once there is one. */
  take({ index, line, texts, head }: LoggedLine): Difference | undefined {
    if (this.#difference !== undefined) return this.#difference;
    const expected = this.#frontier.size;
    if (index !== expected) return this.#differs(expected, `the log goes on with entry ${index}`);
    this.#difference = this.#look(index, line, texts);
    this.#frontier.append(leafHash(line));
    this.#difference ??= this.#compareRoots(head);
    return this.#difference;
  }

  /** A difference that whoever reads the log has come upon. */
  fail(difference: Difference): void {
    this.#difference ??= difference;
  }

  /** What lies behind the last entry is none yet, and was left. */
  leave(behind: string): void {
    this.#behind = behind;
  }

  /** The log ends here. */
  end(): Findings {
    const { size } = this.#frontier;
    const [missed] = this.#due;
    if (size === 0) this.#differs(0, "the log is empty");
    if (missed !== undefined) this.#differs(size, `the log ends here, but ${missed.from} ${missed.size} entries`);
    if (this.#yardsticks.bounded === true && this.#vouched < size)
      this.#differs(this.#vouched, "no checkpoint at hand signs it");
    this.#difference ??= this.#replay.end();
    const { firstAbsent, matching } = this.#texts.counts;
    const { texts } = this.#yardsticks;
    if (firstAbsent !== undefined && (texts === "whole" || (texts === "some" && matching > 0)))
      this.#differs(firstAbsent.index, `its ${firstAbsent.field} is withheld: the text is not there`);
    return {
      ...(this.#opened !== undefined && { origin: this.#opened.origin, logKey: this.#opened.log_key }),
      size,
      root: rootHex(this.#frontier),
      ...(this.#behind !== undefined && { behind: this.#behind }),
      workers: this.#workers.size,
      agreed: this.#agreed,
      texts: this.#texts.counts,
      counts: this.#replay.counts,
      ...(this.#difference !== undefined && { difference: this.#difference }),
    };
  }

  #look(index: number, line: string, texts: LoggedLine["texts"]): Difference | undefined {
    let entry: LoggedEvent;
    try {
      entry = readEntry(line, texts);
      const fault = this.#faultOf(entry, index, texts);
      if (fault !== undefined) return { index, sentence: fault };
    } catch {
      return { index, sentence: NO_ENTRY };
    }
    return this.#replay.take(line, entry);
  }

  #faultOf(entry: LoggedEvent, index: number, texts: LoggedLine["texts"]): string | undefined {
    if (entry.index !== index) return `it calls itself entry ${entry.index}`;
    const fault = (index === 0 ? this.#open(entry) : undefined) ?? (isWellFormed(entry) ? undefined : NO_ENTRY);
    return fault ?? this.#count(entry) ?? this.#texts.take(entry, texts, this.#replay.state.limits.message_bytes);
  }

  /** Whose log it is, and what signs it. */
  #open(entry: KernelEvent): string | undefined {
    if (entry.kind !== "log_opened") return `a log begins with log_opened, not with ${entry.kind}`;
    this.#opened = entry;
    const { key: known, checkpoints = [], head } = this.#yardsticks;
    const key = parseVerifierKey(entry.log_key);
    if (key === undefined || key.name !== entry.origin) return "its log_key is no key of its origin";
    if (known !== undefined && (known.name !== key.name || known.id !== key.id))
      return `its log_key is ${entry.log_key}, not the key that was given`;
    for (const { name, note } of checkpoints) {
      const opened = openCheckpoint(note, known ?? key);
      if (typeof opened === "string") return FAULTS[opened](name);
      const root = Buffer.from(opened.root).toString("hex");
      this.#due.push({ name, size: opened.size, root, from: `${name} signs` });
    }
    if (head !== undefined && head.size > 0) this.#due.push({ name: "head", ...head, from: "the head file tells of" });
    this.#due.sort((a, b) => a.size - b.size);
    return undefined;
  }

  // A view of one worker is complete when nothing is missing from 1 on.
  #count(entry: LoggedEvent): string | undefined {
    if (!("worker_id" in entry) || entry.worker_id === undefined) return undefined;
    const { worker_entry, worker_id } = entry;
    const before = this.#workers.get(worker_id);
    if (worker_entry === undefined && before === undefined) return undefined;
    const next = (before ?? 0) + 1;
    this.#workers.set(worker_id, next);
    if (worker_entry === next) return undefined;
    return `it is entry ${worker_entry ?? "without a number"} of worker ${worker_id}, which has ${next - 1} before it`;
  }

  #compareRoots(batch: LoggedLine["head"]): Difference | undefined {
    const { size } = this.#frontier;
    if (batch === undefined && this.#due[0]?.size !== size) return undefined;
    const root = rootHex(this.#frontier);
    const differs = (from: string): Difference => {
      const span = this.#vouched === size - 1 ? "it is" : `of entries ${this.#vouched} to ${size - 1} some are`;
      return { index: this.#vouched, sentence: `${span} not what ${from}` };
    };
    for (let due = this.#due[0]; due?.size === size; due = this.#due[0]) {
      if (due.root !== root) return differs(`${due.from} (${size} entries)`);
      this.#due.shift();
      this.#agreed.push({ name: due.name, size });
    }
    if (batch !== undefined && batch.root !== root) return differs("the root of its batch is over");
    this.#vouched = size;
    return undefined;
  }

  #differs(index: number, sentence: string): Difference {
    this.#difference ??= { index, sentence };
    return this.#difference;
  }
}

const NO_ENTRY = "it is not an entry that the broker writes";

const FAULTS: Readonly<Record<NoteFault, (name: string) => string>> = {
  malformed: (name) => `${name} is no checkpoint of this log`,
  unsigned: (name) => `${name} is not signed with the log's key`,
  bad_signature: (name) => `the signature on ${name} does not hold`,
};

/** The number of entries that a note speaks of, whoever signed it. */
export function claimedSize(note: string): number | undefined {
  return parseCheckpoint(note.slice(0, note.lastIndexOf("\n\n") + 1))?.size;
}
