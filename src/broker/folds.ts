import type { Reason } from "../protocol/index.js";
import type { Principal } from "../kernel/index.js";
import type { Clock } from "./clock.js";
import type { Untimed } from "./core.js";

interface Folded {
  role: string;
  subject: string;
  counts: Record<string, number>;
  first_at: number;
  last_at: number;
}

/** Counts the refusals that are not logged singly, and writes them as one entry per principal, every 20 s by default. */
export class Folds {
  readonly #clock: Clock;
  readonly #write: (command: Untimed) => void;
  readonly #folded = new Map<string, Folded>();
  readonly #everyMs: number;
  #timer: Disposable | undefined;

  constructor(clock: Clock, everyMs: number, write: (command: Untimed) => void) {
    this.#clock = clock;
    this.#everyMs = everyMs;
    this.#write = write;
  }

  count(by: Principal, reason: Reason, at: number): void {
    const key = `${by.role} ${by.subject}`;
    let folded = this.#folded.get(key);
    if (folded === undefined) {
      folded = { role: by.role, subject: by.subject, counts: {}, first_at: at, last_at: at };
      this.#folded.set(key, folded);
    }
    folded.counts[reason] = (folded.counts[reason] ?? 0) + 1;
    folded.last_at = at;
    this.#timer ??= this.#clock.at(this.#everyMs, () => this.flush());
  }

  flush(): void {
    this.#timer?.[Symbol.dispose]();
    this.#timer = undefined;
    for (const folded of this.#folded.values()) this.#write({ kind: "fold", ...folded });
    this.#folded.clear();
  }
}
