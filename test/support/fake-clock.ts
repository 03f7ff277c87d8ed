import type { Clock } from "../../src/broker/index.js";

interface Timer {
  at: number;
  order: number;
  fn: () => void;
}

/** A clock that stands still until it is told to move. Timers fire in order of time, then of setting. */
export class FakeClock implements Clock {
  #wall: number;
  #monotonic = 0;
  #order = 0;
  readonly #timers = new Set<Timer>();

  constructor(wall = 1_800_000_000_000) {
    this.#wall = wall;
  }

  now(): number {
    return this.#wall;
  }

  monotonic(): number {
    return this.#monotonic;
  }

  at(ms: number, fn: () => void): Disposable {
    const timer: Timer = { at: this.#monotonic + Math.max(0, ms), order: this.#order++, fn };
    this.#timers.add(timer);
    return { [Symbol.dispose]: () => void this.#timers.delete(timer) };
  }

  /** Lets `ms` pass on both clocks, timers included. Callers with sockets go in steps and wait for them between. */
  advance(ms: number): void {
    const end = this.#monotonic + ms;
    for (let next = this.#next(end); next !== undefined; next = this.#next(end)) {
      this.#timers.delete(next);
      this.#pass(Math.max(0, next.at - this.#monotonic));
      next.fn();
    }
    this.#pass(end - this.#monotonic);
  }

  /** Lets `ms` pass while the process stands still: what falls due meanwhile fires late, at the next `advance`. */
  freeze(ms: number): void {
    this.#pass(ms);
  }

  /** Milliseconds until the next timer fires; undefined where none is set. */
  get untilNext(): number | undefined {
    const next = this.#next(Number.POSITIVE_INFINITY);
    return next === undefined ? undefined : Math.max(0, next.at - this.#monotonic);
  }

  /** Moves the wall clock alone, as an operator or NTP would. */
  jump(ms: number): void {
    this.#wall += ms;
  }

  /** Timers that are set: none may be left over when everything has stopped. */
  get pending(): number {
    return this.#timers.size;
  }

  #pass(ms: number): void {
    this.#monotonic += ms;
    this.#wall += ms;
  }

  #next(end: number): Timer | undefined {
    let next: Timer | undefined;
    for (const timer of this.#timers) {
      if (timer.at > end) continue;
      if (next === undefined || timer.at < next.at || (timer.at === next.at && timer.order < next.order)) next = timer;
    }
    return next;
  }
}
