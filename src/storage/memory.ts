import type { TextLine } from "../kernel/index.js";
import { opensCommitment } from "./texts.js";
import { Frontier, leafHash, rootHex } from "../tlog/index.js";
import type { Batch, EventStore, Head, Page, TextPlace } from "./event-store.js";

/** A log that lasts as long as the process: for tests, embedding and trying things out. */
export class MemoryStore implements EventStore {
  readonly failed = new Promise<never>(() => {});
  readonly #entries: string[] = [];
  /** In the order of their entries. */
  #texts: TextLine[] = [];
  /** Grows when somebody asks for the tree. */
  readonly #frontier = new Frontier();

  size(): number {
    return this.#entries.length;
  }

  head(): Head {
    while (this.#frontier.size < this.#entries.length) {
      this.#frontier.append(leafHash(this.#entries[this.#frontier.size] as string));
    }
    return { size: this.#frontier.size, root: rootHex(this.#frontier) };
  }

  append(batch: Batch): Promise<void> {
    if (batch.first !== this.#entries.length) {
      return Promise.reject(new Error(`the log ends at ${this.#entries.length}, not at ${batch.first}`));
    }
    for (const entry of batch.entries) this.#entries.push(entry);
    for (const text of batch.texts) this.#texts.push(text);
    return Promise.resolve();
  }

  read(from: number, limit: number): Promise<Page> {
    const entries = this.#entries.slice(from, from + limit);
    const texts = this.#texts.slice(this.#textsBefore(from), this.#textsBefore(from + limit));
    return Promise.resolve({ entries, texts });
  }

  redact(place: TextPlace): Promise<void> {
    this.#texts = this.#texts.filter((text) => text.index < place.index || !opensCommitment(text, place));
    return Promise.resolve();
  }

  close(): Promise<void> {
    return Promise.resolve();
  }

  /** How many texts belong to entries below `index`. */
  #textsBefore(index: number): number {
    let [low, high] = [0, this.#texts.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.#texts[middle]?.index ?? 0) < index) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}
