import { LOOP, STEPS_A_TURN, type Turns } from "./turns.js";

interface Item {
  stamp: number;
  release: () => void;
}

/**
 * Everything that leaves the broker goes through here, in order, stamped with the log size at its decision, and leaves
 * only when that size is durable (PROTOCOL.md section 7). A turn of the event loop lets a bounded number go. After a fault
 * nothing leaves any more.
 */
export class Outbox {
  #items: Item[] = [];
  #durable: number;
  #leaving = false;
  #dropped = false;
  readonly #turns: Turns;

  constructor(durable: number, turns: Turns = LOOP) {
    this.#durable = durable;
    this.#turns = turns;
  }

  /** Items that wait for the store. */
  get waiting(): number {
    return this.#items.length;
  }

  post(stamp: number, release: () => void): void {
    if (this.#dropped) return;
    this.#items.push({ stamp, release });
    this.#leave();
  }

  durable(size: number): void {
    this.#durable = size;
    this.#leave();
  }

  drop(): void {
    this.#dropped = true;
    this.#items = [];
  }

  // Not re-entered: what a release posts comes after what already waits.
  #leave(): void {
    if (this.#leaving) return;
    this.#leaving = true;
    const items = this.#items;
    let left = 0;
    try {
      for (const { stamp, release } of items) {
        if (stamp > this.#durable || this.#dropped || left === STEPS_A_TURN) break;
        left += 1;
        release();
      }
    } finally {
      if (left === items.length) items.length = 0;
      else items.splice(0, left);
      if (left < STEPS_A_TURN) this.#leaving = false;
      else this.#turns.later(() => this.#goOn());
    }
  }

  #goOn(): void {
    this.#leaving = false;
    this.#leave();
  }
}
