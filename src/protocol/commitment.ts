import { saltedHex } from "#sha256";

/** The texts that a log leaf never holds, only commits to (WITNESS-LOG.md). */
export const TEXT_FIELDS = ["message", "last_action", "summary", "reason"] as const;
export type TextField = (typeof TEXT_FIELDS)[number];

/** Lower-case hex of SHA-256 over "a2achan/commit/v1" NUL field NUL salt (32 bytes) text (UTF-8). */
export function commitment(field: TextField, salt: Uint8Array, text: string): string {
  return saltedHex(`a2achan/commit/v1\0${field}\0`, salt, text);
}
