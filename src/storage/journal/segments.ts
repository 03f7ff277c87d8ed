import { join } from "node:path";
import { crc32 } from "node:zlib";
import type { Frontier } from "../../tlog/index.js";
import { DamagedLog } from "./damage.js";
import type { Files } from "./files.js";
import type { LeafHashes } from "./leaf-hashes.js";

/** Digits of a segment's name: `00000000.jsonl` is the first. */
const DIGITS = 8;
const HASH_BYTES = 32;
const LENGTH_BYTES = 4;

export function segmentPath(directory: string, ordinal: number): string {
  return join(directory, `${String(ordinal).padStart(DIGITS, "0")}.jsonl`);
}

export function hashesPath(directory: string, ordinal: number): string {
  return join(directory, `${String(ordinal).padStart(DIGITS, "0")}.hashes`);
}

export function rootHex(frontier: Frontier): string {
  return Buffer.from(frontier.root()).toString("hex");
}

/** How many segments there are. Throws DamagedLog when one is missing among them. */
export async function countSegments(files: Files, directory: string): Promise<number> {
  const names = (await files.list(directory)).filter((name) => /^\d{8}\.jsonl$/.test(name));
  names.forEach((name, ordinal) => {
    if (Number.parseInt(name, 10) !== ordinal) throw new DamagedLog(0, `segment ${ordinal} of the log is missing`);
  });
  return names.length;
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
  frontier: Frontier,
  leaves: LeafHashes,
): Promise<void> {
  await files.remove(path);
  const file = await files.open(path, true);
  const hashes = leaves.bytes();
  const sealed: SealedHashes = { first, count, frontier: frontier.toJSON().hashes };
  const footer = Buffer.from(JSON.stringify({ ...sealed, crc32: crc32(hashes) }));
  const length = Buffer.alloc(LENGTH_BYTES);
  length.writeUInt32BE(footer.length);
  await file.write(Buffer.concat([hashes, footer, length]), 0);
  await file.sync();
  await file.close();
}

/** The footer of a hashes file that agrees with itself. Derived data: without it the segment is hashed anew. */
export async function readHashes(files: Files, path: string): Promise<SealedHashes | undefined> {
  if (!(await files.exists(path))) return undefined;
  const file = await files.open(path, false);
  try {
    const bytes = Buffer.from(await file.read(await file.size(), 0));
    const end = bytes.length - LENGTH_BYTES;
    const start = end - bytes.readUInt32BE(end);
    const footer = JSON.parse(bytes.toString("utf8", start, end)) as SealedHashes & { crc32: number };
    return start === footer.count * HASH_BYTES && crc32(bytes.subarray(0, start)) === footer.crc32 ? footer : undefined;
  } catch {
    return undefined;
  } finally {
    await file.close();
  }
}
