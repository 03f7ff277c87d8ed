import { describe, expect, it } from "vitest";
import { Frontier } from "../../../src/tlog/frontier.js";
import { EMPTY_ROOT, leafHash } from "../../../src/tlog/merkle.js";
import { PackedTree } from "../../../src/tlog/packed-tree.js";

const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString("hex");

function frontierOf(size: number): Frontier {
  const frontier = new Frontier();
  for (let at = 0; at < size; at += 1) frontier.append(leafHash(`${at}`));
  return frontier;
}

const tree = new PackedTree();
for (let at = 0; at < 5000; at += 1) tree.append(leafHash(`${at}`));

describe("a frontier", () => {
  it("has the root of the whole tree at every size", () => {
    const frontier = new Frontier();
    for (let size = 0; size < tree.size; size += 1) {
      expect(frontier.size).toBe(size);
      expect(hex(frontier.root()), `${size}`).toBe(hex(tree.root(size)));
      frontier.append(leafHash(`${size}`));
    }
  });

  it("names its complete subtrees, largest first", () => {
    const hashes = [tree.node(2, 0), tree.node(1, 2), tree.node(0, 6)].map(hex);
    expect(frontierOf(7).toJSON()).toEqual({ size: 7, hashes });
    expect(new Frontier().toJSON()).toEqual({ size: 0, hashes: [] });
  });

  it("goes on where another left off", () => {
    for (let size = 0; size < 40; size += 1) {
      const state = frontierOf(size).toJSON();
      const taken = Frontier.from(state.size, state.hashes);
      expect(hex(taken.root()), `${size}`).toBe(hex(tree.root(size)));
      for (let at = size; at < 40; at += 1) taken.append(leafHash(`${at}`));
      expect(hex(taken.root()), `${size} to 40`).toBe(hex(tree.root(40)));
    }
  });

  it("takes up a size past 32 bits", () => {
    const size = 2 ** 33 + 2 ** 31 + 1;
    const hashes = ["0", "1", "2"].map((leaf) => hex(leafHash(leaf)));
    const frontier = Frontier.from(size, hashes);
    expect(frontier.toJSON()).toEqual({ size, hashes });
    frontier.append(leafHash("3"));
    expect(frontier.toJSON().hashes).toEqual([...hashes.slice(0, 2), hex(nodeOf("2", "3"))]);
    expect(frontier.size).toBe(size + 1);
  });

  it("takes only hashes of 32 bytes", () => {
    const frontier = frontierOf(7);
    for (const length of [0, 31, 33]) expect(() => frontier.append(Buffer.alloc(length))).toThrow(RangeError);
    expect([frontier.size, hex(frontier.root())]).toEqual([7, hex(tree.root(7))]);
  });

  it("keeps its own copy of what comes in and goes out", () => {
    const nothing = hex(EMPTY_ROOT);
    const frontier = frontierOf(3);
    const last = leafHash("3");
    frontier.append(last);
    for (const view of [last, frontier.root(), new Frontier().root()]) view.fill(0);
    expect(hex(frontier.root())).toBe(hex(tree.root(4)));
    expect(hex(new Frontier().root())).toBe(nothing);
    expect(hex(EMPTY_ROOT)).toBe(nothing);
  });

  const [first = "", second = "", third = ""] = frontierOf(7).toJSON().hashes;

  const count = /^\d+ leaves make \d+ complete subtrees, not \d+$/;
  const form = /^hash \d is not 64 digits of lower-case hex$/;
  const leaves = /^no tree has \S+ leaves$/;

  it.each([
    ["too few hashes", count, 7, [first, second]],
    ["too many hashes", count, 7, [first, second, third, third]],
    ["hashes of the empty tree", count, 0, [first]],
    ["a short hash", form, 7, [first, second, third.slice(2)]],
    ["a long hash", form, 7, [`${first}00`, second, third]],
    ["a hash behind others", form, 7, [`00${first}`, second, third]],
    ["upper-case hex", form, 7, [first, second, third.toUpperCase()]],
    ["a line end", form, 7, [first, second, `${third}\n`]],
    ["no hex", form, 7, [first, second, "g".repeat(64)]],
    ["a hash that is no string", form, 7, [first, second, [third] as never]],
    ["a negative size", leaves, -1, []],
    ["half a leaf", leaves, 0.5, []],
    ["a size past safe integers", leaves, 2 ** 53, [first]],
  ])("refuses %s with RangeError", (_, message, size, hashes) => {
    expect(() => Frontier.from(size, hashes)).toThrow(RangeError);
    expect(() => Frontier.from(size, hashes)).toThrow(message);
  });
});

function nodeOf(left: string, right: string): Uint8Array {
  const pair = new PackedTree();
  for (const leaf of [left, right]) pair.append(leafHash(leaf));
  return pair.root();
}
