import { digest, isHash, LEFT, nodePreimage, requireHash, RIGHT } from "./preimage.js";

/** Root of the tree without leaves: SHA-256 of nothing (RFC 6962 section 2.1). */
export const EMPTY_ROOT: Uint8Array = sha256("");

const scratch = nodePreimage();

/**
 * Complete subtrees of a tree. `node(level, index)` is the hash over the leaves from `index * 2^level` to before
 * `(index + 1) * 2^level`; level 0 holds the leaf hashes. Throws RangeError for a subtree that it does not hold complete.
 */
export interface HashReader {
  node(level: number, index: number): Uint8Array;
}

/** Hash of a leaf of any length: SHA-256(0x00 || data), a string as UTF-8 (RFC 6962 section 2.1). */
export function leafHash(data: string | Uint8Array): Uint8Array {
  if (typeof data === "string") return sha256(`\0${data}`);
  const preimage = Buffer.allocUnsafe(1 + data.length);
  preimage[0] = 0;
  preimage.set(data, 1);
  return sha256(preimage);
}

/**
 * Hash of a node over its children: SHA-256(0x01 || left || right) (RFC 6962 section 2.1). Throws RangeError unless both
 * have 32 bytes.
 */
export function nodeHash(left: Uint8Array, right: Uint8Array): Uint8Array {
  requireHash(left);
  requireHash(right);
  scratch.set(left, LEFT);
  scratch.set(right, RIGHT);
  return sha256(scratch);
}

/**
 * Root over the first `size` leaves: MTH(D[size]) of RFC 6962 section 2.1. Throws RangeError for a size that is no safe
 * integer from 0, and whatever the reader throws for a subtree that it lacks.
 */
export function rootAt(reader: HashReader, size: number): Uint8Array {
  requireWithin(size, 0, Number.MAX_SAFE_INTEGER);
  return size === 0 ? Buffer.from(EMPTY_ROOT) : rangeHash(reader, 0, size);
}

/**
 * Audit path of the leaf at `index` in the tree of `size` leaves, deepest sibling first: PATH(index, D[size]) of RFC 6962
 * section 2.1.1, at most 53 hashes. Throws RangeError unless 0 <= index < size, and whatever the reader throws for a
 * subtree that it lacks.
 */
export function inclusionProof(reader: HashReader, index: number, size: number): Uint8Array[] {
  requireWithin(size, 1, Number.MAX_SAFE_INTEGER);
  requireWithin(index, 0, size - 1);
  return path(reader, index, 0, size);
}

/**
 * Proof that the tree of `to` leaves begins with the tree of `from`: PROOF(from, D[to]) of RFC 6962 section 2.1.2, at most
 * 54 hashes; none when the sizes are equal. Throws RangeError unless 1 <= from <= to (the empty tree begins every tree, so
 * from 0 nothing is to be proved), and whatever the reader throws for a subtree that it lacks.
 */
export function consistencyProof(reader: HashReader, from: number, to: number): Uint8Array[] {
  requireWithin(to, 1, Number.MAX_SAFE_INTEGER);
  requireWithin(from, 1, to);
  return subproof(reader, from, 0, to, true);
}

/**
 * Whether `proof` leads from the leaf hash at `index` to the root of a tree of `size` leaves (RFC 9162 section 2.1.3.2).
 * Total: false for anything malformed. `size` and `root` must come from one signed checkpoint: sizes in which the leaf's
 * path has the same shape are told apart by the root alone.
 */
export function verifyInclusion(
  index: number,
  size: number,
  leaf: Uint8Array,
  proof: readonly Uint8Array[],
  root: Uint8Array,
): boolean {
  if (!isWithin(size, 1, Number.MAX_SAFE_INTEGER) || !isWithin(index, 0, size - 1)) return false;
  if (!isHash(leaf) || !isHash(root) || !Array.isArray(proof)) return false;
  let at = index;
  let last = size - 1;
  let reached = leaf;
  for (const sibling of proof as readonly unknown[]) {
    if (last === 0 || !isHash(sibling)) return false;
    if (at % 2 === 1 || at === last) {
      reached = nodeHash(sibling, reached);
      [at, last] = skipLevels(at, last, 0);
    } else {
      reached = nodeHash(reached, sibling);
    }
    at = half(at);
    last = half(last);
  }
  return last === 0 && isSame(reached, root);
}

