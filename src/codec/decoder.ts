import type { Decoded } from "./codec.js";
import type { Scanned } from "./scan.js";

/** A codec's `decode`: `read` sees only what `scan` lets pass, and if it throws all the same the message is broken. */
export function decoderOf(
  scan: (data: Uint8Array) => Scanned,
  read: (data: Uint8Array) => unknown,
): (data: Uint8Array) => Decoded {
  return (data) => {
    const scanned = scan(data);
    if (!scanned.ok) return scanned;
    try {
      const value = read(data) as object;
      return scanned.fault === undefined ? { ok: true, value } : { ok: true, value, fault: scanned.fault };
    } catch {
      return { ok: false };
    }
  };
}
