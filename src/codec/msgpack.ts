import { Packr } from "msgpackr/index-no-eval";
import { SUBPROTOCOL_MSGPACK } from "../protocol/version.js";
import type { Codec } from "./codec.js";
import { decoderOf } from "./decoder.js";
import { scanMsgpack } from "./scan-msgpack.js";

// Maps as plain objects, never records: nothing that one message says can change how a later one is read.
const packr = new Packr({ useRecords: false, int64AsType: "number", skipValues: [undefined] });

function encode(frame: object): Uint8Array {
  requireWellFormed(frame);
  return packr.pack(frame);
}

// msgpackr would write U+FFFD for a lone surrogate: another text than the one that was meant.
function requireWellFormed(value: unknown): void {
  if (typeof value === "string") {
    if (!value.isWellFormed()) throw new RangeError("MessagePack has no form for a text with a lone surrogate");
  } else if (typeof value === "object" && value !== null) {
    for (const item of Object.values(value)) requireWellFormed(item);
  }
}

const BYTE_ORDER_MARK = [0xef, 0xbb, 0xbf] as const;

function isMark(bytes: Uint8Array, at: number): boolean {
  return BYTE_ORDER_MARK.every((byte, index) => bytes[at + index] === byte);
}

function hasMark(bytes: Uint8Array): boolean {
  const [first] = BYTE_ORDER_MARK;
  for (let at = bytes.indexOf(first); at >= 0; at = bytes.indexOf(first, at + 1)) {
    if (isMark(bytes, at)) return true;
  }
  return false;
}

/** msgpackr's TextDecoder drops a byte order mark at the front of a text. Of two it leaves one: the one that was sent. */
function keepingMarks(bytes: Uint8Array): Uint8Array {
  const source = new Uint8Array(bytes);
  source.subarray = (start, end) => {
    const text = bytes.slice(start, end);
    return isMark(text, 0) ? Uint8Array.of(...BYTE_ORDER_MARK, ...text) : text;
  };
  return source;
}

function read(data: Uint8Array): unknown {
  return packr.unpack(hasMark(data) ? keepingMarks(data) : data);
}

/** Frames as MessagePack in binary messages: the same objects as in JSON (PROTOCOL.md section 6). */
export const msgpackCodec: Codec = {
  subprotocol: SUBPROTOCOL_MSGPACK,
  binary: true,
  encode,
  decode: decoderOf(scanMsgpack, read),
};
