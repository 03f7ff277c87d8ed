import type { Broker } from "../../src/broker/index.js";
import type { KernelEvent } from "../../src/kernel/index.js";
import type { Report } from "./clauses.js";
import type { Ledger } from "./ledger.js";

/** Signs of life of workers, as they reach the broker: whether their leases lapse when they must, and not before. */
export class SignsOfLife {
  readonly #monotonic: () => number;
  readonly #heard = new Map<string, number>();
  /** When the session became durable, which is later than its hello, and how long its lease is. */
  readonly #sessions = new Map<string, { at: number; lease: number }>();

  constructor(monotonic: () => number) {
    this.#monotonic = monotonic;
  }

  /** A frame or a pong of a session of this worker. */
  heard(workerId: string): void {
    this.#heard.set(workerId, this.#monotonic());
  }

  /** A row is not taken for dead while its worker speaks. */
  onEvent(event: KernelEvent, report: Report): void {
    if (event.kind === "session_opened")
      this.#sessions.set(event.worker_id, { at: this.#monotonic(), lease: event.lease_ms });
    if (event.kind !== "status" || event.cause !== "lease_lapsed") return;
    const silent = this.#monotonic() - (this.#heard.get(event.worker_id) ?? 0);
    const { lease = 0 } = this.#sessions.get(event.worker_id) ?? {};
    if (silent < lease) report("lease", `the lease of ${event.worker_id} lapsed ${silent} ms after a sign of life`);
  }

  /** A row is not live when its worker has been silent for its lease; looked at when all that was decided is durable. */
  lapsed({ book, lines }: Ledger, { state }: Broker, report: Report): void {
    if (state.size > lines.length) return;
    for (const { id, row } of book.workers.values()) {
      const { at = 0, lease = 0 } = this.#sessions.get(id) ?? {};
      const silent = this.#monotonic() - Math.max(at, this.#heard.get(id) ?? 0);
      if (row?.live === true && silent > lease)
        report("lease", `the row of ${id} is live ${silent} ms after its last sign of life`);
    }
  }
}
