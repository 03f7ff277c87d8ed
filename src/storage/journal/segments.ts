import { join } from "node:path";
import { crc32 } from "node:zlib";
import type { Files } from "./files.js";
import type { LeafHashes } from "./leaf-hashes.js";

/** Digits of a segment's name: `00000000.jsonl` is the first. */
const DIGITS = 8;
const SEGMENT_NAME = /^\d{8}\.jsonl$/;
const HASH_BYTES = 32;
const LENGTH_BYTES = 4;

export function segmentPath(directory: string, ordinal: number): string {
  return join(directory, `${String(ordinal).padStart(DIGITS, "0")}.jsonl`);
}

export function hashesPath(directory: string, ordinal: number): string {
  return join(directory, `${String(ordinal).padStart(DIGITS, "0")}.hashes`);
}

/** Ordinals of the segments in a directory, rising; other files are passed over. */
export async function listSegments(files: Files, directory: string): Promise<number[]> {
  const names = await files.list(directory);
  return names.filter((name) => SEGMENT_NAME.test(name)).map((name) => Number.parseInt(name, 10));
}

/** What a sealed segment keeps beside its lines: every leaf hash, and the right edge of the tree at its end. */
export interface SealedHashes {
  first: number;
  count: number;
  /** Lower-case hex. */
  frontier: readonly string[];
}

/** Writes the hashes of a segment that is sealed: leaf hashes, a footer in JSON, and the footer's length in 4 bytes. */
export async function writeHashes(
  files: Files,
  path: string,
  first: number,
  count: number,
  frontier: readonly string[],
  leaves: LeafHashes,
): Promise<void> {
  const hashes = leaves.bytes();
  const sealed: SealedHashes = { first, count, frontier };
  const footer = Buffer.from(JSON.stringify({ ...sealed, crc32: crc32(hashes) }));
  const length = Buffer.alloc(LENGTH_BYTES);
  length.writeUInt32BE(footer.length);
  await files.remove(path);
  const file = await files.open(path, "create");
  try {
    await file.write(Buffer.concat([hashes, footer, length]), 0);
    await file.sync();
  } finally {
    await file.close();
  }
}

/** The footer of a hashes file that agrees with itself. Derived data: without it the segment is hashed anew. */
export async function readHashes(files: Files, path: string): Promise<SealedHashes | undefined> {
  if (!(await files.exists(path))) return undefined;
  const file = await files.open(path, "read");
  try {
    const bytes = Buffer.alloc(await file.size());
    await file.read(bytes, 0);
    return parseHashes(bytes);
  } finally {
    await file.close();
  }
}

function parseHashes(bytes: Buffer): SealedHashes | undefined {
  try {
    const end = bytes.length - LENGTH_BYTES;
    const start = end - bytes.readUInt32BE(end);
    const footer = JSON.parse(bytes.toString("utf8", start, end)) as SealedHashes & { crc32: number };
    return start === footer.count * HASH_BYTES && crc32(bytes.subarray(0, start)) === footer.crc32 ? footer : undefined;
  } catch {
    return undefined;
  }
}
