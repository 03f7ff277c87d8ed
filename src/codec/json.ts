import { SUBPROTOCOL_JSON } from "../protocol/version.js";
import type { Codec } from "./codec.js";
import { decoderOf } from "./decoder.js";
import { scanJson } from "./scan-json.js";

// A byte order mark is no JSON: it stays, to be refused.
const UTF8 = new TextDecoder("utf-8", { ignoreBOM: true });

function read(data: Uint8Array): unknown {
  return JSON.parse(UTF8.decode(data));
}

/** Frames as JSON in text messages, what any language can speak (PROTOCOL.md section 6). */
export const jsonCodec: Codec = {
  subprotocol: SUBPROTOCOL_JSON,
  binary: false,
  encode: (frame) => JSON.stringify(frame),
  decode: decoderOf(scanJson, read),
};
