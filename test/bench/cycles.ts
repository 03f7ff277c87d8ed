import type { Side } from "./side.js";

/** Milliseconds of each cycle, from the request to what it brings about. */
export interface Timings {
  delivery: number[];
  witness: number[];
}

/**
 * Witnessed cycles on one side, in `lanes` at once: each lane takes one worker after the other, so that a worker has at
 * most one correction open and its next citation waits for the answer to its last ack.
 */
export class Cycles {
  readonly timings: Timings = { delivery: [], witness: [] };
  readonly #side: Side;
  readonly #lanes: number;
  readonly #next: number[];
  readonly #sentAt: Float64Array;
  #toStart = 0;
  #toEnd = 0;

  /** `lanes` divides the number of workers. */
  constructor(side: Side, lanes: number) {
    this.#side = side;
    this.#lanes = lanes;
    this.#next = Array.from({ length: lanes }, (_, lane) => lane);
    this.#sentAt = new Float64Array(side.workers);
  }

  /** Runs so many cycles; rejects when the side answers with anything else than a cycle has. */
  run(cycles: number): Promise<void> {
    this.#toStart = cycles;
    this.#toEnd = cycles;
    return new Promise((resolve, reject) => {
      this.#side.listener = {
        delivered: (worker) => this.#delivered(worker),
        witnessed: (worker) => this.timings.witness.push(performance.now() - (this.#sentAt[worker] ?? 0)),
        settled: (worker) => {
          this.#toEnd -= 1;
          if (this.#toEnd === 0) resolve();
          else this.#start(worker % this.#lanes);
        },
        failed: reject,
      };
      for (let lane = 0; lane < this.#lanes; lane += 1) this.#start(lane);
      this.#stayAwake();
    });
  }

  // A client that sleeps has to be woken by the server's write, which is the server's CPU: a busy one costs it nothing.
  #stayAwake(): void {
    if (this.#toEnd > 0) setImmediate(() => this.#stayAwake());
  }

  #start(lane: number): void {
    if (this.#toStart === 0) return;
    this.#toStart -= 1;
    const worker = this.#next[lane] ?? 0;
    this.#next[lane] = (worker + this.#lanes) % this.#side.workers;
    this.#sentAt[worker] = performance.now();
    this.#side.correct(worker);
  }

  #delivered(worker: number): void {
    const now = performance.now();
    this.timings.delivery.push(now - (this.#sentAt[worker] ?? 0));
    this.#sentAt[worker] = now;
    this.#side.ack(worker);
  }
}
