import { hmac } from "@noble/hashes/hmac.js";
import { sha256 } from "@noble/hashes/sha2.js";
import { bytesToHex, utf8ToBytes } from "@noble/hashes/utils.js";

// `hash.js` without Node: what `#sha256` means to a bundler for browsers, where no hash of the platform is synchronous.

export function sha256Hex(data: string | Uint8Array): string {
  return bytesToHex(sha256(typeof data === "string" ? utf8ToBytes(data) : data));
}

export function saltedHex(prefix: string, salt: Uint8Array, text: string): string {
  return bytesToHex(sha256.create().update(utf8ToBytes(prefix)).update(salt).update(utf8ToBytes(text)).digest());
}

export function hmacHex(key: Uint8Array, text: string): string {
  return bytesToHex(hmac(sha256, key, utf8ToBytes(text)));
}
