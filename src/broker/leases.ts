import { DueQueue } from "../kernel/index.js";
import { LIMITS } from "../protocol/index.js";
import type { Clock } from "./clock.js";
import { STEPS_A_TURN } from "./turns.js";

/** A timer that fires so late says that this process stood still: frozen, or starved. */
const STALL_MS = 1_000;

interface Lease {
  ms: number;
  renewedAt: number;
  /** Number of its entry in the queue; any other of the same worker is of an earlier lease. */
  index: number;
}

interface Look {
  at: number;
  index: number;
  workerId: string;
}

/**
 * Leases of workers on the monotonic clock. A renewal only notes the time: it is looked at when the lease would have
 * ended. One timer for all, and a bounded number of ends in one turn: a whole fleet may be lost at once.
 */
export class Leases {
  readonly #clock: Clock;
  readonly #lapsed: (workerId: string) => void;
  readonly #leases = new Map<string, Lease>();
  readonly #queue = new DueQueue<Look>();
  #index = 0;
  #timer: Disposable | undefined;
  #timerAt = Number.POSITIVE_INFINITY;

  constructor(clock: Clock, lapsed: (workerId: string) => void) {
    this.#clock = clock;
    this.#lapsed = lapsed;
  }

  /** Starts the lease of a worker, or renews it with this length. */
  hold(workerId: string, ms: number): void {
    const now = this.#clock.monotonic();
    this.#index += 1;
    this.#leases.set(workerId, { ms, renewedAt: now, index: this.#index });
    this.#queue.push({ at: now + ms, index: this.#index, workerId });
    this.#arm();
  }

  /** A sign of life; false where no lease runs. */
  renew(workerId: string): boolean {
    const lease = this.#leases.get(workerId);
    if (lease === undefined) return false;
    lease.renewedAt = this.#clock.monotonic();
    return true;
  }

  drop(workerId: string): void {
    this.#leases.delete(workerId);
    if (this.#leases.size === 0) this.clear();
  }

  clear(): void {
    this.#leases.clear();
    while (this.#queue.pop() !== undefined);
    this.#arm();
  }

  // Set again only for what is due before it: what was renewed meanwhile is found out when it fires.
  #arm(): void {
    const at = this.#queue.peek()?.at ?? Number.POSITIVE_INFINITY;
    if (at >= this.#timerAt && at !== Number.POSITIVE_INFINITY) return;
    this.#timer?.[Symbol.dispose]();
    this.#timerAt = at;
    this.#timer =
      at === Number.POSITIVE_INFINITY ? undefined : this.#clock.at(at - this.#clock.monotonic(), () => this.#look());
  }

  #look(): void {
    const stoodStill = this.#clock.monotonic() - this.#timerAt >= STALL_MS;
    this.#timer = undefined;
    this.#timerAt = Number.POSITIVE_INFINITY;
    const now = this.#clock.monotonic();
    // Signs of life may wait in the sockets, unread: they count before the lease does.
    const grace = stoodStill ? now + LIMITS.ping_ms : 0;
    for (let left = STEPS_A_TURN; left > 0 && (this.#queue.peek()?.at ?? Number.POSITIVE_INFINITY) <= now; left -= 1) {
      const look = this.#queue.pop();
      const lease = look && this.#leases.get(look.workerId);
      if (look === undefined || lease?.index !== look.index) continue;
      const at = Math.max(lease.renewedAt + lease.ms, grace);
      if (at > now) this.#queue.push({ ...look, at });
      else this.#end(look.workerId);
    }
    this.#arm();
  }

  #end(workerId: string): void {
    this.#leases.delete(workerId);
    this.#lapsed(workerId);
  }
}
