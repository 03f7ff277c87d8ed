import {
  decodeEntries,
  emptyState,
  evolve,
  nextDue,
  step,
  type Command,
  type State,
  type Step,
} from "../kernel/index.js";
import type { EventStore, Page, TextPlace } from "../storage/event-store.js";
import { LogTime, type Clock } from "./clock.js";
import { Outbox } from "./outbox.js";
import type { Session } from "./session.js";
import { Writer } from "./writer.js";

/** A command without its time: the core gives it the log time of the turn in which it is decided. */
export type Untimed = Command extends infer C ? (C extends Command ? Omit<C, "now"> : never) : never;

export interface CoreEvents {
  /** Called in the same turn, after the state has moved and the asker's own answer is posted. */
  stepped(result: Step, now: number, asker: Session | undefined): void;
  durable(size: number): void;
  fault(error: unknown): void;
}

const READ_AT_ONCE = 1_024;

/** The single writer: state, log and outbox, moved by one synchronous turn a command. */
export class Core {
  readonly state: State;
  readonly outbox: Outbox;
  /** Texts that the log says are redacted since the last start: whoever wrote that may not have lived to erase them. */
  readonly redacted: readonly TextPlace[];
  readonly #clock: Clock;
  readonly #time: LogTime;
  readonly #writer: Writer;
  readonly #events: CoreEvents;
  #tick: Disposable | undefined;
  #tickAt = 0;
  #stopped = false;
  #faulted = false;
  readonly #fault: Promise<never>;
  #onFault: (error: unknown) => void = () => {};

  private constructor(
    store: EventStore,
    clock: Clock,
    state: State,
    redacted: readonly TextPlace[],
    events: CoreEvents,
  ) {
    this.state = state;
    this.redacted = redacted;
    this.#clock = clock;
    this.#time = new LogTime(clock, state.at);
    this.#events = events;
    this.outbox = new Outbox(store.size());
    this.#fault = new Promise((_, reject) => {
      this.#onFault = reject;
    });
    this.#fault.catch(() => {});
    this.#writer = new Writer(store, {
      durable: (size) => {
        this.outbox.durable(size);
        events.durable(size);
      },
      fault: (error) => this.#fail(error),
    });
    void store.failed.then((error) => this.#fail(error));
  }

  /** Takes up the log of a store: reads it from the start and folds it into a state. */
  static async open(store: EventStore, clock: Clock, events: CoreEvents): Promise<Core> {
    const state = emptyState();
    const redacted: TextPlace[] = [];
    // One page is read while the one before it is folded; if that throws, nobody waits for the page any more.
    const read = (from: number): Promise<Page> => {
      const page = store.read(from, READ_AT_ONCE);
      page.catch(() => {});
      return page;
    };
    let reading = read(0);
    while (state.size < store.size()) {
      const { entries, texts } = await reading;
      reading = read(state.size + entries.length);
      for (const run of decodeEntries(entries, state.size, texts)) {
        for (const event of run) {
          evolve(state, event);
          // A start is not in the log before it has erased what was left.
          if (event.kind === "broker_started") redacted.length = 0;
          if (event.kind === "redacted")
            redacted.push({ index: event.entry, field: event.field, committed: event.committed });
        }
      }
    }
    await reading;
    return new Core(store, clock, state, redacted, events);
  }

  get durable(): number {
    return this.#writer.durable;
  }

  /** Whether commands are still taken. */
  get running(): boolean {
    return !this.#stopped;
  }

  now(): number {
    return this.#time.now();
  }

  /**
   * Decides one command now, and writes the time into it. `answer` words what the asker is told: it is posted before what others are told.
   * Does nothing once the core has halted.
   */
  execute(command: Untimed, answer?: (result: Step, now: number) => void, asker?: Session): void {
    if (this.#stopped) return;
    const now = this.#time.now();
    const result = this.#decide(Object.assign(command, { now }) as Command);
    if (result === undefined) return;
    try {
      answer?.(result, now);
    } finally {
      // An answer that cannot be worded costs its asker; what the step did is told to the others all the same.
      this.#events.stepped(result, now, asker);
      this.#armTick(now);
    }
  }

  // A kernel that throws has left a state that nobody can vouch for: as fatal as a store that fails.
  #decide(command: Command): Step | undefined {
    try {
      const result = step(this.state, command);
      this.#writer.add(result);
      return result;
    } catch (error) {
      this.#fail(error);
      return undefined;
    }
  }

  #fail(error: unknown): void {
    if (this.#faulted) return;
    this.#faulted = true;
    this.halt();
    this.#writer.halt();
    this.outbox.drop();
    this.#onFault(error);
    this.#events.fault(error);
  }

  /** Lets `release` run when all that is decided so far is durable. */
  post(release: () => void): void {
    this.outbox.post(this.state.size, release);
  }

  /** Resolves when all that is decided so far is durable; rejects if the store fails first. */
  committed(): Promise<void> {
    return Promise.race([new Promise<void>((resolve) => this.post(resolve)), this.#fault]);
  }

  /** Takes no more commands; what was decided is still written. */
  halt(): void {
    this.#stopped = true;
    this.#tick?.[Symbol.dispose]();
    this.#tick = undefined;
  }

  settled(): Promise<void> {
    return this.#writer.settled();
  }

  // Set again only for what is due before it: a tick at which nothing is due any more does nothing.
  #armTick(now: number): void {
    const at = nextDue(this.state);
    if (at === undefined || this.#stopped) return;
    if (this.#tick !== undefined && at >= this.#tickAt) return;
    this.#tick?.[Symbol.dispose]();
    this.#tickAt = at;
    this.#tick = this.#clock.at(at - now, () => this.#onTick());
  }

  #onTick(): void {
    this.#tick = undefined;
    this.execute({ kind: "tick" });
  }
}
