import { basename } from "node:path";
import { Frontier, leafHash, rootHex } from "../../tlog/index.js";
import type { TornTail } from "../event-store.js";
import { CHUNK_BYTES, holdsBatch, readBatches, type StoredBatch } from "./batches.js";
import { DamagedLog } from "./damage.js";
import type { File, Files } from "./files.js";
import type { Head } from "../event-store.js";
import { LeafHashes } from "./leaf-hashes.js";
import { hashesPath, readHashes, segmentPath, writeHashes } from "./segments.js";
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
  /** The tree over the whole log. */
  frontier: Frontier;
  /** Leaf hashes of the last segment. */
  leaves: LeafHashes;
  torn?: TornTail;
}

/**
 * Reads the whole log into `segments`, checks every byte of it, and finds its end. What does not check at the end of the
 * last segment is set aside when it lies past the head, the part that is known to have been durable, and no whole batch
 * is in it; anything else that does not check is damage. Everything that stays is durable when this resolves.
 */
export async function recover(
  files: Files,
  directory: string,
  ordinals: readonly number[],
  head: Head,
  segments: Segment[],
): Promise<Recovered> {
  const recovery = new Recovery(files, directory, head);
  for (const [at, ordinal] of ordinals.entries()) {
    if (ordinal !== at) throw new DamagedLog(recovery.frontier.size, `segment ${at} of the log is missing`);
    const file = await files.open(segmentPath(directory, ordinal), "write");
    const segment: Segment = {
      ordinal,
      file,
      first: recovery.frontier.size,
      count: 0,
      bytes: 0,
      index: new SparseIndex(),
    };
    segments.push(segment);
    if (at < ordinals.length - 1) await recovery.readSealed(segment);
    else await recovery.hash(segment);
  }
  const last = segments.at(-1);
  const size = last === undefined ? 0 : last.first + last.count;
  const { broken } = recovery;
  if (size < head.size)
    throw new DamagedLog(size, broken ?? `the log ends there, but ${head.size} entries were durable`);
  if (!recovery.headSeen)
    throw new DamagedLog(0, `the head knows another log: no batch here ends at ${head.size} entries`);
  const { frontier, leaves } = recovery;
  if (last === undefined) return { frontier, leaves };
  const torn = broken === undefined ? undefined : await setAside(files, directory, last, broken);
  for (const write of recovery.remade) await write();
  await settle(last, recovery.headEnd);
  return { frontier, leaves, ...(torn !== undefined && { torn }) };
}

class Recovery {
  frontier = new Frontier();
  leaves = new LeafHashes();
  headSeen: boolean;
  /** Where in the segment that was read last the part below the head ends, in bytes. */
  headEnd = 0;
  /** What is wrong behind the last whole batch of the last segment. */
  broken: string | undefined;
  /** Writes hashes that were missing or did not fit; not before the whole log has been checked. */
  readonly remade: (() => Promise<void>)[] = [];
  readonly #files: Files;
  readonly #directory: string;
  readonly #head: Head;

  constructor(files: Files, directory: string, head: Head) {
    this.#files = files;
    this.#directory = directory;
    this.#head = head;
    this.headSeen = head.size === 0;
  }

  /** Reads a sealed segment by its crc32s and takes the tree from its hashes; hashes it anew where those do not fit. */
  async readSealed(segment: Segment): Promise<void> {
    const { file, ordinal, first } = segment;
    const path = hashesPath(this.#directory, ordinal);
    const sealed = await readHashes(this.#files, path);
    let root: string | undefined;
    if (sealed?.first === first) {
      const { broken } = await readBatches(file, 0, first, (batch) => {
        root = batch.line.root;
        this.#note(segment, batch);
      });
      const frontier = sealed.count === segment.count ? frontierOf(first + sealed.count, sealed.frontier) : undefined;
      if (broken === undefined && frontier !== undefined && rootHex(frontier) === root) {
        this.frontier = frontier;
        return;
      }
      Object.assign(segment, { count: 0, bytes: 0, index: new SparseIndex() });
    }
    await this.hash(segment);
    if (this.broken !== undefined) throw new DamagedLog(first + segment.count, this.broken);
    const { leaves } = this;
    const { hashes } = this.frontier.toJSON();
    this.remade.push(() => writeHashes(this.#files, path, first, segment.count, hashes, leaves));
  }

  /** Reads a segment and adds its entries to the tree, up to the first batch that does not check. */
  async hash(segment: Segment): Promise<void> {
    this.leaves = new LeafHashes();
    this.headEnd = 0;
    const { broken } = await readBatches(segment.file, 0, segment.first, (batch) => {
      for (const entry of batch.entries) {
        const hash = leafHash(entry);
        this.frontier.append(hash);
        this.leaves.push(hash);
      }
      // Such a batch checks by itself, so no write was torn here.
      if (rootHex(this.frontier) !== batch.line.root)
        throw new DamagedLog(batch.line.first, "the root of the tree is not the one that the batch tells of");
      this.#note(segment, batch);
    });
    this.broken = broken;
  }

  #note(segment: Segment, { line, offset, end }: StoredBatch): void {
    const { size, root } = this.#head;
    if (line.size === size) {
      if (line.root !== root) throw new DamagedLog(0, `the head knows another log of ${size} entries`);
      this.headSeen = true;
    }
    if (line.size <= size) this.headEnd = end;
    segment.index.add(line.first, offset);
    segment.count += line.count;
    segment.bytes = end;
  }
}

function frontierOf(size: number, hashes: readonly string[]): Frontier | undefined {
  try {
    return Frontier.from(size, hashes);
  } catch {
    return undefined;
  }
}

/** Moves what stands behind the last good batch into a file beside the segment, and cuts the segment there. */
async function setAside(files: Files, directory: string, segment: Segment, broken: string): Promise<TornTail> {
  const { file, ordinal, first, count, bytes } = segment;
  const tail = Buffer.alloc((await file.size()) - bytes);
  await file.read(tail, bytes);
  if (holdsBatch(tail)) throw new DamagedLog(first + count, `${broken}, and yet a whole batch stands there or later`);
  const path = segmentPath(directory, ordinal);
  let n = 0;
  while (await files.exists(`${path}.${n}.torn`)) n += 1;
  const name = `${path}.${n}.torn`;
  const torn = await files.open(name, "create");
  try {
    await torn.write(tail, 0);
    await torn.sync();
  } finally {
    await torn.close();
  }
  await files.syncDirectory(directory);
  await file.truncate(bytes);
  return { file: basename(name), bytes: tail.length };
}

/**
 * Makes durable what a process that is gone may have written without hearing that it was: writes the part above the head
 * again, since a sync that failed can leave it in the cache alone, never to be written (at most what the head lags behind).
 */
async function settle({ file, bytes }: Segment, headEnd: number): Promise<void> {
  for (let at = headEnd; at < bytes; at += CHUNK_BYTES) {
    const chunk = Buffer.alloc(Math.min(CHUNK_BYTES, bytes - at));
    await file.read(chunk, at);
    await file.write(chunk, at);
  }
  await file.sync();
}
