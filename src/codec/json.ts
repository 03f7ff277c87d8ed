import { SUBPROTOCOL_JSON } from "../protocol/version.js";
import type { Codec, Decoded } from "./codec.js";
import { scanJson } from "./scan-json.js";

// A byte order mark is no JSON: it stays, to be refused.
const UTF8 = new TextDecoder("utf-8", { ignoreBOM: true });

function decode(data: Uint8Array): Decoded {
  const scanned = scanJson(data);
  if (!scanned.ok) return scanned;
  try {
    const value = JSON.parse(UTF8.decode(data)) as object;
    return scanned.fault === undefined ? { ok: true, value } : { ok: true, value, fault: scanned.fault };
  } catch {
    return { ok: false };
  }
}

/** Frames as JSON in text messages, what any language can speak (PROTOCOL.md section 6). */
export const jsonCodec: Codec = {
  subprotocol: SUBPROTOCOL_JSON,
  binary: false,
  encode: (frame) => JSON.stringify(frame),
  decode,
};
