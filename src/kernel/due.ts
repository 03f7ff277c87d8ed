/** Something that falls due at a log time: a correction's window or a grant's expiry. */
export interface Due {
  at: number;
  /** Index of the entry that it comes from: breaks ties. */
  index: number;
  kind: "correction" | "grant";
  id: string;
}

type Dated = Pick<Due, "at" | "index">;

/** A binary heap by (at, index). Entries that no longer matter are skipped by whoever takes them. */
export class DueQueue<T extends Dated = Due> {
  readonly #heap: T[] = [];

  peek(): T | undefined {
    return this.#heap[0];
  }

  push(due: T): void {
    const heap = this.#heap;
    let at = heap.length;
    heap.push(due);
    while (at > 0) {
      const parent = (at - 1) >> 1;
      const above = heap[parent] as T;
      if (!before(due, above)) break;
      heap[at] = above;
      at = parent;
    }
    heap[at] = due;
  }

  pop(): T | undefined {
    const heap = this.#heap;
    const top = heap[0];
    const last = heap.pop();
    if (last !== undefined && heap.length > 0) this.#sink(last);
    return top;
  }

  #sink(due: T): void {
    const heap = this.#heap;
    let at = 0;
    for (;;) {
      let child = 2 * at + 1;
      if (child >= heap.length) break;
      if (child + 1 < heap.length && before(heap[child + 1] as T, heap[child] as T)) child += 1;
      if (!before(heap[child] as T, due)) break;
      heap[at] = heap[child] as T;
      at = child;
    }
    heap[at] = due;
  }
}

function before(a: Dated, b: Dated): boolean {
  return a.at < b.at || (a.at === b.at && a.index < b.index);
}
