import { randomFillSync } from "node:crypto";
import type { Text } from "../kernel/index.js";
import { commitment, utf8Bytes, type TextField } from "../protocol/index.js";

const SALT_BYTES = 32;
const pool = Buffer.alloc(SALT_BYTES * 256);
let used = pool.length;

/** A new text as the kernel holds it, committed to under a fresh salt. */
export function committed(field: TextField, text: string): Text {
  const salt = freshSalt();
  return {
    bytes: utf8Bytes(text),
    commitment: commitment(field, salt, text),
    text,
    salt: salt.toString("hex"),
  };
}

// One system call for 256 salts; each is handed out once.
function freshSalt(): Buffer {
  if (used === pool.length) {
    randomFillSync(pool);
    used = 0;
  }
  used += SALT_BYTES;
  return pool.subarray(used - SALT_BYTES, used);
}
