/** Entries between two remembered places. */
const STRIDE = 256;

/** Where in a segment to begin reading for an entry: one place in every 256 entries or so, always a batch's start. */
export class SparseIndex {
  readonly #firsts: number[] = [];
  readonly #offsets: number[] = [];

  /** Notes that the batch with first entry `first` begins at byte `offset`; in rising order. */
  add(first: number, offset: number): void {
    const last = this.#firsts.at(-1);
    if (last !== undefined && first - last < STRIDE) return;
    this.#firsts.push(first);
    this.#offsets.push(offset);
  }

  /** The last noted batch that begins at or before entry `index`. */
  before(index: number): { first: number; offset: number } | undefined {
    let low = 0;
    let high = this.#firsts.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.#firsts[middle] ?? 0) <= index) low = middle + 1;
      else high = middle;
    }
    const first = this.#firsts[low - 1];
    const offset = this.#offsets[low - 1];
    return first === undefined || offset === undefined ? undefined : { first, offset };
  }
}
