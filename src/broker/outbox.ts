interface Item {
  stamp: number;
  release: () => void;
}

/**
 * Everything that leaves the broker goes through here, in order, stamped with the log size at its decision, and leaves
 * only when that size is durable (PROTOCOL.md section 7). After a fault nothing leaves any more.
 */
export class Outbox {
  #items: Item[] = [];
  #durable: number;

  constructor(durable: number) {
    this.#durable = durable;
  }

  /** Items that wait for the store. */
  get waiting(): number {
    return this.#items.length;
  }

  post(stamp: number, release: () => void): void {
    if (stamp <= this.#durable && this.#items.length === 0) release();
    else this.#items.push({ stamp, release });
  }

  durable(size: number): void {
    this.#durable = size;
    let ready = this.#items.findIndex(({ stamp }) => stamp > size);
    if (ready === -1) ready = this.#items.length;
    // What a release posts comes after what already waits.
    const leaving = this.#items.slice(0, ready);
    this.#items = this.#items.slice(ready);
    for (const { release } of leaving) release();
  }

  drop(): void {
    this.#items = [];
    this.#durable = -1;
  }
}
