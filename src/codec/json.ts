import { SUBPROTOCOL_JSON } from "../protocol/version.js";
import type { Codec } from "./codec.js";
import { decoderOf } from "./decoder.js";
import { scanJson } from "./scan-json.js";

function read(data: Uint8Array): unknown {
  return JSON.parse(Buffer.from(data.buffer, data.byteOffset, data.byteLength).toString("utf8"));
}

/** Frames as JSON in text messages, what any language can speak (PROTOCOL.md section 6). */
export const jsonCodec: Codec = {
  subprotocol: SUBPROTOCOL_JSON,
  binary: false,
  encode: (frame) => JSON.stringify(frame),
  decode: decoderOf(scanJson, read),
};
