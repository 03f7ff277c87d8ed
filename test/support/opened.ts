import { openCheckpoint, parseVerifierKey } from "../../src/tlog/index.js";

/** Size and root of a checkpoint; throws unless `logKey` signed it. */
export function opened(note: unknown, logKey: string): { size: number; root: Buffer } {
  const key = parseVerifierKey(logKey);
  if (key === undefined) throw new Error(`no verifier key: ${logKey}`);
  const checkpoint = openCheckpoint(String(note), key);
  if (typeof checkpoint === "string") throw new Error(checkpoint);
  return { size: checkpoint.size, root: Buffer.from(checkpoint.root) };
}
