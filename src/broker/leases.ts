import type { Clock } from "./clock.js";

interface Lease {
  ms: number;
  renewedAt: number;
  timer: Disposable;
}

/** Leases of workers on the monotonic clock. A renewal only notes the time; the timer looks when it fires. */
export class Leases {
  readonly #clock: Clock;
  readonly #lapsed: (workerId: string) => void;
  readonly #leases = new Map<string, Lease>();

  constructor(clock: Clock, lapsed: (workerId: string) => void) {
    this.#clock = clock;
    this.#lapsed = lapsed;
  }

  /** Starts the lease of a worker, or renews it with this length. */
  hold(workerId: string, ms: number): void {
    this.drop(workerId);
    this.#leases.set(workerId, { ms, renewedAt: this.#clock.monotonic(), timer: this.#timer(workerId, ms) });
  }

  /** A sign of life; false where no lease runs. */
  renew(workerId: string): boolean {
    const lease = this.#leases.get(workerId);
    if (lease === undefined) return false;
    lease.renewedAt = this.#clock.monotonic();
    return true;
  }

  drop(workerId: string): void {
    this.#leases.get(workerId)?.timer[Symbol.dispose]();
    this.#leases.delete(workerId);
  }

  clear(): void {
    for (const workerId of this.#leases.keys()) this.drop(workerId);
  }

  #timer(workerId: string, ms: number): Disposable {
    return this.#clock.at(ms, () => {
      const lease = this.#leases.get(workerId);
      if (lease === undefined) return;
      const left = lease.renewedAt + lease.ms - this.#clock.monotonic();
      if (left > 0) {
        lease.timer = this.#timer(workerId, left);
        return;
      }
      this.#leases.delete(workerId);
      this.#lapsed(workerId);
    });
  }
}
