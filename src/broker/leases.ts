import { DueQueue, OUTSIDE, type Due } from "../kernel/index.js";
import { LIMITS } from "../protocol/index.js";
import type { Clock } from "./clock.js";
import { STEPS_A_TURN } from "./turns.js";

/** A timer that fires so late says that this process stood still: frozen, or starved. */
const STALL_MS = 1_000;

/** Due when it has to be looked at. */
interface Lease extends Due {
  workerId: string;
  ms: number;
  renewedAt: number;
}

/**
 * Leases of workers on the monotonic clock. A renewal only notes the time: it is looked at when the lease would have
 * ended. One timer for all, and a bounded number of ends in one turn: a whole fleet may be lost at once.
 */
export class Leases {
  readonly #clock: Clock;
  readonly #lapsed: (workerId: string) => void;
  readonly #leases = new Map<string, Lease>();
  readonly #queue = new DueQueue<Lease>();
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
    this.#forget(workerId);
    this.#index += 1;
    const lease: Lease = { workerId, ms, renewedAt: now, dueAt: now + ms, index: this.#index, place: OUTSIDE };
    this.#leases.set(workerId, lease);
    this.#queue.put(lease);
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
    this.#forget(workerId);
    if (this.#leases.size === 0) this.#arm();
  }

  clear(): void {
    for (const workerId of this.#leases.keys()) this.#forget(workerId);
    this.#arm();
  }

  // Set again only for what is due before it: what was renewed meanwhile is found out when it fires.
  #arm(): void {
    const at = this.#queue.peek()?.dueAt ?? Number.POSITIVE_INFINITY;
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
    for (let left = STEPS_A_TURN; left > 0; left -= 1) {
      const lease = this.#queue.peek();
      if (lease === undefined || lease.dueAt > now) break;
      lease.dueAt = Math.max(lease.renewedAt + lease.ms, grace);
      if (lease.dueAt > now) this.#queue.put(lease);
      else this.#end(lease.workerId);
    }
    this.#arm();
  }

  #end(workerId: string): void {
    this.#forget(workerId);
    this.#lapsed(workerId);
  }

  #forget(workerId: string): void {
    const lease = this.#leases.get(workerId);
    if (lease === undefined) return;
    this.#leases.delete(workerId);
    this.#queue.remove(lease);
  }
}
