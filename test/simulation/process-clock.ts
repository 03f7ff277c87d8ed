import type { Clock } from "../../src/broker/index.js";
import type { FakeClock } from "../support/fake-clock.js";

/** The clock as one process sees it: its timers end with it. */
export class ProcessClock implements Clock {
  readonly #clock: FakeClock;
  readonly #timers = new Set<Disposable>();
  #dead = false;

  constructor(clock: FakeClock) {
    this.#clock = clock;
  }

  now(): number {
    return this.#clock.now();
  }

  monotonic(): number {
    return this.#clock.monotonic();
  }

  at(ms: number, fn: () => void): Disposable {
    if (this.#dead) return { [Symbol.dispose]: () => {} };
    const timer = this.#clock.at(ms, () => {
      this.#timers.delete(handle);
      fn();
    });
    const handle: Disposable = {
      [Symbol.dispose]: () => {
        timer[Symbol.dispose]();
        this.#timers.delete(handle);
      },
    };
    this.#timers.add(handle);
    return handle;
  }

  /** Timers that are set. */
  get pending(): number {
    return this.#timers.size;
  }

  /** The process is gone. */
  kill(): void {
    this.#dead = true;
    for (const timer of this.#timers) timer[Symbol.dispose]();
  }
}