/**
 * Whether `proof` shows that the tree of `to` leaves under `toRoot` begins with the tree of `from` under `fromRoot`
 * (RFC 9162 section 2.1.4.2). Total: false for anything malformed, and for `from` 0, from which nothing is to be proved.
 * Each size must come with its root from one signed checkpoint.
 */
export function verifyConsistency(
  from: number,
  to: number,
  fromRoot: Uint8Array,
  toRoot: Uint8Array,
  proof: readonly Uint8Array[],
): boolean {
  if (!isWithin(to, 1, Number.MAX_SAFE_INTEGER) || !isWithin(from, 1, to)) return false;
  if (!isHash(fromRoot) || !isHash(toRoot) || !Array.isArray(proof)) return false;
  if (from === to) return proof.length === 0 && isSame(fromRoot, toRoot);
  // An old tree that is one complete subtree is itself where both walks begin, so the proof leaves it out.
  let [at, last] = skipLevels(from - 1, to - 1, 1);
  const [first, ...rest]: readonly unknown[] = at === 0 ? [fromRoot, ...proof] : proof;
  if (!isHash(first)) return false;
  let old: Uint8Array = first;
  let reached: Uint8Array = first;
  for (const sibling of rest) {
    if (last === 0 || !isHash(sibling)) return false;
    if (at % 2 === 1 || at === last) {
      old = nodeHash(sibling, old);
      reached = nodeHash(sibling, reached);
      [at, last] = skipLevels(at, last, 0);
    } else {
      reached = nodeHash(reached, sibling);
    }
    at = half(at);
    last = half(last);
  }
  return last === 0 && isSame(old, fromRoot) && isSame(reached, toRoot);
}

function sha256(data: string | Uint8Array): Uint8Array {
  return Buffer.from(digest(data), "latin1");
}

/** MTH over the leaves from `start` to before `end`: complete subtrees, largest first, folded from the right. */
function rangeHash(reader: HashReader, start: number, end: number): Uint8Array {
  const level = levelOf(end - start);
  const count = 2 ** level;
  const left = reader.node(level, start / count);
  return count === end - start ? left : nodeHash(left, rangeHash(reader, start + count, end));
}

function path(reader: HashReader, index: number, start: number, end: number): Uint8Array[] {
  if (end - start === 1) return [];
  const middle = start + splitOf(end - start);
  return index < middle
    ? [...path(reader, index, start, middle), rangeHash(reader, middle, end)]
    : [...path(reader, index, middle, end), rangeHash(reader, start, middle)];
}

function subproof(reader: HashReader, from: number, start: number, end: number, known: boolean): Uint8Array[] {
  if (from === end) return known ? [] : [rangeHash(reader, start, end)];
  const middle = start + splitOf(end - start);
  return from <= middle
    ? [...subproof(reader, from, start, middle, known), rangeHash(reader, middle, end)]
    : [...subproof(reader, from, middle, end, false), rangeHash(reader, start, middle)];
}

/** Level of the largest complete subtree that `count` leaves fill. No shifts: sizes go past 32 bits. */
function levelOf(count: number): number {
  let level = 0;
  while (2 ** (level + 1) <= count) level += 1;
  return level;
}

/** The largest power of two below `count`, where RFC 6962 splits a tree. */
function splitOf(count: number): number {
  return 2 ** levelOf(count - 1);
}

/** Climbs while the node at `at` is a right (`bit` 1) or left (`bit` 0) child, and not yet the leftmost. */
function skipLevels(at: number, last: number, bit: 0 | 1): [at: number, last: number] {
  let [a, b] = [at, last];
  while (a !== 0 && a % 2 === bit) {
    a = half(a);
    b = half(b);
  }
  return [a, b];
}

function half(value: number): number {
  return Math.floor(value / 2);
}

function isSame(a: Uint8Array, b: Uint8Array): boolean {
  return a.every((byte, at) => byte === b[at]);
}

function isWithin(value: number, min: number, max: number): boolean {
  return Number.isSafeInteger(value) && value >= min && value <= max;
}

function requireWithin(value: number, min: number, max: number): void {
  if (!isWithin(value, min, max)) throw new RangeError(`${value} is not between ${min} and ${max}`);
}
