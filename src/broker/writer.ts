import { encodeEntry, type Step, type TextLine } from "../kernel/index.js";
import type { EventStore } from "../storage/event-store.js";

export interface WriterEvents {
  /** `size` entries are durable. */
  durable(size: number): void;
  /** The store failed: what was decided since the last durable size is lost to it. Called once; nothing follows. */
  fault(error: unknown): void;
}

/**
 * Group commit: while one batch is on its way to the store, what is decided meanwhile gathers for the next.
 * The state is ahead of the store; answers wait in the outbox until the store has caught up.
 */
export class Writer {
  readonly #store: EventStore;
  readonly #events: WriterEvents;
  #entries: string[] = [];
  #texts: TextLine[] = [];
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

  /** Takes the events of one step, in order; they leave with the next batch. */
  add({ first, events, workerEntries }: Step): void {
    events.forEach((event, at) => {
      const { line, texts } = encodeEntry(event, first + at, workerEntries[at]);
      this.#entries.push(line);
      this.#texts.push(...texts);
    });
    if (this.#entries.length > 0 && !this.#writing && !this.#faulted) {
      this.#writing = true;
      queueMicrotask(() => void this.#write());
    }
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
    while (this.#entries.length > 0 && !this.#faulted) {
      const batch = { first: this.#durable, entries: this.#entries, texts: this.#texts };
      this.#entries = [];
      this.#texts = [];
      try {
        await this.#store.append(batch);
        this.#durable = batch.first + batch.entries.length;
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
