import { existsSync, readFileSync } from "node:fs";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { leafHash } from "../../../src/tlog/merkle.js";
import { PackedTree } from "../../../src/tlog/packed-tree.js";
import { bundleBytes, holdsTile, parseTilePath, tileBytes, tilePath, tilesOf } from "../../../src/tlog/tiles.js";

const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString("hex");

describe("the path of a tile", () => {
  it.each([
    [{ level: 0, index: 1_234_067, width: 256 }, "tile/0/x001/x234/067"],
    [{ level: 0, index: 0, width: 256 }, "tile/0/000"],
    [{ level: 3, index: 999, width: 1 }, "tile/3/999.p/1"],
    [{ level: 12, index: 1_000, width: 255 }, "tile/12/x001/000.p/255"],
    [{ level: "entries", index: 42, width: 112 }, "tile/entries/042.p/112"],
  ] as const)("of %o is %s, both ways", (tile, path) => {
    expect(tilePath(tile)).toBe(path);
    expect(parseTilePath(path)).toEqual(tile);
  });

  it.each([
    "tile/0/0",
    "tile/00/000",
    "tile/0/x000/000",
    "tile/0/001/000",
    "tile/0/000.p/0",
    "tile/0/000.p/01",
    "tile/0/000.p/256",
    "tile/0/000.p/999",
    "tile/data/000",
    "tile/entries/../000",
    "tile/0/000/",
    "tile/0/000?x",
    "tile/-1/000",
    "/tile/0/000",
    "tile/0/x999/x999/x999/x999/x999/999",
    "",
  ])("is not %s", (path) => {
    expect(parseTilePath(path)).toBeUndefined();
  });
});

describe("the tiles of a tree", () => {
  it("are those that C2SP names for 70,000 leaves", () => {
    const tiles = [...tilesOf(70_000)].map(tilePath).filter((path) => !path.includes("entries"));
    expect(tiles.filter((path) => /^tile\/0\/[x\d/]+$/.test(path))).toHaveLength(273);
    expect(tiles.filter((path) => !/^tile\/0\/[x\d/]+$/.test(path))).toEqual([
      "tile/0/273.p/112",
      "tile/1/000",
      "tile/1/001.p/17",
      "tile/2/000.p/1",
    ]);
  });

  it("are a full one and one of width 1 for 256 leaves, and none for none", () => {
    expect([...tilesOf(256)].map(tilePath)).toEqual(["tile/entries/000", "tile/0/000", "tile/1/000.p/1"]);
    expect([...tilesOf(0)]).toEqual([]);
  });

  it("are all held, an older partial one too, and no wider one", () => {
    fc.assert(
      fc.property(fc.nat(200_000), (size) => {
        for (const tile of tilesOf(size)) {
          expect(holdsTile(size, tile)).toBe(true);
          expect(holdsTile(size, { ...tile, width: 1 })).toBe(true);
          expect(holdsTile(size, { ...tile, width: tile.width + 1 })).toBe(false);
          expect(holdsTile(size, { ...tile, index: tile.index + 1_000 })).toBe(false);
        }
      }),
      { numRuns: 20 },
    );
    expect(holdsTile(10, { level: 0, index: 0, width: 0 })).toBe(false);
  });

  it("hold at level 1 what the full tiles of level 0 hash to", () => {
    const tree = new PackedTree();
    for (let at = 0; at < 600; at += 1) tree.append(leafHash(`${at}`));
    const upper = tileBytes(tree, 1, 0, 2);
    const lower = new PackedTree();
    const leaves = tileBytes(tree, 0, 1, 256);
    for (let at = 0; at < 256; at += 1) lower.append(leaves.subarray(at * 32, at * 32 + 32));
    expect(hex(upper.subarray(32))).toBe(hex(lower.root()));
    expect(() => tileBytes(tree, 1, 0, 3)).toThrow(RangeError);
  });

  it("bundle entries behind their lengths, and none that is too long", () => {
    expect(hex(bundleBytes(["ab", "", "é"]))).toBe("0002616200000002c3a9");
    expect(bundleBytes(["x".repeat(65_535)])).toHaveLength(65_537);
    expect(() => bundleBytes(["x".repeat(65_536)])).toThrow(RangeError);
  });
});

describe("the tiles of transparency-dev/tessera", () => {
  const log = new URL("../../../../shared/vectors/public/tessera-log/testdata/log/", import.meta.url);
  if (!existsSync(log)) {
    it.skip("are not beside this checkout: no other tiles to compare with", () => {});
    return;
  }
  const bundle = readFileSync(new URL("tile/entries/000.p/15", log));
  const entries: string[] = [];
  for (let at = 0; at < bundle.length; at += 2 + bundle.readUInt16BE(at)) {
    entries.push(bundle.toString("utf8", at + 2, at + 2 + bundle.readUInt16BE(at)));
  }
  const tree = new PackedTree();
  for (const entry of entries) tree.append(leafHash(entry));

  it.each(Array.from({ length: 15 }, (_, at) => at + 1))("are the same bytes at width %i", (width) => {
    const hashes = { level: 0, index: 0, width };
    expect(hex(tileBytes(tree, 0, 0, width))).toBe(hex(readFileSync(new URL(tilePath(hashes), log))));
    const path = tilePath({ ...hashes, level: "entries" });
    expect(hex(bundleBytes(entries.slice(0, width)))).toBe(hex(readFileSync(new URL(path, log))));
  });
});
