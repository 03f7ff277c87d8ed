import type { WebSocket } from "ws";
import type { Clock } from "../broker/index.js";
import type { Limits } from "../protocol/index.js";

/**
 * Pings every connection once an interval, spread over it, and cuts one that has missed two: a half-open connection is
 * found within two pings (PROTOCOL.md section 6).
 */
export class Pings {
  readonly #clock: Clock;
  readonly #limits: Limits;
  #count = 0;

  constructor(clock: Clock, limits: Limits) {
    this.#clock = clock;
    this.#limits = limits;
  }

  /** Watches a connection until disposed; `alive` is called for every pong. */
  watch(ws: WebSocket, alive: () => void): Disposable {
    const { ping_ms, missed_pings } = this.#limits;
    let missed = 0;
    ws.on("pong", () => {
      missed = 0;
      alive();
    });
    ws.on("message", () => {
      missed = 0;
    });
    const ping = (): void => {
      if (missed >= missed_pings) return ws.terminate();
      missed += 1;
      if (ws.readyState === ws.OPEN) ws.ping();
      timer = this.#clock.at(ping_ms, ping);
    };
    // Steps of the golden ratio fall evenly into the interval, however many connections there are.
    this.#count += 1;
    let timer = this.#clock.at(((this.#count * 0.618_033_988_749_895) % 1) * ping_ms, ping);
    return { [Symbol.dispose]: () => timer[Symbol.dispose]() };
  }
}
