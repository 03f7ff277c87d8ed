import { describe, expect, it } from "vitest";
import { EMPTY_ROOT, inclusionProof, leafHash, nodeHash, verifyInclusion } from "../../../src/tlog/merkle.js";
import { PackedTree } from "../../../src/tlog/packed-tree.js";

const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString("hex");

function treeOf(size: number): PackedTree {
  const tree = new PackedTree();
  for (let at = 0; at < size; at += 1) tree.append(leafHash(`${at}`));
  return tree;
}

describe("a packed tree", () => {
  it("holds every complete subtree, and none that is not", () => {
    const tree = treeOf(7);
    expect(hex(tree.node(1, 2))).toBe(hex(nodeHash(leafHash("4"), leafHash("5"))));
    expect(hex(tree.node(2, 0))).toBe(hex(nodeHash(tree.node(1, 0), tree.node(1, 1))));
    for (const [level, index] of [
      [0, 7],
      [1, 3],
      [2, 1],
      [3, 0],
      [4, 0],
      [-1, 0],
      [0.5, 0],
      [0, -1],
      [0, 0.5],
      [0, Number.NaN],
    ] as const) {
      expect(() => tree.node(level, index), `${level}/${index}`).toThrow(RangeError);
    }
  });

  it("has the root of each size so far, and no other", () => {
    const tree = treeOf(7);
    expect(tree.size).toBe(7);
    expect(hex(tree.root(0))).toBe(hex(EMPTY_ROOT));
    expect(hex(tree.root(2))).toBe(hex(tree.node(1, 0)));
    expect(hex(tree.root())).toBe(hex(nodeHash(tree.node(2, 0), nodeHash(tree.node(1, 2), tree.node(0, 6)))));
    for (const size of [8, 8192, -1, 0.5]) expect(() => tree.root(size), `${size}`).toThrow(RangeError);
  });

  it("takes only hashes of 32 bytes", () => {
    const tree = treeOf(7);
    for (const length of [0, 31, 33]) expect(() => tree.append(Buffer.alloc(length))).toThrow(RangeError);
    expect(hex(tree.root())).toBe(hex(treeOf(7).root()));
  });

  it("keeps its own copy of what comes in and goes out", () => {
    const tree = treeOf(7);
    const nothing = hex(EMPTY_ROOT);
    const last = leafHash("7");
    tree.append(last);
    for (const view of [last, tree.node(0, 3), tree.node(3, 0), tree.root(), tree.root(0)]) view.fill(0);
    expect(hex(tree.root())).toBe(hex(treeOf(8).root()));
    expect(hex(tree.node(0, 3))).toBe(hex(leafHash("3")));
    expect(hex(tree.node(0, 7))).toBe(hex(leafHash("7")));
    expect(hex(tree.root(0))).toBe(nothing);
    expect(hex(EMPTY_ROOT)).toBe(nothing);
  });

  it("goes on over the edges of its chunks", () => {
    const tree = treeOf(5000);
    for (const index of [0, 2046, 2047, 2048, 4095, 4096, 4999]) {
      const leaf = leafHash(`${index}`);
      expect(hex(tree.node(0, index))).toBe(hex(leaf));
      expect(verifyInclusion(index, 5000, leaf, inclusionProof(tree, index, 5000), tree.root())).toBe(true);
    }
  });
});
