/** The only source of time in the broker; tests give their own. */
export interface Clock {
  /** Wall clock: whole milliseconds since 1970. May jump. */
  now(): number;
  /** Milliseconds on a clock that never goes back; leases and timers run on it. */
  monotonic(): number;
  /** Runs `fn` once, `ms` milliseconds of the monotonic clock from now, unless disposed before. */
  at(ms: number, fn: () => void): Disposable;
}

export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  at: (ms, fn) => {
    // setTimeout counts to 2^31-1 ms and may fire a little early; a caller that cares looks at the clock again.
    return setTimeout(fn, Math.min(Math.max(0, Math.ceil(ms)), 2_147_483_647));
  },
};

/** Log time: whole ms; max(last + monotonic time passed, wall clock), so that it never goes back. */
export class LogTime {
  readonly #clock: Clock;
  #last: number;
  #at: number;

  /** `last` is the log time of the last entry of the log that goes on, or 0. */
  constructor(clock: Clock, last: number) {
    this.#clock = clock;
    this.#last = last;
    this.#at = clock.monotonic();
  }

  now(): number {
    const passed = Math.floor(this.#clock.monotonic() - this.#at);
    const wall = Math.floor(this.#clock.now());
    const next = Math.max(this.#last + passed, wall);
    if (next > this.#last) {
      this.#at += next === this.#last + passed ? passed : this.#clock.monotonic() - this.#at;
      this.#last = next;
    }
    return this.#last;
  }
}
