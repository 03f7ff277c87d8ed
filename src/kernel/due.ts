/** Something that falls due at a time: a correction's window, the expiry of a grant, a lease. */
export interface Due {
  /** To be changed by whoever puts it in again. */
  dueAt: number;
  /** Breaks ties: the entry that it comes from. */
  index: number;
  /** Where the queue has it: the queue's own; OUTSIDE while it is in none. */
  place: number;
}

export const OUTSIDE = -1;

/** A binary heap by (dueAt, index) in which each member knows its place, so that it can be moved and taken out. */
export class DueQueue<T extends Due> {
  readonly #heap: T[] = [];

  peek(): T | undefined {
    return this.#heap[0];
  }

  /** Puts it in, or moves it to where its new `dueAt` belongs. */
  put(due: T): void {
    if (due.place === OUTSIDE) due.place = this.#heap.push(due) - 1;
    this.#settle(due);
  }

  /** Takes it out, if it is in. */
  remove(due: T): void {
    const { place } = due;
    if (place === OUTSIDE) return;
    due.place = OUTSIDE;
    const last = this.#heap.pop() as T;
    if (last === due) return;
    last.place = place;
    this.#settle(last);
  }

  /** Finds the place of one that may be too low or too high where it is. */
  #settle(due: T): void {
    const heap = this.#heap;
    let at = due.place;
    while (at > 0) {
      const parent = (at - 1) >> 1;
      const above = heap[parent] as T;
      if (!before(due, above)) break;
      this.#set(above, at);
      at = parent;
    }
    for (;;) {
      let child = 2 * at + 1;
      if (child >= heap.length) break;
      if (child + 1 < heap.length && before(heap[child + 1] as T, heap[child] as T)) child += 1;
      const below = heap[child] as T;
      if (!before(below, due)) break;
      this.#set(below, at);
      at = child;
    }
    this.#set(due, at);
  }

  #set(due: T, place: number): void {
    this.#heap[place] = due;
    due.place = place;
  }
}

function before(a: Due, b: Due): boolean {
  return a.dueAt < b.dueAt || (a.dueAt === b.dueAt && a.index < b.index);
}
