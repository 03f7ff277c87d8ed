import type { Batch, EventStore, Head, Page, TextPlace } from "../../src/storage/event-store.js";
import { MemoryStore } from "../../src/storage/memory.js";

/** A store whose appends a test can hold back: nothing of a held batch is durable, nor acknowledged, until it is let go. */
export class HeldStore implements EventStore {
  readonly failed = new Promise<never>(() => {});
  /** Calls of `append`, held ones included. */
  appends = 0;
  readonly #inner = new MemoryStore();
  readonly #held: (() => void)[] = [];
  #arrived: (() => void)[] = [];
  #holding = false;

  size(): number {
    return this.#inner.size();
  }

  head(): Head {
    return this.#inner.head();
  }

  append(batch: Batch): Promise<void> {
    this.appends += 1;
    if (!this.#holding) return this.#inner.append(batch);
    const done = new Promise<void>((resolve, reject) => {
      this.#held.push(() => void this.#inner.append(batch).then(resolve, reject));
    });
    for (const resolve of this.#arrived.splice(0)) resolve();
    return done;
  }

  /** Every append from now on waits for `release`. */
  hold(): void {
    this.#holding = true;
  }

  /** Resolves when an append is held back. */
  arrived(): Promise<void> {
    return this.#held.length > 0 ? Promise.resolve() : new Promise((resolve) => this.#arrived.push(resolve));
  }

  /** Makes the `count` oldest held appends durable, or all of them and every later one. */
  release(count?: number): void {
    if (count === undefined) this.#holding = false;
    for (const letGo of this.#held.splice(0, count ?? this.#held.length)) letGo();
  }

  read(from: number, limit: number): Promise<Page> {
    return this.#inner.read(from, limit);
  }

  redact(place: TextPlace): Promise<void> {
    return this.#inner.redact(place);
  }

  close(): Promise<void> {
    return this.#inner.close();
  }
}

/**
 * A store that is slow to say yes: what it took can be read, and counts in `size`, before the append is acknowledged
 * `turns` turns of the event loop later. Whoever takes that for an acknowledgement answers too early.
 */
export class SlowStore implements EventStore {
  readonly failed = new Promise<never>(() => {});
  /** Entries of which the append has been acknowledged. */
  acknowledged = 0;
  readonly #inner = new MemoryStore();
  readonly #turns: () => number;

  constructor(turns: () => number) {
    this.#turns = turns;
  }

  size(): number {
    return this.#inner.size();
  }

  head(): Head {
    return this.#inner.head();
  }

  async append(batch: Batch): Promise<void> {
    await this.#inner.append(batch);
    for (let left = this.#turns(); left > 0; left -= 1) await new Promise((resolve) => setImmediate(resolve));
    this.acknowledged = batch.first + batch.entries.length;
  }

  read(from: number, limit: number): Promise<Page> {
    return this.#inner.read(from, limit);
  }

  redact(place: TextPlace): Promise<void> {
    return this.#inner.redact(place);
  }

  close(): Promise<void> {
    return this.#inner.close();
  }
}

type Failure = "throws" | "rejects" | "rejects late";

/**
 * A store that fails at its `nth` append, counted from 1: by a throw, by a rejection, or by one that comes a turn of
 * the event loop later, when more has been decided; or outside of any append.
 */
export class FailingStore implements EventStore {
  readonly error = new Error("no space left on device");
  readonly failed: Promise<unknown>;
  appends = 0;
  closed = false;
  /** Nothing can be read. */
  unreadable = false;
  nth: number;
  readonly #inner = new MemoryStore();
  readonly #how: Failure;
  #onFailed: (error: unknown) => void = () => {};

  constructor(how: Failure = "rejects", nth = Number.POSITIVE_INFINITY) {
    this.nth = nth;
    this.#how = how;
    this.failed = new Promise((resolve) => {
      this.#onFailed = resolve;
    });
  }

  size(): number {
    return this.#inner.size();
  }

  head(): Head {
    return this.#inner.head();
  }

  append(batch: Batch): Promise<void> {
    this.appends += 1;
    if (this.appends !== this.nth) return this.#inner.append(batch);
    if (this.#how === "throws") throw this.error;
    if (this.#how === "rejects") return Promise.reject(this.error);
    return new Promise((_, reject) => setImmediate(() => reject(this.error)));
  }

  /** Fails while nothing is appended. */
  fail(): void {
    this.#onFailed(this.error);
  }

  read(from: number, limit: number): Promise<Page> {
    return this.unreadable ? Promise.reject(this.error) : this.#inner.read(from, limit);
  }

  redact(place: TextPlace): Promise<void> {
    return this.#inner.redact(place);
  }

  close(): Promise<void> {
    this.closed = true;
    return Promise.resolve();
  }
}
