import { createHash } from "node:crypto";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { Frontier } from "../../src/tlog/frontier.js";
import {
  consistencyProof,
  inclusionProof,
  leafHash,
  rootAt,
  verifyConsistency,
  verifyInclusion,
} from "../../src/tlog/merkle.js";
import { PackedTree } from "../../src/tlog/packed-tree.js";

const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString("hex");
const sha256 = (...parts: Uint8Array[]): Buffer => createHash("sha256").update(Buffer.concat(parts)).digest();

/** MTH word by word from RFC 6962 section 2.1. */
function naiveRoot(leaves: readonly Uint8Array[]): Buffer {
  const [only] = leaves;
  if (only === undefined) return sha256();
  if (leaves.length === 1) return sha256(Buffer.of(0), only);
  const k = splitOf(leaves.length);
  return sha256(Buffer.of(1), naiveRoot(leaves.slice(0, k)), naiveRoot(leaves.slice(k)));
}

function splitOf(count: number): number {
  let k = 1;
  while (k * 2 < count) k *= 2;
  return k;
}

/** On which side each hash of an audit path stands, deepest first. */
function pathShape(index: number, size: number): string {
  if (size === 1) return "";
  const k = splitOf(size);
  return index < k ? `${pathShape(index, k)}R` : `${pathShape(index - k, size - k)}L`;
}

/** The same for a consistency proof; `S` is the subtree from which it starts when the old root is not that. */
function proofShape(from: number, to: number, known = true): string {
  if (from === to) return known ? "" : "S";
  const k = splitOf(to);
  return from <= k ? `${proofShape(from, k, known)}R` : `${proofShape(from - k, to - k, false)}L`;
}

/** Every leaf is another, so that a proof fits one index only. */
const distinctLeaves = fc.uniqueArray(fc.uint8Array({ maxLength: 40 }), {
  minLength: 1,
  maxLength: 150,
  selector: hex,
});
const anyBit = fc.nat({ max: 255 });

function treeOf(leaves: readonly Uint8Array[]): PackedTree {
  const tree = new PackedTree();
  for (const leaf of leaves) tree.append(leafHash(leaf));
  return tree;
}

function numbered(size: number): PackedTree {
  return treeOf(Array.from({ length: size }, (_, at) => Buffer.from(`${at}`)));
}

function flipped(hash: Uint8Array, bit: number): Uint8Array {
  const copy = Uint8Array.from(hash);
  copy[bit >> 3] = (copy[bit >> 3] ?? 0) ^ (1 << (bit & 7));
  return copy;
}

/** The list with one bit flipped in one hash, one hash dropped, doubled or added, or two neighbours swapped: each place. */
function* changed(proof: readonly Uint8Array[], bit: number, stray: Uint8Array): Generator<Uint8Array[]> {
  for (const [at, hash] of proof.entries()) {
    yield proof.with(at, flipped(hash, bit));
    yield proof.toSpliced(at, 1);
    yield proof.toSpliced(at, 0, hash);
    if (at > 0) yield proof.toSpliced(at - 1, 2, hash, proof[at - 1] as Uint8Array);
  }
  for (let at = 0; at <= proof.length; at += 1) yield proof.toSpliced(at, 0, stray);
}

describe("roots", () => {
  it("are those of the recursive definition, in a packed tree and on a frontier, for every prefix", () => {
    fc.assert(
      fc.property(fc.array(fc.uint8Array({ maxLength: 40 }), { maxLength: 150 }), (leaves) => {
        const tree = treeOf(leaves);
        const frontier = new Frontier();
        for (let size = 0; size <= leaves.length; size += 1) {
          const root = hex(naiveRoot(leaves.slice(0, size)));
          expect([hex(rootAt(tree, size)), hex(frontier.root())]).toEqual([root, root]);
          if (size < leaves.length) frontier.append(leafHash(leaves[size] as Uint8Array));
        }
      }),
      { numRuns: 30 },
    );
  });

  it("stay the same on a frontier that goes through JSON anywhere", () => {
    fc.assert(
      fc.property(distinctLeaves, fc.nat(), (leaves, cut) => {
        const at = cut % (leaves.length + 1);
        let frontier = new Frontier();
        for (const leaf of leaves.slice(0, at)) frontier.append(leafHash(leaf));
        const text = JSON.stringify(frontier);
        const state = JSON.parse(text) as ReturnType<Frontier["toJSON"]>;
        frontier = Frontier.from(state.size, state.hashes);
        expect(JSON.stringify(frontier)).toBe(text);
        for (const leaf of leaves.slice(at)) frontier.append(leafHash(leaf));
        expect(hex(frontier.root())).toBe(hex(naiveRoot(leaves)));
      }),
    );
  });
});

