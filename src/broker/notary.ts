import type { EventStore } from "../storage/event-store.js";
import {
  bundleBytes,
  consistencyProof,
  formatVerifierKey,
  holdsTile,
  inclusionProof,
  leafHash,
  PackedTree,
  signCheckpoint,
  TILE_WIDTH,
  tileBytes,
  type SignerKey,
  type Tile,
} from "../tlog/index.js";

/** A proof under a signed checkpoint; without hashes where the log does not hold what was asked for. */
export interface Proof {
  checkpoint: string;
  size: number;
  hashes?: readonly Uint8Array[];
}

const READ_AT_ONCE = 1_024;

/**
 * Stands by the log: signs its tree heads and proves what is in it (WITNESS-LOG.md). Only what is durable is signed, on
 * demand, once a size. The tree is built when a proof is first asked for, and follows the log from then on.
 */
export class Notary {
  readonly #store: EventStore;
  readonly #key: SignerKey;
  readonly #tree = new PackedTree();
  #growing: Promise<void> = Promise.resolve();
  #signed = { size: -1, note: "" };

  constructor(store: EventStore, key: SignerKey) {
    this.#store = store;
    this.#key = key;
  }

  /** What the log's checkpoints are checked with: `ORIGIN+ID+BASE64`. */
  get logKey(): string {
    return formatVerifierKey(this.#key);
  }

  /** A signed checkpoint of all that is durable now. */
  checkpoint(): string {
    return this.#sign().note;
  }

  /** That the entry at `index` is in the log as it is now. */
  inclusion(index: number): Promise<Proof> {
    return this.#prove((size) => (index < size ? inclusionProof(this.#tree, index, size) : undefined));
  }

  /** That the log as it is now begins with its first `from` entries. */
  consistency(from: number): Promise<Proof> {
    return this.#prove((size) => {
      if (from > size) return undefined;
      return from === 0 ? [] : consistencyProof(this.#tree, from, size);
    });
  }

  /** The bytes of a tile or a bundle; undefined for one that the log has not, or not so wide yet. */
  async tile(tile: Tile): Promise<Uint8Array | undefined> {
    if (!holdsTile(this.#store.size(), tile)) return undefined;
    const { level, index, width } = tile;
    if (level === "entries") {
      const { entries } = await this.#store.read(index * TILE_WIDTH, width);
      return bundleBytes(entries);
    }
    await this.#grow();
    return tileBytes(this.#tree, level, index, width);
  }

  async #prove(hashes: (size: number) => Uint8Array[] | undefined): Promise<Proof> {
    const { size, note } = this.#sign();
    await this.#grow();
    const found = hashes(size);
    return { checkpoint: note, size, ...(found !== undefined && { hashes: found }) };
  }

  #sign(): { size: number; note: string } {
    const { size, root } = this.#store.head();
    if (size !== this.#signed.size) {
      this.#signed = { size, note: signCheckpoint(size, Buffer.from(root, "hex"), this.#key) };
    }
    return this.#signed;
  }

  /** Takes in what is durable and not yet in the tree, a page at a time, one caller after the other. */
  #grow(): Promise<void> {
    const grown = this.#growing.then(async () => {
      while (this.#tree.size < this.#store.size()) {
        const { entries } = await this.#store.read(this.#tree.size, READ_AT_ONCE);
        for (const entry of entries) this.#tree.append(leafHash(entry));
      }
    });
    this.#growing = grown.catch(() => {});
    return grown;
  }
}
