import { fromBase64, type NoteFault, openNote, type SignerKey, signNote, type VerifierKey } from "./note.js";
import { HASH_BYTES } from "./preimage.js";

/** A tree head that a log stands by (C2SP tlog-checkpoint). */
export interface Checkpoint {
  /** Names the log. */
  origin: string;
  /** Number of leaves. */
  size: number;
  /** Root over them, 32 bytes. */
  root: Uint8Array;
}

/** Signs a tree head under the key's name, which is the origin. */
export function signCheckpoint(size: number, root: Uint8Array, key: SignerKey): string {
  return signNote(`${key.name}\n${size}\n${Buffer.from(root).toString("base64")}\n`, key);
}

/**
 * Opens a checkpoint that is signed by the log's own key. Its first line must be the key's name, and it has no extension
 * lines, which nobody could audit. Total.
 */
export function openCheckpoint(note: string, log: VerifierKey): Checkpoint | NoteFault {
  const opened = openNote(note, [log]);
  if (typeof opened === "string") return opened;
  const checkpoint = parseCheckpoint(opened.text);
  return checkpoint?.origin === log.name ? checkpoint : "malformed";
}

/** Reads the text of a checkpoint, signed or not; undefined unless it has just the three lines in their one form. */
export function parseCheckpoint(text: string): Checkpoint | undefined {
  const [, origin, digits, encoded] = /^([^\n]+)\n(0|[1-9]\d{0,15})\n([^\n]+)\n$/u.exec(text) ?? [];
  const size = Number(digits);
  const root = encoded === undefined ? undefined : fromBase64(encoded);
  if (origin === undefined || !Number.isSafeInteger(size) || root?.length !== HASH_BYTES) return undefined;
  return { origin, size, root };
}