describe("inclusion proofs", () => {
  it("verify for every leaf of every tree", () => {
    fc.assert(
      fc.property(distinctLeaves, fc.nat(), (leaves, cut) => {
        const tree = treeOf(leaves);
        const size = 1 + (cut % leaves.length);
        for (let index = 0; index < size; index += 1) {
          const proof = inclusionProof(tree, index, size);
          expect(proof).toHaveLength(pathShape(index, size).length);
          expect(verifyInclusion(index, size, tree.node(0, index), proof, tree.root(size))).toBe(true);
        }
      }),
    );
  });

  it("fail with another index, leaf, root or list of hashes", () => {
    fc.assert(
      fc.property(distinctLeaves, fc.nat(), anyBit, (leaves, pick, bit) => {
        const tree = treeOf(leaves);
        const { size } = tree;
        const index = pick % size;
        const [leaf, root, proof] = [tree.node(0, index), tree.root(), inclusionProof(tree, index, size)];
        for (let other = 0; other < size; other += 1) {
          expect(verifyInclusion(other, size, leaf, proof, root)).toBe(other === index);
          expect(verifyInclusion(index, size, tree.node(0, other), proof, root)).toBe(other === index);
          expect(verifyInclusion(index, size, leaf, proof, tree.root(other))).toBe(false);
        }
        expect(verifyInclusion(index, size, flipped(leaf, bit), proof, root)).toBe(false);
        expect(verifyInclusion(index, size, leaf, proof, flipped(root, bit))).toBe(false);
        for (const stray of [leaf, root, Buffer.alloc(32)]) {
          for (const wrong of changed(proof, bit, stray)) {
            expect(verifyInclusion(index, size, leaf, wrong, root)).toBe(false);
          }
        }
      }),
    );
  });

  it("fit another size exactly when the path has the same shape there, and never its root", () => {
    const tree = numbered(70);
    for (let size = 1; size <= 33; size += 1) {
      for (let index = 0; index < size; index += 1) {
        const [leaf, proof] = [tree.node(0, index), inclusionProof(tree, index, size)];
        for (let other = 0; other <= 70; other += 1) {
          const fits = index < other && pathShape(index, other) === pathShape(index, size);
          expect(verifyInclusion(index, other, leaf, proof, tree.root(size))).toBe(fits);
          expect(verifyInclusion(index, other, leaf, proof, tree.root(other))).toBe(other === size);
        }
      }
    }
  });
});

