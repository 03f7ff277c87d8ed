import type { Broker } from "../../src/broker/index.js";
import type { KernelEvent } from "../../src/kernel/index.js";
import type { Report } from "./clauses.js";
import type { Ledger } from "./ledger.js";

/** What a disk and a schedule may take between a lapse and its entry. */
const GRACE_MS = 120_000;

/** Signs of life of workers, as they reach the broker: whether their leases lapse when they must, and not before. */
export class SignsOfLife {
  readonly #monotonic: () => number;
  readonly #heard = new Map<string, number>();
  readonly #leases = new Map<string, number>();

  constructor(monotonic: () => number) {
    this.#monotonic = monotonic;
  }

  /** A frame or a pong of a session of this worker. */
  heard(workerId: string): void {
    this.#heard.set(workerId, this.#monotonic());
  }

  /** A row is not taken for dead while its worker speaks. */
  onEvent(event: KernelEvent, report: Report): void {
    if (event.kind === "session_opened") this.#leases.set(event.worker_id, event.lease_ms);
    if (event.kind !== "status" || event.cause !== "lease_lapsed") return;
    const silent = this.#monotonic() - (this.#heard.get(event.worker_id) ?? 0);
    const lease = this.#leases.get(event.worker_id) ?? 0;
    if (silent < lease) report("lease", `the lease of ${event.worker_id} lapsed ${silent} ms after a sign of life`);
  }

  /** A row is not live for long when its worker is silent. */
  lapsed({ book }: Ledger, broker: Broker, report: Report): void {
    if (broker.stats().waiting > 0) return;
    for (const { id, row } of book.workers.values()) {
      const silent = this.#monotonic() - (this.#heard.get(id) ?? 0);
      if (row?.live === true && silent > (this.#leases.get(id) ?? 0) + GRACE_MS)
        report("lease", `the row of ${id} is live ${silent} ms after its last sign of life`);
    }
  }
}
