import { onAbort } from "./aborts.js";
import { A2achanError } from "./errors.js";

/** Wakes those who wait for something to look at. Nobody misses a ring: look first, then wait, in one turn. */
export class Bell {
  readonly #waiting = new Set<() => void>();

  ring(): void {
    const waiting = [...this.#waiting];
    this.#waiting.clear();
    for (const wake of waiting) wake();
  }

  /** Resolves at the next ring; rejects with `aborted` when `signal`, which has not fired yet, does so before. */
  wait(signal?: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const wake = (): void => {
        listening?.[Symbol.dispose]();
        resolve();
      };
      const listening = onAbort(signal, () => {
        this.#waiting.delete(wake);
        reject(new A2achanError("aborted", { cause: signal?.reason }));
      });
      this.#waiting.add(wake);
    });
  }
}
