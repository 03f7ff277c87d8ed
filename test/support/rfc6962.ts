import { createHash } from "node:crypto";

const sha256 = (...parts: Uint8Array[]): Buffer => createHash("sha256").update(Buffer.concat(parts)).digest();
const node = (left: Uint8Array, right: Uint8Array): Buffer => sha256(Buffer.of(1), left, right);

/** Hash of a leaf, straight from RFC 6962 section 2.1. */
export const leaf = (line: string): Buffer => sha256(Buffer.of(0), Buffer.from(line));

/** The largest power of two below `count`. */
function split(count: number): number {
  let half = 1;
  while (half * 2 < count) half *= 2;
  return half;
}

/** MTH of RFC 6962 section 2.1 over leaf hashes, by its own recursion: nothing of `src/tlog` is in it. */
export function rootOf(leaves: readonly Uint8Array[]): Buffer {
  if (leaves.length === 0) return sha256();
  if (leaves.length === 1) return Buffer.from(leaves[0] as Uint8Array);
  const half = split(leaves.length);
  return node(rootOf(leaves.slice(0, half)), rootOf(leaves.slice(half)));
}

/** PATH of RFC 6962 section 2.1.1, in base64. */
export function pathOf(index: number, leaves: readonly Uint8Array[]): string[] {
  if (leaves.length === 1) return [];
  const half = split(leaves.length);
  const [inside, beside] =
    index < half
      ? [pathOf(index, leaves.slice(0, half)), leaves.slice(half)]
      : [pathOf(index - half, leaves.slice(half)), leaves.slice(0, half)];
  return [...inside, rootOf(beside).toString("base64")];
}

/** PROOF of RFC 6962 section 2.1.2, in base64. */
export function proofOf(from: number, leaves: readonly Uint8Array[], whole = true): string[] {
  if (from === leaves.length) return whole ? [] : [rootOf(leaves).toString("base64")];
  const half = split(leaves.length);
  return from <= half
    ? [...proofOf(from, leaves.slice(0, half), whole), rootOf(leaves.slice(half)).toString("base64")]
    : [...proofOf(from - half, leaves.slice(half), false), rootOf(leaves.slice(0, half)).toString("base64")];
}

/** Leaves from `start` to before `end`. */
type Range = readonly [start: number, end: number];

/** MTH over the leaves of a range, and the ranges that PROOF of section 2.1.2 is made of. */
export class RangeTree {
  readonly #leaves: readonly Uint8Array[];
  readonly #known = new Map<number, Buffer>();

  constructor(leaves: readonly Uint8Array[]) {
    this.#leaves = leaves;
  }

  /** Each complete subtree is hashed once, so that thousands of sizes and proofs of one tree are cheap. */
  hash([start, end]: Range): Buffer {
    const count = end - start;
    if (count < 2) return rootOf(this.#leaves.slice(start, end));
    const half = split(count);
    if (count !== half * 2) return node(this.hash([start, start + half]), this.hash([start + half, end]));
    const place = start * this.#leaves.length + count;
    const known = this.#known.get(place) ?? node(this.hash([start, start + half]), this.hash([start + half, end]));
    this.#known.set(place, known);
    return known;
  }

  root(size: number): Buffer {
    return this.hash([0, size]);
  }
}

/** The ranges whose hashes prove that a tree of `to` leaves begins with one of `from`, in the order of the proof. */
export function rangesOf(from: number, to: number, start = 0, whole = true): Range[] {
  if (from === to) return whole ? [] : [[start, to]];
  const middle = start + split(to - start);
  return from <= middle
    ? [...rangesOf(from, middle, start, whole), [middle, to]]
    : [...rangesOf(from, to, middle, false), [start, middle]];
}
