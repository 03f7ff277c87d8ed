import { LIMITS } from "../protocol/index.js";
import type { Clock } from "./clock.js";

/** A timer that fires so late says that this process stood still: frozen, or starved. */
const STALL_MS = 1_000;

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
    const due = this.#clock.monotonic() + ms;
    return this.#clock.at(ms, () => {
      const lease = this.#leases.get(workerId);
      if (lease === undefined) return;
      const now = this.#clock.monotonic();
      // Signs of life may wait in the sockets, unread: they count before the lease does.
      const grace = now - due >= STALL_MS ? LIMITS.ping_ms : 0;
      const left = Math.max(lease.renewedAt + lease.ms - now, grace);
      if (left > 0) {
        lease.timer = this.#timer(workerId, left);
        return;
      }
      this.#leases.delete(workerId);
      this.#lapsed(workerId);
    });
  }
}
