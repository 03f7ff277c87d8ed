import { commandFrom, UNDECIDED, WAIT } from "./replayed-command.js";
import { step } from "./decide.js";
import { encodeEntry, eventOf, type LoggedEvent } from "./entries.js";
import type { KernelEvent, Principal, StatusChanged } from "./events.js";
import { wireRow } from "./rows.js";
import { emptyState, type State } from "./state.js";

/** The first entry at which a log is not what the rules make of it. */
export interface Difference {
  index: number;
  /** What is wrong, in one sentence. */
  sentence: string;
}

/** What a replay has looked at, by kind of entry. */
export interface ReplayCounts {
  /** Entries that the kernel came to again by itself. */
  redecided: Map<string, number>;
  /** Entries, or parts of entries, that only the broker's word stands for (WITNESS-LOG.md, "Attested"). */
  attested: Map<string, number>;
}

interface Logged {
  line: string;
  event: LoggedEvent;
}
interface Decided {
  event: KernelEvent;
  workerEntry: number | undefined;
}

/**
 * Decides a log again, entry by entry, with the rules that the broker is bound by: nobody's word counts but for what is
 * listed as attested. Throws nothing; after the first difference nothing more is taken.
 */
export class Replay {
  readonly counts: ReplayCounts = { redecided: new Map(), attested: new Map() };
  readonly #state: State = emptyState();
  /** Entries whose command is not known yet. */
  #held: Logged[] = [];
  /** What the kernel came to, and the log has still to say. */
  #decided: Decided[] = [];
  /** By token, which the broker's own entries have none of. */
  readonly #principals = new Map<string | undefined, Principal>();
  #difference: Difference | undefined;
  #index = 0;

  /** The state that the log so far makes. */
  get state(): State {
    return this.#state;
  }

  /** Takes the next entry: its line, and what `readEntry` makes of it; the first difference, once there is one. */
  take(line: string, event: LoggedEvent): Difference | undefined {
    if (this.#difference !== undefined) return this.#difference;
    try {
      event.by = this.#same(event.by);
      this.#take({ line, event });
    } catch {
      // An event that names what is not there, or has not the fields of its kind.
      this.#differs(this.#index, "it is not an entry that the broker writes");
    }
    this.#index += 1;
    return this.#difference;
  }

  /** The log ends here. */
  end(): Difference | undefined {
    const left = this.#decided[0]?.event.kind;
    if (left !== undefined) return this.#differs(this.#index, `the log ends, and ${left} has to follow`);
    if (this.#held.length > 0) return this.#differs(this.#index, "the log ends in the middle of what one request did");
    return this.#difference;
  }

  #take(logged: Logged): void {
    const { event } = logged;
    if (this.#decided.length === 0) {
      this.#held.push(logged);
      if (event.at < this.#state.at)
        return void this.#differs(this.#index, "its time is before that of the entry before");
      const held = this.#held.map((one) => one.event);
      const command = commandFrom(this.#state, held);
      if (command === WAIT) return;
      if (command === UNDECIDED) return void this.#differs(this.#index, `nothing in the log leads to ${event.kind}`);
      const { events, workerEntries, first } = step(this.#state, command);
      this.#decided = events.map((one, at) => ({ event: one, workerEntry: workerEntries[at] }));
      const waiting = this.#held;
      this.#held = [];
      waiting.forEach((one, at) => this.#compare(one, first + at));
      return;
    }
    this.#compare(logged, this.#index);
  }

  #compare({ line, event }: Logged, index: number): void {
    if (this.#difference !== undefined) return;
    const decided = this.#decided.shift();
    if (decided === undefined) return void this.#differs(index, `the rules do not lead to ${event.kind}`);
    if (event.kind === "status" && decided.event.kind === "status") this.#believeDigest(event, decided.event);
    if (encodeEntry(decided.event, index, decided.workerEntry).line !== line) {
      return void this.#differs(index, sentenceOf(eventOf(event), decided.event));
    }
    this.#count(event);
  }

  // One object for each token: what is written of it is remembered by the object.
  #same(by: Principal): Principal {
    const known = this.#principals.get(by.token);
    if (known?.role === by.role && known.subject === by.subject) return known;
    this.#principals.set(by.token, by);
    return by;
  }

  // Where a text of the row is gone its digest cannot be computed again: the broker's word stands for it.
  #believeDigest({ status_digest }: StatusChanged, decided: StatusChanged): void {
    const worker = this.#state.workers.get(decided.worker_id);
    if (worker === undefined || wireRow(decided.row) !== undefined) return;
    this.counts.attested.set("status_digest", (this.counts.attested.get("status_digest") ?? 0) + 1);
    if (worker.digest === decided.status_digest) worker.digest = status_digest;
    decided.status_digest = status_digest;
  }

  #count(event: KernelEvent): void {
    const { redecided, attested } = this.counts;
    const isAttested =
      event.kind === "refusals_folded" ||
      (event.kind === "refused" && event.reason === "MALFORMED") ||
      (event.kind === "status" && event.cause === "lease_lapsed");
    const of = isAttested ? attested : redecided;
    const name = event.kind === "refused" ? `refused ${event.reason}` : event.kind;
    of.set(name, (of.get(name) ?? 0) + 1);
  }

  #differs(index: number, sentence: string): Difference {
    this.#difference ??= { index, sentence };
    return this.#difference;
  }
}

/** Fields whose difference says most, in this order. */
const TELLING = ["kind", "reason", "detail", "status_digest", "correction_id", "worker_id", "reflects", "row", "echo"];

function sentenceOf(logged: KernelEvent, decided: KernelEvent): string {
  const [a, b] = [logged, decided] as unknown as [Record<string, unknown>, Record<string, unknown>];
  const names = [...TELLING, ...Object.keys(a), ...Object.keys(b)];
  const name = names.find((key) => JSON.stringify(a[key]) !== JSON.stringify(b[key]));
  if (name === undefined) return "its bytes are not those that the broker writes for it";
  return `its ${name} is ${said(a[name])}; by the rules it is ${said(b[name])}`;
}

function said(value: unknown): string {
  if (value === undefined) return "absent";
  const text = JSON.stringify(value);
  return text.length > 200 ? `${text.slice(0, 200)}…` : text;
}
