import { Frontier, leafHash } from "../../tlog/index.js";
import type { TornTail } from "../event-store.js";
import { readBatches, type StoredBatch } from "./batches.js";
import { DamagedLog } from "./damage.js";
import type { File, Files } from "./files.js";
import type { Head } from "./head.js";
import { LeafHashes } from "./leaf-hashes.js";
import { hashesPath, readHashes, rootHex, segmentPath, writeHashes, type SealedHashes } from "./segments.js";
import { SparseIndex } from "./sparse-index.js";

/** One segment of the log, open for reading; the last one is also written to. */
export interface Segment {
  ordinal: number;
  file: File;
  /** Index of its first entry, and how many it holds. */
  first: number;
  count: number;
  bytes: number;
  index: SparseIndex;
}

export interface Recovered {
  segments: Segment[];
  frontier: Frontier;
  /** Leaf hashes of the last segment. */
  leaves: LeafHashes;
  torn?: TornTail;
}

/**
 * Reads the whole log, checks every byte of it, and finds its end. A tail that does not check is set aside when it lies
 * past the head, the part that is known to have been durable; anything else that does not check is damage.
 */
export async function recover(files: Files, directory: string, count: number, head: Head): Promise<Recovered> {
  const recovered: Recovered = { segments: [], frontier: new Frontier(), leaves: new LeafHashes() };
  let headSeen = head.size === 0;
  const see = (size: number, root: string): void => {
    if (size !== head.size) return;
    if (root !== head.root) throw new DamagedLog(size, "the head knows another log of this size");
    headSeen = true;
  };
  for (let ordinal = 0; ordinal < count; ordinal += 1) {
    const file = await files.open(segmentPath(directory, ordinal), false);
    const first = recovered.frontier.size;
    if (ordinal < count - 1) {
      const sealed = await readHashes(files, hashesPath(directory, ordinal));
      const segment =
        (await readSealed(file, ordinal, first, sealed, recovered, see)) ??
        (await hashSealed(files, directory, file, ordinal, recovered, see));
      recovered.segments.push(segment);
      continue;
    }
    const { segment, broken } = await hashSegment(file, ordinal, recovered, see);
    recovered.segments.push(segment);
    const size = first + segment.count;
    if (broken === undefined) continue;
    if (size < head.size) throw new DamagedLog(size, broken);
    recovered.torn = await setAside(files, directory, segment);
  }
  const { size } = recovered.frontier;
  if (size < head.size) throw new DamagedLog(size, `the log ends there, but ${head.size} entries were durable`);
  if (!headSeen) throw new DamagedLog(head.size, "the head does not stand at the end of a batch");
  return recovered;
}

type See = (size: number, root: string) => void;

/** Reads a sealed segment by its crc32s and takes the tree from its hashes; undefined where those do not fit. */
async function readSealed(
  file: File,
  ordinal: number,
  first: number,
  sealed: SealedHashes | undefined,
  recovered: Recovered,
  see: See,
): Promise<Segment | undefined> {
  if (sealed?.first !== first) return undefined;
  const segment = emptySegment(file, ordinal, first);
  let root = "";
  const { broken } = await readBatches(file, 0, first, (batch) => {
    root = batch.line.root;
    see(batch.line.size, root);
    note(segment, batch);
  });
  if (broken !== undefined) throw new DamagedLog(first + segment.count, broken);
  const frontier = frontierOf(first + segment.count, sealed.frontier);
  if (frontier === undefined || rootHex(frontier) !== root || sealed.count !== segment.count) return undefined;
  recovered.frontier = frontier;
  return segment;
}

async function hashSealed(
  files: Files,
  directory: string,
  file: File,
  ordinal: number,
  recovered: Recovered,
  see: See,
): Promise<Segment> {
  const { segment, broken } = await hashSegment(file, ordinal, recovered, see);
  const { first, count } = segment;
  if (broken !== undefined) throw new DamagedLog(first + count, broken);
  await writeHashes(files, hashesPath(directory, ordinal), first, count, recovered.frontier, recovered.leaves);
  return segment;
}

/** Reads a segment and adds its entries to the tree, up to the first batch that does not check. */
async function hashSegment(
  file: File,
  ordinal: number,
  recovered: Recovered,
  see: See,
): Promise<{ segment: Segment; broken: string | undefined }> {
  const start = recovered.frontier.toJSON();
  const segment = emptySegment(file, ordinal, start.size);
  const leaves = new LeafHashes();
  let wrongRoot: string | undefined;
  const { broken } = await readBatches(file, 0, start.size, (batch) => {
    const hashes = batch.entries.map((entry) => leafHash(entry));
    for (const hash of hashes) recovered.frontier.append(hash);
    if (rootHex(recovered.frontier) !== batch.line.root) {
      wrongRoot = "the root of the tree is not the one that the batch tells of";
      return false;
    }
    for (const hash of hashes) leaves.push(hash);
    see(batch.line.size, batch.line.root);
    note(segment, batch);
    return true;
  });
  recovered.leaves = leaves;
  if (wrongRoot !== undefined) {
    // Take the tree back to the last good batch.
    recovered.frontier = Frontier.from(start.size, start.hashes);
    for (const hash of leaves) recovered.frontier.append(hash);
  }
  return { segment, broken: wrongRoot ?? broken };
}

function emptySegment(file: File, ordinal: number, first: number): Segment {
  return { ordinal, file, first, count: 0, bytes: 0, index: new SparseIndex() };
}

function note(segment: Segment, { line, offset, end }: StoredBatch): void {
  segment.index.add(line.first, offset);
  segment.count += line.count;
  segment.bytes = end;
}

function frontierOf(size: number, hashes: readonly string[]): Frontier | undefined {
  try {
    return Frontier.from(size, hashes);
  } catch {
    return undefined;
  }
}

/** Moves what stands behind the last good batch into a file beside the segment, and cuts the segment there. */
async function setAside(files: Files, directory: string, { file, ordinal, bytes }: Segment): Promise<TornTail> {
  const tail = await file.read((await file.size()) - bytes, bytes);
  const segment = segmentPath(directory, ordinal);
  let n = 0;
  while (await files.exists(`${segment}.${n}.torn`)) n += 1;
  const name = `${segment}.${n}.torn`;
  const torn = await files.open(name, true);
  await torn.write(tail, 0);
  await torn.sync();
  await torn.close();
  await files.syncDirectory(directory);
  await file.truncate(bytes);
  await file.sync();
  return { file: name, bytes: tail.length };
}
