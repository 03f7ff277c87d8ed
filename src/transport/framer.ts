import type { Codec } from "../codec/codec.js";

/** A message as the bytes of one unmasked WebSocket frame: a string of one character a byte, or the bytes. */
export type Framed = string | Buffer;

export type Framer = (frame: object) => Framed;

/** Lengths that the second byte of a frame, and the two behind it, have no room for (RFC 6455 section 5.2). */
const SHORT = 126;
const LONG = 65_536;

const TEXT = 0x81;
const BINARY = 0x82;

/**
 * Encodes and frames in one. The same function for every connection of a codec: a frame that goes to many is made once.
 * ASCII stays a string, which costs Node a third of what a list of buffers does.
 */
export function framer(codec: Codec): Framer {
  const first = codec.binary ? BINARY : TEXT;
  return (frame) => {
    const message = codec.encode(frame);
    const bytes = Buffer.byteLength(message);
    if (typeof message === "string" && bytes === message.length) return latin1Header(first, bytes) + message;
    const header = Buffer.from(latin1Header(first, bytes), "latin1");
    return Buffer.concat([header, typeof message === "string" ? Buffer.from(message) : message]);
  };
}

function latin1Header(first: number, bytes: number): string {
  if (bytes < SHORT) return String.fromCharCode(first, bytes);
  if (bytes < LONG) return String.fromCharCode(first, SHORT, bytes >> 8, bytes & 255);
  const length = [24, 16, 8, 0].map((shift) => (bytes >>> shift) & 255);
  return String.fromCharCode(first, SHORT + 1, 0, 0, 0, 0, ...length);
}
