import { type HashReader, rootAt } from "./merkle.js";
import { digest, HASH_BYTES, LEFT, nodePreimage, requireHash } from "./preimage.js";

/** Even, so that two siblings lie side by side; a multiple of 256, so that a C2SP tile lies in one chunk. */
const CHUNK_HASHES = 2048;

const preimage = nodePreimage();

/**
 * A whole RFC 6962 tree in memory: every complete subtree's hash, each level packed into chunks of 64 KiB that never
 * move. About 64 bytes a leaf, and at most one chunk more a level.
 */
export class PackedTree implements HashReader {
  readonly #levels: Buffer[][] = [];
  #size = 0;

  /** Number of leaves. */
  get size(): number {
    return this.#size;
  }

  /** Adds a leaf's hash at index `size`, and every subtree that it completes. Throws RangeError unless it has 32 bytes. */
  append(leafHash: Uint8Array): void {
    requireHash(leafHash);
    let index = this.#size;
    let chunk = this.#room(0, index);
    chunk.set(leafHash, offsetOf(index));
    for (let level = 1; index % 2 === 1; level += 1) {
      const left = offsetOf(index - 1);
      chunk.copy(preimage, LEFT, left, left + 2 * HASH_BYTES);
      index = (index - 1) / 2;
      chunk = this.#room(level, index);
      chunk.write(digest(preimage), offsetOf(index), "latin1");
    }
    this.#size += 1;
  }

  /** Hash of a complete subtree, as a copy. Throws RangeError when the tree does not hold all its leaves. */
  node(level: number, index: number): Uint8Array {
    const chunk = this.#levels[level]?.[Math.floor(index / CHUNK_HASHES)];
    if (chunk === undefined || !Number.isSafeInteger(index) || (index + 1) * 2 ** level > this.#size) {
      throw new RangeError(`no complete subtree at level ${level}, index ${index} in a tree of ${this.#size} leaves`);
    }
    const at = offsetOf(index);
    return Buffer.from(chunk.subarray(at, at + HASH_BYTES));
  }

  /** Root over the first `size` leaves, by default all. Throws RangeError for more than there are. */
  root(size: number = this.#size): Uint8Array {
    return rootAt(this, size);
  }

  #room(level: number, index: number): Buffer {
    const chunks = (this.#levels[level] ??= []);
    return (chunks[Math.floor(index / CHUNK_HASHES)] ??= Buffer.alloc(CHUNK_HASHES * HASH_BYTES));
  }
}

function offsetOf(index: number): number {
  return (index % CHUNK_HASHES) * HASH_BYTES;
}
