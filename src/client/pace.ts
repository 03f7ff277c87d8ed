import type { Written } from "./frames.js";
import type { ClientClock } from "./runtime.js";

/** Share of the broker's frame budget that is used: frames bunch up on their way. */
const SHARE = 0.8;

/** Lets frames go at a rate that the broker takes (close 4429 otherwise); the rest waits in order. */
export class Pace {
  readonly #clock: ClientClock;
  readonly #perSecond: number;
  readonly #burst: number;
  readonly #send: (frame: Written) => void;
  #waiting: { frame: Written; wanted: () => boolean }[] = [];
  #left: number;
  #at: number;
  #timer: Disposable | undefined;

  constructor(clock: ClientClock, limits: { perSecond: number; burst: number }, send: (frame: Written) => void) {
    this.#clock = clock;
    this.#perSecond = limits.perSecond * SHARE;
    this.#burst = Math.max(1, limits.burst * SHARE);
    this.#left = this.#burst;
    this.#at = clock.monotonic();
    this.#send = send;
  }

  /** Sends the frame as soon as there is room, if it is still wanted then. */
  add(frame: Written, wanted: () => boolean): void {
    this.#waiting.push({ frame, wanted });
    if (this.#timer === undefined) this.#flush();
  }

  stop(): void {
    this.#timer?.[Symbol.dispose]();
    this.#waiting = [];
  }

  #flush(): void {
    this.#timer = undefined;
    const now = this.#clock.monotonic();
    this.#left = Math.min(this.#burst, this.#left + ((now - this.#at) * this.#perSecond) / 1_000);
    this.#at = now;
    while (this.#left >= 1) {
      const next = this.#waiting.shift();
      if (next === undefined) return;
      if (!next.wanted()) continue;
      this.#left -= 1;
      this.#send(next.frame);
    }
    if (this.#waiting.length === 0) return;
    this.#timer = this.#clock.at(((1 - this.#left) * 1_000) / this.#perSecond, () => this.#flush());
  }
}
