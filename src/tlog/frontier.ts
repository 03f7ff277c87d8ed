import { EMPTY_ROOT, nodeHash } from "./merkle.js";
import { digest, HASH_BYTES, LEFT, nodePreimage, requireHash, RIGHT } from "./preimage.js";

const HASH_HEX = /^[0-9a-f]{64}$/;

/** A frontier as JSON: the number of leaves, and the complete subtrees that they make, largest first, in lower-case hex. */
export interface FrontierState {
  size: number;
  hashes: string[];
}

/**
 * The right edge of an RFC 6962 tree: enough to append and to know the root, not to prove. At most 53 preimages of 65
 * bytes, whatever the size; an append hashes one node on average, in place.
 */
export class Frontier {
  /** By level: the preimage of the node that the next two subtrees of the level below make. */
  readonly #preimages: Buffer[] = [];
  #size = 0;

  /**
   * The frontier that `toJSON` described. Throws RangeError for a size that is no safe integer from 0, for a list that is
   * not one hash for each bit set in `size`, and for a hash that is not 64 digits of lower-case hex. Whether the hashes
   * are the log's own is for the caller to check, against a root.
   */
  static from(size: number, hashes: readonly string[]): Frontier {
    if (!Number.isSafeInteger(size) || size < 0) throw new RangeError(`no tree has ${size} leaves`);
    const frontier = new Frontier();
    frontier.#size = size;
    const levels = frontier.#levels();
    if (levels.length !== hashes.length) {
      throw new RangeError(`${size} leaves make ${levels.length} complete subtrees, not ${hashes.length}`);
    }
    for (const [at, level] of levels.toReversed().entries()) {
      const hex = hashes[at];
      if (typeof hex !== "string" || !HASH_HEX.test(hex)) {
        throw new RangeError(`hash ${at} is not 64 digits of lower-case hex`);
      }
      frontier.#preimage(level).write(hex, LEFT, "hex");
    }
    return frontier;
  }

  /** Number of leaves. */
  get size(): number {
    return this.#size;
  }

  /** Adds a leaf's hash at index `size`. Throws RangeError unless it has 32 bytes. */
  append(leafHash: Uint8Array): void {
    requireHash(leafHash);
    let index = this.#size;
    let preimage = this.#preimage(0);
    preimage.set(leafHash, index % 2 === 1 ? RIGHT : LEFT);
    for (let level = 1; index % 2 === 1; level += 1) {
      const made = digest(preimage);
      index = (index - 1) / 2;
      preimage = this.#preimage(level);
      preimage.write(made, index % 2 === 1 ? RIGHT : LEFT, "latin1");
    }
    this.#size += 1;
  }

  /** Root over all leaves; hashes one node fewer than there are bits set in `size`. */
  root(): Uint8Array {
    const [smallest, ...larger] = this.#levels().map((level) => this.#left(level));
    if (smallest === undefined) return Buffer.from(EMPTY_ROOT);
    return larger.reduce<Uint8Array>((right, left) => nodeHash(left, right), smallest);
  }

  toJSON(): FrontierState {
    const hashes = this.#levels().map((level) => this.#left(level).toString("hex"));
    return { size: this.#size, hashes: hashes.toReversed() };
  }

  /** Levels of the complete subtrees, smallest first: the bits set in `size`. */
  #levels(): number[] {
    const levels: number[] = [];
    for (let level = 0, rest = this.#size; rest > 0; level += 1, rest = Math.floor(rest / 2)) {
      if (rest % 2 === 1) levels.push(level);
    }
    return levels;
  }

  #left(level: number): Buffer {
    return Buffer.from(this.#preimage(level).subarray(LEFT, LEFT + HASH_BYTES));
  }

  #preimage(level: number): Buffer {
    return (this.#preimages[level] ??= nodePreimage());
  }
}

/** The root of a frontier in lower-case hex. */
export function rootHex(frontier: Frontier): string {
  return Buffer.from(frontier.root()).toString("hex");
}
