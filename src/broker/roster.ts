import type { State, Worker } from "../kernel/index.js";
import { firstThat } from "./sorted.js";

/** Every worker of the state, in the order of their ids. A state only ever gains workers. */
export class Roster {
  readonly #state: State;
  #sorted: readonly Worker[] = [];

  constructor(state: State) {
    this.#state = state;
  }

  /** The workers whose ids come behind `after`; all of them without it. */
  *from(after?: string): Iterable<Worker> {
    const { workers } = this.#state;
    if (workers.size > this.#sorted.length) this.#sorted = [...workers.values()].sort((a, b) => (a.id < b.id ? -1 : 1));
    const sorted = this.#sorted;
    const start = after === undefined ? 0 : firstThat(sorted, ({ id }) => id > after);
    for (let at = start; at < sorted.length; at += 1) yield sorted[at] as Worker;
  }
}
