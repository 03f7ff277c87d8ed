const HASH_BYTES = 32;

/** The leaf hashes of one segment, packed: 32 bytes an entry. */
export class LeafHashes {
  #bytes = Buffer.alloc(HASH_BYTES * 64);
  #length = 0;

  push(hash: Uint8Array): void {
    if (this.#length + HASH_BYTES > this.#bytes.length) {
      const larger = Buffer.alloc(this.#bytes.length * 2);
      this.#bytes.copy(larger);
      this.#bytes = larger;
    }
    this.#bytes.set(hash, this.#length);
    this.#length += HASH_BYTES;
  }

  bytes(): Uint8Array {
    return this.#bytes.subarray(0, this.#length);
  }
}
