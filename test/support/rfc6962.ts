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
