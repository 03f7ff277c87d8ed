import { sha256Hex } from "./hash.js";

/** The texts that a log leaf never holds, only commits to (WITNESS-LOG.md). */
export const TEXT_FIELDS = ["message", "last_action", "summary", "reason"] as const;
export type TextField = (typeof TEXT_FIELDS)[number];

/** Of one UTF-16 code unit. */
const MAX_UTF8_BYTES = 3;

/** Lower-case hex of SHA-256 over "a2achan/commit/v1" NUL field NUL salt (32 bytes) text (UTF-8). */
export function commitment(field: TextField, salt: Uint8Array, text: string): string {
  const prefix = `a2achan/commit/v1\0${field}\0`;
  const preimage = Buffer.allocUnsafe(prefix.length + salt.length + MAX_UTF8_BYTES * text.length);
  let end = preimage.write(prefix, "latin1");
  preimage.set(salt, end);
  end += salt.length;
  end += preimage.write(text, end);
  return sha256Hex(preimage.subarray(0, end));
}
