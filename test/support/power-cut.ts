import type { Random } from "./random.js";

/** A write, or a new size. */
export type Change = { at: number; data: Buffer } | { size: number };

/** A file: what a reader sees, what the platters hold, and the changes between the two in their order. */
export interface Node {
  seen: Buffer;
  disk: Buffer;
  pending: Change[];
}

const SECTOR = 512;

export function apply(bytes: Buffer, change: Change): Buffer {
  if ("size" in change) return Buffer.concat([bytes], change.size);
  const { at, data } = change;
  const after = Buffer.alloc(Math.max(bytes.length, at + data.length));
  bytes.copy(after);
  data.copy(after, at);
  return after;
}

type Write = Extract<Change, { data: Buffer }>;

/**
 * What is left of a write to `bytes` that is cut short after `length` bytes. What lay there before is changed by whole
 * sectors, in a cache as on a disk; only a file that grows can end anywhere.
 */
export function cutShort(bytes: Buffer, { at, data }: Write, length: number): Write {
  const end = at + length;
  const whole = end > bytes.length ? end : Math.max(at, end - (end % SECTOR));
  return { at, data: data.subarray(0, whole - at) };
}

/** A file after a power cut: each change that was not synced is there, or not, or in part. */
export function afterPowerCut({ disk, pending }: Node, random: Random): Node {
  const bytes = pending.reduce((kept, change) => {
    const fate = random(5);
    if (fate === 0) return kept;
    if (fate === 1 || "size" in change) return apply(kept, change);
    if (fate === 2) return apply(kept, cutShort(kept, change, random(change.data.length)));
    return tear(kept, change, fate === 3, random);
  }, disk);
  return { seen: bytes, disk: bytes, pending: [] };
}

/** Keeps some sectors of a write; the others are as before, or, where there was nothing, zeros or `garbage`. */
function tear(before: Buffer, change: Write, garbage: boolean, random: Random): Buffer {
  const after = apply(before, change);
  for (let start = change.at - (change.at % SECTOR); start < change.at + change.data.length; start += SECTOR) {
    if (random(2) === 0) continue;
    const [from, to] = [Math.max(start, change.at), Math.min(start + SECTOR, change.at + change.data.length)];
    for (let at = from; at < to; at += 1) after[at] = before[at] ?? (garbage ? random(256) : 0);
  }
  return after;
}
