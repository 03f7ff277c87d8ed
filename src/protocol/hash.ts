import { createHash, createHmac } from "node:crypto";

/** Lower-case hex of SHA-256 over UTF-8. */
export function sha256Hex(...parts: readonly (string | Uint8Array)[]): string {
  const hash = createHash("sha256");
  for (const part of parts) hash.update(part);
  return hash.digest("hex");
}

/** Lower-case hex of HMAC-SHA-256 over UTF-8. */
export function hmacHex(key: Uint8Array, text: string): string {
  return createHmac("sha256", key).update(text).digest("hex");
}
