import { encodeEntry, type Step, type TextLine } from "../kernel/index.js";
import type { EventStore } from "../storage/event-store.js";

export interface WriterEvents {
  /** `size` entries are durable. */
  durable(size: number): void;
  /** The store failed: what was decided since the last durable size is lost to it. Called once; nothing follows. */
  fault(error: unknown): void;
}

/** Past so many entries what is decided gathers for a further batch: a store's turn is to be short. */
const BATCH_ENTRIES = 512;

interface Gathered {
  entries: string[];
  texts: TextLine[];
}

/**
 * Group commit: while one batch is on its way to the store, what is decided meanwhile gathers for the next. A step is
 * never cut: all its entries are in one batch.
 * The state is ahead of the store; answers wait in the outbox until the store has caught up.
 */
export class Writer {
  readonly #store: EventStore;
  readonly #events: WriterEvents;
  #waiting: Gathered[] = [];
  #durable: number;
  #writing = false;
  #faulted = false;
  #idle: (() => void)[] = [];

  constructor(store: EventStore, events: WriterEvents) {
    this.#store = store;
    this.#events = events;
    this.#durable = store.size();
  }

  /** Number of entries that the store has made durable. */
  get durable(): number {
    return this.#durable;
  }

  /** Takes the events of one step, in order; they leave with the next batch that has room. */
  add({ first, events, workerEntries }: Step): void {
    if (events.length === 0) return;
    const batch = this.#gathering();
    events.forEach((event, at) => {
      const { line, texts } = encodeEntry(event, first + at, workerEntries[at]);
      batch.entries.push(line);
      batch.texts.push(...texts);
    });
    if (this.#writing || this.#faulted) return;
    this.#writing = true;
    queueMicrotask(() => void this.#write());
  }

  #gathering(): Gathered {
    const last = this.#waiting.at(-1);
    if (last !== undefined && last.entries.length < BATCH_ENTRIES) return last;
    const next: Gathered = { entries: [], texts: [] };
    this.#waiting.push(next);
    return next;
  }

  /** Writes nothing more, not even what was decided. */
  halt(): void {
    this.#faulted = true;
  }

  /** Resolves when nothing is left to write, or the store has failed. */
  settled(): Promise<void> {
    if (!this.#writing) return Promise.resolve();
    return new Promise((resolve) => this.#idle.push(resolve));
  }

  async #write(): Promise<void> {
    for (let next = this.#waiting.shift(); next !== undefined && !this.#faulted; next = this.#waiting.shift()) {
      try {
        await this.#store.append({ first: this.#durable, ...next });
        this.#durable += next.entries.length;
        this.#events.durable(this.#durable);
      } catch (error) {
        this.#faulted = true;
        this.#events.fault(error);
      }
    }
    this.#writing = false;
    for (const resolve of this.#idle.splice(0)) resolve();
  }
}
