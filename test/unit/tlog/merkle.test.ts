import { existsSync, readdirSync, readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import {
  consistencyProof,
  EMPTY_ROOT,
  type HashReader,
  inclusionProof,
  leafHash,
  nodeHash,
  rootAt,
  verifyConsistency,
  verifyInclusion,
} from "../../../src/tlog/merkle.js";
import { Frontier } from "../../../src/tlog/frontier.js";
import { PackedTree } from "../../../src/tlog/packed-tree.js";

const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString("hex");
const base64 = (text: string): Uint8Array => Buffer.from(text, "base64");

function treeOf(leaves: readonly (string | Uint8Array)[]): PackedTree {
  const tree = new PackedTree();
  for (const leaf of leaves) tree.append(leafHash(leaf));
  return tree;
}

/** The eight leaves that Certificate Transparency's implementations share, in hex, and the roots over the first 1 to 8. */
const LEAVES = ["", "00", "10", "2021", "3031", "40414243", "5051525354555657", "606162636465666768696a6b6c6d6e6f"].map(
  (leaf) => Buffer.from(leaf, "hex"),
);
const ROOTS = [
  "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d",
  "fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125",
  "aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77",
  "d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7",
  "4e3bbb1f7b478dcfe71fb631631519a3bca12c9aefca1612bfce4c13a86264d4",
  "76e67dadbcdf1e10e1b74ddc608abd2f98dfb16fbce75277b5232a127f2087ef",
  "ddb89be403809e325750d3d263cd78929c2942b7942a34b77e122c9594a74c8c",
  "5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328",
];

describe("hashes", () => {
  it("gives the tree without leaves the hash of nothing", () => {
    const nothing = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
    expect([EMPTY_ROOT, new PackedTree().root(), new Frontier().root()].map(hex)).toEqual([nothing, nothing, nothing]);
  });

  it("hashes a string as its UTF-8", () => {
    expect(hex(leafHash("L123456"))).toBe("395aa064aa4c29f7010acfe3f25db9485bbd4b91897b6ad7ad547639252b4d56");
    expect(hex(leafHash("é€😀\0"))).toBe(hex(leafHash(Buffer.from("é€😀\0"))));
  });

  it("hashes children behind their prefix, and nothing but 32 bytes", () => {
    const [zero, one] = [Buffer.alloc(32), Buffer.alloc(32, 1)];
    expect(hex(nodeHash(zero, one))).not.toBe(hex(nodeHash(one, zero)));
    expect(hex(nodeHash(leafHash(""), leafHash("\0")))).toBe(ROOTS[1]);
    expect(() => nodeHash(zero, Buffer.alloc(31))).toThrow(RangeError);
    expect(() => nodeHash(Buffer.alloc(33), one)).toThrow(RangeError);
  });

  it("reaches the known roots of 1 to 8 leaves", () => {
    const tree = treeOf(LEAVES);
    const frontier = new Frontier();
    const reached = LEAVES.map((leaf, at) => {
      frontier.append(leafHash(leaf));
      expect(hex(frontier.root())).toBe(hex(tree.root(at + 1)));
      return hex(rootAt(tree, at + 1));
    });
    expect(reached).toEqual(ROOTS);
  });
});

describe("the example of RFC 6962 section 2.1.3", () => {
  const tree = treeOf(["d0", "d1", "d2", "d3", "d4", "d5", "d6"]);
  const names = { a: [0, 0], b: [0, 1], c: [0, 2], d: [0, 3], e: [0, 4], f: [0, 5], j: [0, 6] } as const;
  const inner = { g: [1, 0], h: [1, 1], i: [1, 2], k: [2, 0] } as const;
  const known = new Map(
    Object.entries({ ...names, ...inner }).map(([name, [level, index]]) => [hex(tree.node(level, index)), name]),
  );
  known.set(hex(nodeHash(tree.node(1, 2), tree.node(0, 6))), "l");
  const named = (proof: readonly Uint8Array[]): string => proof.map((node) => known.get(hex(node)) ?? "?").join(" ");

  it.each([
    [0, "b h l"],
    [3, "c g l"],
    [4, "f j k"],
    [6, "i k"],
  ])("has for leaf %i the audit path %s", (index, path) => {
    expect(named(inclusionProof(tree, index, 7))).toBe(path);
  });

  it.each([
    [3, "c d g l"],
    [4, "l"],
    [6, "i j k"],
    [7, ""],
  ])("is shown to begin with %i leaves by (%s)", (from, proof) => {
    expect(named(consistencyProof(tree, from, 7))).toBe(proof);
  });
});

describe("what is out of range", () => {
  const tree = treeOf(LEAVES);

  const range = /^\S+ is not between \d+ and \d+$/;
  const lacking = /^no complete subtree at level \d+, index \d+ in a tree of 8 leaves$/;

  it.each([
    ["a root beyond the end", lacking, () => rootAt(tree, 9)],
    ["a root of a negative size", range, () => rootAt(tree, -1)],
    ["a root of half a leaf", range, () => rootAt(tree, 0.5)],
    ["a root of no number", range, () => rootAt(tree, Number.NaN)],
    ["a root past safe integers", range, () => rootAt(tree, 2 ** 53)],
    ["an inclusion at the size", range, () => inclusionProof(tree, 8, 8)],
    ["an inclusion before the start", range, () => inclusionProof(tree, -1, 8)],
    ["an inclusion in no tree", range, () => inclusionProof(tree, 0, 0)],
    ["an inclusion in half a leaf more", range, () => inclusionProof(tree, 0, 1.5)],
    ["an inclusion past safe integers", range, () => inclusionProof(tree, 0, 2 ** 53)],
    ["an inclusion beyond the end", lacking, () => inclusionProof(tree, 0, 9)],
    ["consistency from nothing", range, () => consistencyProof(tree, 0, 8)],
    ["consistency backwards", range, () => consistencyProof(tree, 8, 7)],
    ["consistency to half a leaf more", range, () => consistencyProof(tree, 1, 1.5)],
    ["consistency past safe integers", range, () => consistencyProof(tree, 1, 2 ** 53)],
    ["consistency beyond the end", lacking, () => consistencyProof(tree, 8, 9)],
  ])("is thrown as RangeError: %s", (_, message, act) => {
    expect(act).toThrow(RangeError);
    expect(act).toThrow(message);
  });

  it("is false to a verifier", () => {
    const root = tree.root();
    const path = inclusionProof(tree, 7, 8);
    const leaf = tree.node(0, 7);
    for (const [index, size] of [
      [8, 8],
      [-1, 8],
      [7, 7],
      [7, 0],
      [7.5, 8],
      [7, 8.5],
      [Number.NaN, 8],
      [7, 2 ** 53],
    ] as const) {
      expect(verifyInclusion(index, size, leaf, path, root), `${index} of ${size}`).toBe(false);
    }
    const proof = consistencyProof(tree, 3, 8);
    for (const [from, to] of [
      [0, 8],
      [-3, 8],
      [9, 8],
      [3, 0],
      [3.5, 8],
      [3, 8.5],
      [3, Number.POSITIVE_INFINITY],
    ] as const) {
      expect(verifyConsistency(from, to, tree.root(3), root, proof), `${from} to ${to}`).toBe(false);
    }
    expect(verifyConsistency(0, 0, EMPTY_ROOT, EMPTY_ROOT, [])).toBe(false);
    expect(verifyConsistency(0, 8, EMPTY_ROOT, root, [])).toBe(false);
  });

  it("is false to a verifier when a hash is not 32 bytes", () => {
    const [leaf, root, old] = [tree.node(0, 2), tree.root(), tree.root(2)];
    const path = inclusionProof(tree, 2, 8);
    const proof = consistencyProof(tree, 2, 8);
    const cuts: ((hash: Uint8Array) => Uint8Array)[] = [
      () => new Uint8Array(),
      (hash) => hash.subarray(0, 12),
      (hash) => hash.subarray(0, 31),
      (hash) => Buffer.concat([hash, Buffer.alloc(1)]),
      (hash) => Buffer.from(hex(hash)),
      (hash) => [...hash] as never,
      (hash) => hex(hash).slice(32) as never,
      () => undefined as never,
    ];
    for (const cut of cuts) {
      expect(verifyInclusion(2, 8, cut(leaf), path, root)).toBe(false);
      expect(verifyInclusion(2, 8, leaf, path, cut(root))).toBe(false);
      expect(verifyInclusion(0, 1, cut(leaf), [], cut(leaf))).toBe(false);
      expect(verifyConsistency(2, 8, cut(old), root, proof)).toBe(false);
      expect(verifyConsistency(2, 8, old, cut(root), proof)).toBe(false);
      expect(verifyConsistency(3, 8, cut(tree.root(3)), root, consistencyProof(tree, 3, 8))).toBe(false);
      expect(verifyConsistency(2, 2, cut(old), cut(old), [])).toBe(false);
      for (const [at, hash] of path.entries()) {
        expect(verifyInclusion(2, 8, leaf, path.with(at, cut(hash)), root)).toBe(false);
      }
      for (const [at, hash] of consistencyProof(tree, 3, 8).entries()) {
        const wrong = consistencyProof(tree, 3, 8).with(at, cut(hash));
        expect(verifyConsistency(3, 8, tree.root(3), root, wrong)).toBe(false);
      }
    }
  });

  it("is false to a verifier when the proof goes on above the root, even to the root named", () => {
    const [extra, root, old] = [leafHash("extra"), tree.root(), tree.root(3)];
    const [above, oldAbove] = [nodeHash(extra, root), nodeHash(extra, old)];
    expect(verifyInclusion(2, 8, tree.node(0, 2), [...inclusionProof(tree, 2, 8), extra], above)).toBe(false);
    expect(verifyConsistency(3, 8, oldAbove, above, [...consistencyProof(tree, 3, 8), extra])).toBe(false);
  });
});

/** A tree of any size, of which only the leaf at `index` differs from the others: each level has two hashes. */
function sparseTree(index: number): HashReader & { readonly leaf: Uint8Array } {
  const same = [leafHash("same")];
  const marked = [leafHash("marked")];
  for (let level = 0, at = index; level < 53; level += 1, at = Math.floor(at / 2)) {
    const [other, own] = [same[level] as Uint8Array, marked[level] as Uint8Array];
    same.push(nodeHash(other, other));
    marked.push(at % 2 === 1 ? nodeHash(other, own) : nodeHash(own, other));
  }
  const node = (level: number, at: number): Uint8Array =>
    (at === Math.floor(index / 2 ** level) ? marked : same)[level] as Uint8Array;
  return { node, leaf: leafHash("marked") };
}

describe("sizes past 32 bits", () => {
  it.each([2 ** 31 + 1, 2 ** 32, 2 ** 32 + 5, 2 ** 40 + 3, 2 ** 52 + 1, Number.MAX_SAFE_INTEGER])(
    "have proofs that verify: %i",
    (size) => {
      for (const index of [0, 1, Math.floor(size / 3), 2 ** 31 - 1, size - 2, size - 1]) {
        const tree = sparseTree(index);
        const root = rootAt(tree, size);
        const path = inclusionProof(tree, index, size);
        expect(path.length).toBeLessThanOrEqual(53);
        expect(verifyInclusion(index, size, tree.leaf, path, root)).toBe(true);
        expect(verifyInclusion(index, size, leafHash("same"), path, root)).toBe(false);
        for (const from of [1, 2, index + 1, Math.max(index, 1), 2 ** 31, size - 1]) {
          const proof = consistencyProof(tree, from, size);
          expect(proof.length).toBeLessThanOrEqual(54);
          expect(verifyConsistency(from, size, rootAt(tree, from), root, proof), `${from}`).toBe(true);
          expect(verifyConsistency(from, size, root, rootAt(tree, from), proof), `${from}`).toBe(from === size);
        }
      }
    },
  );
});

const shared = new URL("../../../../shared/vectors/public/", import.meta.url);

interface Inclusion {
  leafIdx: number;
  treeSize: number;
  root: string;
  leafHash: string;
  proof: string[] | null;
  wantErr: boolean;
}

interface Consistency {
  size1: number;
  size2: number;
  root1: string;
  root2: string;
  proof: string[] | null;
  wantErr: boolean;
}

function readVectors<T>(folder: string): (T & { name: string })[] {
  const at = new URL(folder, shared);
  return readdirSync(at, { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".json"))
    .sort()
    .map((name) => ({
      name,
      ...(JSON.parse(readFileSync(new URL(encodeURI(name), at), "utf8")) as T),
    }));
}

describe("the vectors of transparency-dev/merkle", () => {
  if (!existsSync(new URL("merkle/", shared))) {
    it.skip("are not beside this checkout: they are not read", () => {});
    return;
  }

  const inclusions = readVectors<Inclusion>("merkle/testdata/inclusion/");
  const consistencies = readVectors<Consistency>("merkle/testdata/consistency/");
  const list = (proof: string[] | null): Uint8Array[] => (proof ?? []).map(base64);
  const tree = treeOf(LEAVES);

  it("are 98 of inclusion and 98 of consistency", () => {
    expect([inclusions.length, consistencies.length]).toEqual([98, 98]);
    expect([...inclusions, ...consistencies].filter(({ wantErr }) => !wantErr)).toHaveLength(12);
  });

  it.each(inclusions)("are answered for inclusion/$name", (vector) => {
    const { leafIdx, treeSize, root, proof, wantErr } = vector;
    expect(verifyInclusion(leafIdx, treeSize, base64(vector.leafHash), list(proof), base64(root))).toBe(!wantErr);
  });

  /** Not applicable: its roots are words of 12 bytes. It must be rejected here. */
  const shortRoots = "additional/sizes-are-equal-one-and-proof-is-empty.json";

  it.each(consistencies)("are answered for consistency/$name", (vector) => {
    const { name, size1, size2, root1, root2, proof, wantErr } = vector;
    const expected = !wantErr && name !== shortRoots;
    expect(verifyConsistency(size1, size2, base64(root1), base64(root2), list(proof))).toBe(expected);
  });

  it("are not followed in one only, which has roots of 12 bytes", () => {
    const others = consistencies.filter(({ wantErr, root1, root2 }) => {
      return !wantErr && (base64(root1).length !== 32 || base64(root2).length !== 32);
    });
    expect(others.map(({ name, root1 }) => [name, base64(root1).length])).toEqual([[shortRoots, 12]]);
  });

  it("have the proofs that the shared eight leaves give", () => {
    const paths = inclusions.filter(({ name }) => name.endsWith("happy-path.json"));
    for (const { name, leafIdx, treeSize, proof } of paths) {
      expect(inclusionProof(tree, leafIdx, treeSize).map(hex), name).toEqual(list(proof).map(hex));
    }
    const proofs = consistencies.filter(({ name }) => name.endsWith("happy-path.json"));
    for (const { name, size1, size2, proof } of proofs) {
      expect(consistencyProof(tree, size1, size2).map(hex), name).toEqual(list(proof).map(hex));
    }
    expect([paths.length, proofs.length]).toEqual([5, 5]);
  });
});

/** Entries of a C2SP tlog-tiles bundle: each behind its length, two bytes, big-endian. */
function readBundle(bytes: Buffer): Buffer[] {
  const entries: Buffer[] = [];
  for (let at = 0; at < bytes.length;) {
    const end = at + 2 + bytes.readUInt16BE(at);
    entries.push(bytes.subarray(at + 2, end));
    at = end;
  }
  return entries;
}

describe("the log of transparency-dev/tessera", () => {
  const log = new URL("tessera-log/testdata/log/", shared);
  if (!existsSync(log)) {
    it.skip("is not beside this checkout: its tree heads are not recomputed", () => {});
    return;
  }

  const entries = readBundle(readFileSync(new URL("tile/entries/000.p/15", log)));
  const tree = treeOf(entries);
  const sizes = Array.from({ length: 16 }, (_, size) => size);

  it("has 15 entries, and their hashes as its tile", () => {
    expect(entries).toHaveLength(15);
    const tile = readFileSync(new URL("tile/0/000.p/15", log));
    expect(hex(Buffer.concat(entries.map(leafHash)))).toBe(hex(tile));
  });

  it.each(sizes)("has the tree head that its entries give, at size %i", (size) => {
    const [, count, root] = readFileSync(new URL(`checkpoint.${size}`, log), "utf8").split("\n");
    const frontier = new Frontier();
    for (const entry of entries.slice(0, size)) frontier.append(leafHash(entry));
    expect(count).toBe(`${size}`);
    expect(Buffer.from(tree.root(size)).toString("base64")).toBe(root);
    expect(Buffer.from(frontier.root()).toString("base64")).toBe(root);
  });
});
