import type { View } from "../protocol/index.js";
import { Outgoing } from "./peer.js";
import { firstThat } from "./sorted.js";

/** What a worker's view came to be. */
export interface Change {
  /** Place in the order of all changes. */
  place: number;
  /** Log time of its decision. */
  at: number;
  view: View;
  /** The push that tells of it, the same for every session. */
  row: Outgoing;
}

/** Places that a later change of the same worker has left empty, beside those in use, before they are closed up. */
const SPARE = 64;

/**
 * Views that changed, in the order of their latest change: one a worker, so that whoever reads behind is told the latest
 * only, and what is kept never grows past the fleet.
 */
export class Changes {
  readonly #latest = new Map<string, Change>();
  #order: Change[] = [];

  /** `place` is past that of every change before. */
  add(place: number, at: number, view: View): void {
    const change = { place, at, view, row: new Outgoing({ type: "row", ...view }) };
    this.#latest.set(view.row.worker_id, change);
    this.#order.push(change);
    if (this.#order.length > 2 * this.#latest.size + SPARE)
      this.#order = this.#order.filter((one) => this.#isLatest(one));
  }

  /** The first change past a place. */
  after(place: number): Change | undefined {
    let at = firstThat(this.#order, (change) => change.place > place);
    for (; at < this.#order.length; at += 1) {
      const change = this.#order[at];
      if (change !== undefined && this.#isLatest(change)) return change;
    }
    return undefined;
  }

  /** Lets go of everything up to a place: nobody asks for it any more. */
  forget(place: number): void {
    if (this.#order.length === 0) return;
    const kept: Change[] = [];
    for (const change of this.#order) {
      if (change.place > place) kept.push(change);
      else if (this.#isLatest(change)) this.#latest.delete(change.view.row.worker_id);
    }
    this.#order = kept;
  }

  /** Changes that are kept. */
  get size(): number {
    return this.#latest.size;
  }

  #isLatest(change: Change): boolean {
    return this.#latest.get(change.view.row.worker_id) === change;
  }
}
