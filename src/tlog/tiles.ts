import type { HashReader } from "./merkle.js";
import { HASH_BYTES } from "./preimage.js";

/** Hashes of a full tile, entries of a full bundle. */
export const TILE_WIDTH = 256;
/** Levels of the tree that one level of tiles spans. */
const TILE_HEIGHT = 8;
const MAX_ENTRY_BYTES = 0xffff;

/** One resource of a tiled log (C2SP tlog-tiles): a tile of hashes at a level of tiles, or a bundle of entries. */
export interface Tile {
  level: number | "entries";
  index: number;
  /** Hashes or entries in it, 1 to 256. */
  width: number;
}

/** Path below the log's prefix: `tile/0/x001/x234/067`, a partial one with `.p/WIDTH`. */
export function tilePath({ level, index, width }: Tile): string {
  const digits = String(index);
  const groups = digits.padStart(Math.ceil(digits.length / 3) * 3, "0").match(/\d{3}/g) ?? [];
  const last = groups.pop() ?? "000";
  const partial = width === TILE_WIDTH ? "" : `.p/${width}`;
  return ["tile", level, ...groups.map((group) => `x${group}`), last].join("/") + partial;
}

/** Reads such a path; undefined for any other text, also for one that says the same in another way. */
export function parseTilePath(path: string): Tile | undefined {
  const [, named, groups, partial] =
    /^tile\/(entries|0|[1-9]\d?)\/((?:x\d{3}\/){0,4}\d{3})(?:\.p\/([1-9]\d{0,2}))?$/.exec(path) ?? [];
  if (named === undefined || groups === undefined) return undefined;
  const tile: Tile = {
    level: named === "entries" ? named : Number(named),
    index: Number(groups.replaceAll(/\D/g, "")),
    width: partial === undefined ? TILE_WIDTH : Number(partial),
  };
  return tile.width <= TILE_WIDTH && tilePath(tile) === path ? tile : undefined;
}

/** Whether a tree of `size` leaves has this tile: full, or partial as it stands in that tree or stood in an earlier one. */
export function holdsTile(size: number, { level, index, width }: Tile): boolean {
  return width >= 1 && width <= TILE_WIDTH && index * TILE_WIDTH + width <= hashesAt(size, level);
}

/** Every tile and bundle of the tree of `size` leaves, the partial ones at its right edge included. */
export function* tilesOf(size: number): Generator<Tile> {
  for (const level of ["entries", 0, 1, 2, 3, 4, 5, 6] as const) {
    const hashes = hashesAt(size, level);
    for (let index = 0; index * TILE_WIDTH < hashes; index += 1) {
      yield { level, index, width: Math.min(TILE_WIDTH, hashes - index * TILE_WIDTH) };
    }
  }
}

/** The bytes of a tile of hashes. Throws what the reader throws for a subtree that it lacks. */
export function tileBytes(reader: HashReader, level: number, index: number, width: number): Uint8Array {
  const bytes = Buffer.alloc(width * HASH_BYTES);
  for (let at = 0; at < width; at += 1) {
    bytes.set(reader.node(level * TILE_HEIGHT, index * TILE_WIDTH + at), at * HASH_BYTES);
  }
  return bytes;
}

/** The bytes of a bundle: each entry behind its length in 2 bytes. Throws RangeError for one of over 65,535 bytes. */
export function bundleBytes(entries: readonly string[]): Uint8Array {
  return Buffer.concat(
    entries.flatMap((entry) => {
      const bytes = Buffer.from(entry);
      if (bytes.length > MAX_ENTRY_BYTES) throw new RangeError(`an entry of ${bytes.length} bytes fits no bundle`);
      return [Buffer.of(bytes.length >> 8, bytes.length & 0xff), bytes];
    }),
  );
}

/** Hashes of full subtrees that a level of tiles has in the tree of `size` leaves. */
function hashesAt(size: number, level: Tile["level"]): number {
  return level === "entries" ? size : Math.floor(size / TILE_WIDTH ** level);
}
