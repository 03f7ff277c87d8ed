import { signCheckpoint, signerKey, formatVerifierKey } from "../../src/tlog/index.js";
import { leaf, pathOf, proofOf, rootOf } from "./rfc6962.js";

/** A log that a test makes up: its lines, its checkpoints and its proofs at any size, after RFC 6962 itself. */
export class LyingLog {
  readonly lines: readonly string[];
  readonly #leaves: readonly Buffer[];
  readonly #key;

  constructor(lines: readonly string[], origin = "test/log", seed = 7) {
    this.lines = lines;
    this.#leaves = lines.map(leaf);
    this.#key = signerKey(origin, new Uint8Array(32).fill(seed));
  }

  /** A log of `size` entries that says `after` from entry `from` on; without it, always the same one. */
  static of(size: number, from = size, after = "?"): LyingLog {
    return new LyingLog(Array.from({ length: size }, (_, at) => `{"index":${at},"say":"${at < from ? "" : after}"}`));
  }

  get logKey(): string {
    return formatVerifierKey(this.#key);
  }

  checkpoint(size = this.lines.length): string {
    return signCheckpoint(size, rootOf(this.#leaves.slice(0, size)), this.#key);
  }

  inclusion(index: number, size = this.lines.length): Record<string, unknown> {
    return { checkpoint: this.checkpoint(size), index, hashes: pathOf(index, this.#leaves.slice(0, size)) };
  }

  consistency(from_size: number, size = this.lines.length): Record<string, unknown> {
    const hashes = from_size === 0 ? [] : proofOf(from_size, this.#leaves.slice(0, size));
    return { checkpoint: this.checkpoint(size), from_size, hashes };
  }
}
