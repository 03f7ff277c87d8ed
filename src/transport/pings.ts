import type { WebSocket } from "ws";
import type { Clock } from "../broker/index.js";
import type { Limits } from "../protocol/index.js";

/** Parts of an interval; the connections of one are pinged in one turn. */
const SLOTS = 64;
/** Steps of the golden ratio fall evenly into the slots, however many connections there are. */
const STEP = 0.618_033_988_749_895;

interface Pinged {
  ws: WebSocket;
  missed: number;
}

/**
 * Pings every connection once an interval, spread over it, and cuts one that has missed two: a half-open connection is
 * found within two pings (PROTOCOL.md section 6). One timer for all: after a stall the sweep goes on where it stopped,
 * and never pings everybody at once.
 */
export class Pings {
  readonly #clock: Clock;
  readonly #limits: Limits;
  readonly #slots = Array.from({ length: SLOTS }, () => new Set<Pinged>());
  #at = 0;
  #count = 0;
  #open = 0;
  #timer: Disposable | undefined;

  constructor(clock: Clock, limits: Limits) {
    this.#clock = clock;
    this.#limits = limits;
  }

  /** Watches a connection until disposed; `alive` is called for every pong. */
  watch(ws: WebSocket, alive: () => void): Disposable {
    const pinged: Pinged = { ws, missed: 0 };
    ws.on("pong", () => {
      pinged.missed = 0;
      alive();
    });
    ws.on("message", () => {
      pinged.missed = 0;
    });
    this.#count += 1;
    const slot = this.#slots[Math.floor(((this.#count * STEP) % 1) * SLOTS)];
    slot?.add(pinged);
    this.#open += 1;
    this.#arm();
    return {
      [Symbol.dispose]: () => {
        slot?.delete(pinged);
        this.#open -= 1;
        if (this.#open > 0) return;
        this.#timer?.[Symbol.dispose]();
        this.#timer = undefined;
      },
    };
  }

  #arm(): void {
    this.#timer ??= this.#clock.at(this.#limits.ping_ms / SLOTS, () => {
      this.#timer = undefined;
      for (const pinged of this.#slots[this.#at] ?? []) this.#ping(pinged);
      this.#at = (this.#at + 1) % SLOTS;
      this.#arm();
    });
  }

  #ping(pinged: Pinged): void {
    const { ws } = pinged;
    if (pinged.missed >= this.#limits.missed_pings) return ws.terminate();
    pinged.missed += 1;
    if (ws.readyState === ws.OPEN) ws.ping();
  }
}
