import { createHash } from "node:crypto";

const sha256 = (...parts: readonly (string | Uint8Array)[]): Buffer => {
  const hash = createHash("sha256");
  for (const part of parts) hash.update(part);
  return hash.digest();
};

/** The root of the tree over lines of the log, as RFC 6962 section 2.1 defines it; lower-case hex. */
export function rootOf(lines: readonly string[]): string {
  return hashOf(lines).toString("hex");
}

function hashOf(lines: readonly string[]): Buffer {
  const [only] = lines;
  if (only === undefined) return sha256();
  if (lines.length === 1) return sha256("\x00", only);
  let split = 1;
  while (split * 2 < lines.length) split *= 2;
  return sha256("\x01", hashOf(lines.slice(0, split)), hashOf(lines.slice(split)));
}

/** The commitment to a text in the log: what WITNESS-LOG.md says, over what an auditor is given. */
export function commitmentOf({ field, salt, utf8 }: { field: string; salt: string; utf8: string }): string {
  return sha256("a2achan/commit/v1", "\x00", field, "\x00", Buffer.from(salt, "hex"), utf8).toString("hex");
}
