import { createHmac, hash } from "node:crypto";

/** Of one UTF-16 code unit. */
const MAX_UTF8_BYTES = 3;

/** Lower-case hex of SHA-256 over bytes, or over UTF-8. */
export function sha256Hex(data: string | Uint8Array): string {
  return hash("sha256", data, "hex");
}

/** Lower-case hex of SHA-256 over an ASCII prefix, a salt and a text in UTF-8. */
export function saltedHex(prefix: string, salt: Uint8Array, text: string): string {
  const preimage = Buffer.allocUnsafe(prefix.length + salt.length + MAX_UTF8_BYTES * text.length);
  let end = preimage.write(prefix, "latin1");
  preimage.set(salt, end);
  end += salt.length;
  end += preimage.write(text, end);
  return sha256Hex(preimage.subarray(0, end));
}

/** Lower-case hex of HMAC-SHA-256 over UTF-8. */
export function hmacHex(key: Uint8Array, text: string): string {
  return createHmac("sha256", key).update(text).digest("hex");
}
