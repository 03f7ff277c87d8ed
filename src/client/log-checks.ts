import {
  Frontier,
  leafHash,
  openCheckpoint,
  parseVerifierKey,
  verifyConsistency,
  verifyInclusion,
} from "../tlog/index.js";
import type { ShownCheckpoint } from "./shown-checkpoint.js";

/** A tree that grows by the lines of a log. */
export interface GrowingTree {
  append(line: string): void;
  /** In base64. */
  root(): string;
}

/** What it takes to hold a log to its word (PROTOCOL.md section 6): a hash and Ed25519, both at once. */
export interface LogChecks {
  isKey(logKey: string): boolean;
  isSigned(note: string, logKey: string): boolean;
  /** Whether `hashes`, in base64, prove that the newer log begins with the older one. */
  isConsistent(older: ShownCheckpoint, newer: ShownCheckpoint, hashes: readonly string[]): boolean;
  /** Whether `hashes`, in base64, prove that the line is the entry at `index`. */
  isIncluded(index: number, line: string, under: ShownCheckpoint, hashes: readonly string[]): boolean;
  tree(): GrowingTree;
}

const bytes = (base64: string): Uint8Array => Buffer.from(base64, "base64");

/** The checks of this platform. */
export const LOG_CHECKS: LogChecks | undefined = {
  isKey: (logKey) => parseVerifierKey(logKey) !== undefined,
  isSigned(note, logKey) {
    const key = parseVerifierKey(logKey);
    return key !== undefined && typeof openCheckpoint(note, key) !== "string";
  },
  isConsistent(older, newer, hashes) {
    if (older.size === 0) return newer.size > 0 || older.root === newer.root;
    return verifyConsistency(older.size, newer.size, bytes(older.root), bytes(newer.root), hashes.map(bytes));
  },
  isIncluded: (index, line, { size, root }, hashes) =>
    verifyInclusion(index, size, leafHash(line), hashes.map(bytes), bytes(root)),
  tree() {
    const frontier = new Frontier();
    return {
      append: (line) => frontier.append(leafHash(line)),
      root: () => Buffer.from(frontier.root()).toString("base64"),
    };
  },
};
