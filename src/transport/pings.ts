import type { WebSocket } from "ws";
import type { Clock } from "../broker/index.js";
import type { Limits } from "../protocol/index.js";

/** Parts of an interval; the connections of one are pinged in one turn. */
const SLOTS = 64;
/** Steps of the golden ratio fall evenly into the slots, however many connections there are. */
const STEP = 0.618_033_988_749_895;

/** A connection that is pinged. */
export interface Pinged {
  readonly ws: WebSocket;
  readonly slot: number;
  /** Pings since it was last heard of: 0 again by any message or pong. */
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

  add(ws: WebSocket): Pinged {
    this.#count += 1;
    const pinged = { ws, slot: Math.floor(((this.#count * STEP) % 1) * SLOTS), missed: 0 };
    this.#slots[pinged.slot]?.add(pinged);
    this.#open += 1;
    this.#arm();
    return pinged;
  }

  remove(pinged: Pinged): void {
    if (this.#slots[pinged.slot]?.delete(pinged) !== true) return;
    this.#open -= 1;
    if (this.#open > 0) return;
    this.#timer?.[Symbol.dispose]();
    this.#timer = undefined;
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
