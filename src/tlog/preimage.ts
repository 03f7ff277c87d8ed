import { hash } from "node:crypto";

/** Bytes of every hash here: SHA-256. */
export const HASH_BYTES = 32;

/** Where a node's preimage keeps its children, after its prefix 0x01. */
export const LEFT = 1;
export const RIGHT = LEFT + HASH_BYTES;

/** Room for one node's preimage (RFC 6962 section 2.1), its prefix already there: hashed in place, again and again. */
export function nodePreimage(): Buffer {
  const preimage = Buffer.alloc(RIGHT + HASH_BYTES);
  preimage[0] = 1;
  return preimage;
}

/** SHA-256, 32 bytes as a latin1 string: half the time of a digest that comes with an ArrayBuffer of its own. */
export function digest(data: string | Uint8Array): string {
  return hash("sha256", data, "binary");
}

export function isHash(value: unknown): value is Uint8Array {
  return value instanceof Uint8Array && value.length === HASH_BYTES;
}

/** Throws RangeError for anything but 32 bytes. */
export function requireHash(value: Uint8Array): void {
  if (!isHash(value)) throw new RangeError(`a hash has ${HASH_BYTES} bytes`);
}
