import { randomFillSync } from "node:crypto";

/** The only source of randomness in the broker; tests give their own. */
export interface Chance {
  /** So many bytes, at most 8,192, that nobody can foresee; valid until the next call. */
  bytes(count: number): Buffer;
}

const pool = Buffer.alloc(8_192);
let used = pool.length;

// One system call for many salts; each byte is handed out once.
export const systemChance: Chance = {
  bytes: (count) => {
    if (used + count > pool.length) {
      randomFillSync(pool);
      used = 0;
    }
    used += count;
    return pool.subarray(used - count, used);
  },
};
