const FIRST_MS = 250;
const LONGEST_MS = 5_000;
/** A connection that stood this long was a good one: the next failure starts over. */
const STEADY_MS = 5_000;

/**
 * Waits between attempts to connect: doubling from 250 ms to 5 s, each between half and all of its length, so that
 * a thousand clients of a restarted broker do not come back at once, and none stays away for long after it is back.
 */
export class Backoff {
  readonly #random: () => number;
  #failures = 0;

  constructor(random: () => number) {
    this.#random = random;
  }

  /** Milliseconds to wait, after a connection that stood for `stoodMs` (0 for one that never did). */
  next(stoodMs: number): number {
    if (stoodMs >= STEADY_MS) this.#failures = 0;
    const longest = Math.min(LONGEST_MS, FIRST_MS * 2 ** this.#failures);
    if (longest < LONGEST_MS) this.#failures += 1;
    return longest / 2 + (this.#random() * longest) / 2;
  }
}
