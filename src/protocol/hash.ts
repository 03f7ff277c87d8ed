import { createHmac, hash } from "node:crypto";

/** Lower-case hex of SHA-256 over bytes, or over UTF-8. */
export function sha256Hex(data: string | Uint8Array): string {
  return hash("sha256", data, "hex");
}

/** Lower-case hex of HMAC-SHA-256 over UTF-8. */
export function hmacHex(key: Uint8Array, text: string): string {
  return createHmac("sha256", key).update(text).digest("hex");
}