describe("consistency proofs", () => {
  it("verify between every pair of sizes up to 64, and fail between exchanged or other roots", () => {
    const tree = numbered(65);
    for (let to = 1; to <= 64; to += 1) {
      for (let from = 1; from <= to; from += 1) {
        const proof = consistencyProof(tree, from, to);
        const [old, root] = [tree.root(from), tree.root(to)];
        expect(proof).toHaveLength(proofShape(from, to).length);
        expect(verifyConsistency(from, to, old, root, proof), `${from} to ${to}`).toBe(true);
        expect(verifyConsistency(from, to, root, old, proof)).toBe(from === to);
        expect(verifyConsistency(from, to, tree.root(from - 1), root, proof)).toBe(false);
        expect(verifyConsistency(from, to, tree.root(from + 1), root, proof)).toBe(false);
        expect(verifyConsistency(from, to, old, tree.root(to - 1), proof)).toBe(false);
        expect(verifyConsistency(from, to, old, tree.root(to + 1), proof)).toBe(false);
      }
    }
  });

  it("fail with any bit flipped, and any hash dropped, doubled, added or moved", () => {
    fc.assert(
      fc.property(distinctLeaves, fc.nat(), fc.nat(), anyBit, (leaves, a, b, bit) => {
        const tree = treeOf(leaves);
        const to = 1 + (a % leaves.length);
        const from = 1 + (b % to);
        const [old, root, proof] = [tree.root(from), tree.root(to), consistencyProof(tree, from, to)];
        expect(verifyConsistency(from, to, old, root, proof)).toBe(true);
        expect(verifyConsistency(from, to, flipped(old, bit), root, proof)).toBe(false);
        expect(verifyConsistency(from, to, old, flipped(root, bit), proof)).toBe(false);
        for (const stray of [old, root, Buffer.alloc(32)]) {
          for (const wrong of changed(proof, bit, stray)) {
            expect(verifyConsistency(from, to, old, root, wrong)).toBe(false);
          }
        }
      }),
    );
  });

  it("fail for every other old size, and fit another new size exactly when the proof has the same shape there", () => {
    const tree = numbered(33);
    for (let to = 1; to <= 17; to += 1) {
      for (let from = 1; from <= to; from += 1) {
        const [old, root, proof] = [tree.root(from), tree.root(to), consistencyProof(tree, from, to)];
        for (let other = 0; other <= 33; other += 1) {
          expect(verifyConsistency(other, to, old, root, proof), `${other} for ${from} to ${to}`).toBe(other === from);
          const fits = from <= other && proofShape(from, other) === proofShape(from, to);
          expect(verifyConsistency(from, other, old, root, proof), `${from} to ${other} for ${to}`).toBe(fits);
        }
      }
    }
  });

  it("fail for a log that was rewritten before the old size", () => {
    fc.assert(
      fc.property(distinctLeaves, fc.nat(), fc.nat(), (leaves, a, b) => {
        const from = 1 + (a % leaves.length);
        const at = b % from;
        const tree = treeOf(leaves);
        const forked = treeOf(leaves.with(at, Buffer.from("never more than forty bytes, so this is another")));
        for (const proof of [
          consistencyProof(tree, from, leaves.length),
          consistencyProof(forked, from, leaves.length),
        ]) {
          expect(verifyConsistency(from, leaves.length, tree.root(from), forked.root(), proof)).toBe(false);
        }
      }),
    );
  });
});

describe("the verifiers", () => {
  it("turn down each single bit flipped in an inclusion and in a consistency proof", () => {
    const tree = numbered(7);
    const [leaf, root, path] = [tree.node(0, 2), tree.root(), inclusionProof(tree, 2, 7)];
    const [old, proof] = [tree.root(3), consistencyProof(tree, 3, 7)];
    for (let bit = 0; bit < 256; bit += 1) {
      expect(verifyInclusion(2, 7, flipped(leaf, bit), path, root)).toBe(false);
      expect(verifyInclusion(2, 7, leaf, path, flipped(root, bit))).toBe(false);
      expect(verifyConsistency(3, 7, flipped(old, bit), root, proof)).toBe(false);
      expect(verifyConsistency(3, 7, old, flipped(root, bit), proof)).toBe(false);
      for (const [at, hash] of path.entries()) {
        expect(verifyInclusion(2, 7, leaf, path.with(at, flipped(hash, bit)), root)).toBe(false);
      }
      for (const [at, hash] of proof.entries()) {
        expect(verifyConsistency(3, 7, old, root, proof.with(at, flipped(hash, bit)))).toBe(false);
      }
    }
  });

  it("answer false, and never throw, whatever they are given", () => {
    const tree = numbered(8);
    const [leaf, old, root] = [tree.node(0, 2), tree.root(3), tree.root()];
    const number = fc.oneof(fc.anything(), fc.integer({ min: -2, max: 10 }), fc.double(), fc.maxSafeInteger());
    const hash = fc.oneof(
      fc.anything(),
      fc.uint8Array({ maxLength: 40 }),
      fc.uint8Array({ minLength: 32, maxLength: 32 }),
    );
    const hashes = fc.oneof(
      fc.anything(),
      fc.array(hash, { maxLength: 5 }),
      fc.sparseArray(hash, { maxNumElements: 4 }),
    );
    fc.assert(
      fc.property(number, number, hash, hash, hashes, (a, b, first, second, list) => {
        const [x, y, p, q, proof] = [a, b, first, second, list] as [never, never, never, never, never];
        expect(verifyInclusion(x, y, p, proof, root)).toBe(false);
        expect(verifyInclusion(x, y, leaf, proof, q)).toBe(false);
        expect(verifyInclusion(2, 8, leaf, proof, root)).toBe(false);
        expect(verifyConsistency(x, y, p, root, proof)).toBe(false);
        expect(verifyConsistency(x, y, old, q, proof)).toBe(false);
        expect(verifyConsistency(3, 8, old, root, proof)).toBe(false);
      }),
      { numRuns: 2000 },
    );
  });
});
