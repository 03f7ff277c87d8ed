import { isDeepStrictEqual } from "node:util";
import {
  decodeEntry,
  emptyState,
  evolve,
  type Command,
  type KernelEvent,
  type State,
  type TextLine,
} from "../../src/kernel/index.js";
import { Invariants } from "../support/invariants.js";
import { expectedOf, nameOf } from "../support/oracle.js";
import { plainState } from "../support/plain-state.js";
import type { Report, Violation } from "./clauses.js";

type Admitted = Extract<KernelEvent, { kind: "admitted" }>;
type Refused = Extract<KernelEvent, { kind: "refused" }>;

/**
 * The log as it became durable, read by the plainest means: what the broker says is held against it, and it is held
 * against the rules itself (I2, I3, I4, I6, I8, I11, I12, I13, I15).
 */
export class Ledger {
  readonly lines: string[] = [];
  readonly events: KernelEvent[] = [];
  readonly rules: Invariants;
  /** Digest of each row that there was, by worker and seq. */
  readonly digests = new Map<string, Map<number, string>>();
  /** The state that the log gives. */
  readonly state: State = emptyState();
  /** Refusals that are in the log singly, and those that are counted in others. */
  refused = 0;
  folded = 0;
  readonly #texts = new Map<string, string>();
  readonly #onEvent: (event: KernelEvent) => void;
  readonly #violated: (violation: Violation) => void;

  /** `onEvent` sees each event when the ones before it are booked. */
  constructor(idKey: Uint8Array, violated: (violation: Violation) => void, onEvent: (event: KernelEvent) => void) {
    this.rules = new Invariants(idKey);
    this.#violated = violated;
    this.#onEvent = onEvent;
  }

  get book(): Invariants["book"] {
    return this.rules.book;
  }

  /** Takes in what has become durable: whole steps. */
  take(entries: readonly string[], texts: readonly TextLine[]): void {
    const first = this.lines.length;
    const events = entries.map((line, at) => {
      const own = texts.filter(({ index }) => index === first + at);
      evolve(this.state, decodeEntry(line, own));
      return this.#whole(decodeEntry(line, own));
    });
    this.lines.push(...entries);
    this.events.push(...events);
    for (const event of events) this.#row(event);
    try {
      this.#batch(events);
    } catch (error) {
      const [invariant = "", ...what] = (error instanceof Error ? error.message : String(error)).split(": ");
      this.#violated({ invariant, what: what.join(": ") });
    }
  }

  // A refusal is judged by what the log said before it.
  #batch(events: readonly KernelEvent[]): void {
    this.rules.batch(events, (event) => {
      this.#onEvent(event);
      if (event.kind === "admitted") this.#verdict(event, admission(event), "admitted");
      if (event.kind !== "refused") return;
      this.refused += 1;
      this.#verdict(event, commandOf(event), nameOf(event));
    });
    for (const event of events) {
      if (event.kind === "broker_started") this.#restarted(event.at);
      if (event.kind === "refusals_folded")
        this.folded += Object.values(event.counts).reduce((sum, count) => sum + count, 0);
    }
  }

  /** A start fails closed: no row is live that its worker has not published since. */
  #restarted(at: number): void {
    for (const { id, row } of this.book.workers.values())
      if (row?.live === true) throw new Error(`lease: the row of ${id} is still live after the start at ${at}`);
  }

  /** I11: a verdict of the log is the one that the rules give, by an oracle of its own. */
  #verdict(event: KernelEvent, command: Command | undefined, verdict: string): void {
    if (command === undefined) return;
    const { answer } = expectedOf(this.book, command);
    if (answer !== verdict) throw new Error(`I11: ${verdict}, by the rules ${answer}: ${JSON.stringify(event)}`);
  }

  #row(event: KernelEvent): void {
    if (event.kind !== "status") return;
    const own = this.digests.get(event.worker_id) ?? new Map<number, string>();
    this.digests.set(event.worker_id, own.set(event.row.seq, event.status_digest));
  }

  // The log holds a text once, with the entry that brought it: later ones name its commitment.
  #whole(event: KernelEvent): KernelEvent {
    const fill = (value: object): void => {
      for (const member of Object.values(value)) {
        if (typeof member !== "object" || member === null) continue;
        const { commitment, text } = member as { commitment?: string; text?: string };
        if (commitment === undefined) fill(member as object);
        else if (text !== undefined) this.#texts.set(commitment, text);
        else if (this.#texts.has(commitment)) Object.assign(member, { text: this.#texts.get(commitment) });
      }
    };
    fill(event);
    return event;
  }
}

/** The command that an admission answers. */
function admission({ at: now, by, correction_id, content: { message, ...content } }: Admitted): Command {
  return { kind: "correct", now, by, correction_id, content, message, reachable: false };
}

/** The command that a refusal answers, as far as its entry tells; undefined for what was judged at the edge. */
function commandOf(event: Refused): Command | undefined {
  const {
    kind: _kind,
    at: now,
    by,
    verb,
    reason,
    detail,
    seq: _seq,
    path: _path,
    bytes: _b,
    max_bytes: _m,
    ...asked
  } = event;
  if (reason === "MALFORMED" || by.role === "broker") return undefined;
  const base = { ...asked, now, by };
  if (verb === "correct" && asked.content !== undefined && "issue" in asked.content) {
    const { message, ...content } = asked.content;
    return { ...base, kind: "correct", content, message, reachable: false } as Command;
  }
  if (reason === "OVERSIZE") return undefined;
  if (verb === "hello" && "role" in asked) return { ...base, kind: "take_role" } as Command;
  if (verb === "hello") return { ...base, kind: "open_session", lease_ms: 0, session: "" } as Command;
  const whole: Readonly<Record<string, string>> = {
    receive: "correction_id",
    ack: "correction_id",
    decline: "correction_id",
    withdraw: "correction_id",
    stage: "correction_id",
    status: "issue",
    bye: "session",
  };
  const needed = whole[verb];
  if (needed !== undefined && needed in asked) return { ...base, kind: verb } as Command;
  const refusal = { reason, ...(detail !== undefined && { detail }) };
  return { ...base, kind: "malformed", request: verb, refusal } as Command;
}

/** I1: the log that was taken up begins with all that was durable; what it has beyond that was on its way. */
export function i1Kept(ledger: Ledger, recovered: readonly string[], report: Report): void {
  const lost = ledger.lines.findIndex((line, index) => recovered[index] !== line);
  if (lost !== -1) report("I1", `entry ${lost} of ${ledger.lines.length} was durable and is lost or altered`);
}

/** I10: where nothing is on its way, the state in memory is the one that the log gives. */
export function i10SameState(ledger: Ledger, state: State, report: Report): void {
  if (state.size !== ledger.state.size) return;
  const [live, rebuilt] = [plainState(state), plainState(ledger.state)];
  const other = Object.keys(live).filter((key) => !isDeepStrictEqual(live[key], rebuilt[key]));
  if (other.length > 0) report("I10", `the log gives other ${other.join(", ")}`);
}
