import { type Checkpoint, openCheckpoint } from "./checkpoint.js";
import { leafHash, verifyInclusion } from "./merkle.js";
import { fromBase64, type NoteFault, type VerifierKey } from "./note.js";
import { HASH_BYTES } from "./preimage.js";

const FIRST_LINE = "c2sp.org/tlog-proof@v1";

/** That one entry is in a log, for a file of its own (C2SP tlog-proof). */
export interface TlogProof {
  index: number;
  /** The entry's line, as the proof's extra data: it counts for nothing until the proof holds. */
  entry: string;
  /** Audit path of the leaf, its sibling first. */
  hashes: readonly Uint8Array[];
  /** The signed checkpoint, verbatim. */
  checkpoint: string;
}

export function formatTlogProof({ index, entry, hashes, checkpoint }: TlogProof): string {
  const lines = [FIRST_LINE, `extra ${Buffer.from(entry).toString("base64")}`, `index ${index}`];
  for (const hash of hashes) lines.push(Buffer.from(hash).toString("base64"));
  return `${lines.join("\n")}\n\n${checkpoint}`;
}

/** Reads a proof; undefined unless it has the form. What it claims is not checked. */
export function parseTlogProof(text: string): TlogProof | undefined {
  const end = text.indexOf("\n\n");
  if (end === -1) return undefined;
  const [first, extra, place, ...rest] = text.slice(0, end).split("\n");
  const entry = /^extra (.+)$/.exec(extra ?? "")?.[1];
  const digits = /^index (0|[1-9]\d{0,15})$/.exec(place ?? "")?.[1];
  if (first !== FIRST_LINE || entry === undefined || digits === undefined) return undefined;
  const line = fromBase64(entry);
  const hashes = rest.map(fromBase64);
  if (line === undefined || !hashes.every((hash) => hash?.length === HASH_BYTES)) return undefined;
  return {
    index: Number(digits),
    entry: line.toString("utf8"),
    hashes: hashes as Uint8Array[],
    checkpoint: text.slice(end + 2),
  };
}

/** The checkpoint under which the entry stands at its index, or why the proof is not taken. Total. */
export function verifyTlogProof(
  { index, entry, hashes, checkpoint }: TlogProof,
  log: VerifierKey,
): Checkpoint | NoteFault | "not_included" {
  const opened = openCheckpoint(checkpoint, log);
  if (typeof opened === "string") return opened;
  return verifyInclusion(index, opened.size, leafHash(entry), hashes, opened.root) ? opened : "not_included";
}
