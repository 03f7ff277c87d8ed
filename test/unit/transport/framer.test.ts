import * as ws from "ws";
import { describe, expect, it } from "vitest";
import type { Codec } from "../../../src/codec/codec.js";
import { framer } from "../../../src/transport/framer.js";

/** ws's own framing, as the buffers that it would write; its types do not tell of it. */
const { Sender } = ws as unknown as {
  Sender: { frame(data: Buffer, options: Record<string, unknown>): Buffer[] };
};

function framedByWs(data: Buffer, opcode: 1 | 2): Buffer {
  return Buffer.concat(Sender.frame(data, { fin: true, rsv1: false, opcode, mask: false, readOnly: true }));
}

const codec = (encode: (frame: object) => string | Uint8Array, binary: boolean): Codec => ({
  subprotocol: "test",
  binary,
  encode,
  decode: () => ({ ok: false }),
});

const SIZES = [0, 1, 125, 126, 127, 65_535, 65_536, 70_000];

describe("a framed message", () => {
  it.each(SIZES)("of %i ASCII characters is the frame that ws writes, as one string", (size) => {
    const text = "x".repeat(size);
    const framed = framer(codec(() => text, false))({});
    expect(typeof framed).toBe("string");
    expect(Buffer.from(framed as string, "latin1").equals(framedByWs(Buffer.from(text), 1))).toBe(true);
  });

  it.each(SIZES)("of %i other characters is the frame that ws writes", (size) => {
    const text = `\u00fc${"\u20ac".repeat(size)}`;
    const framed = framer(codec(() => text, false))({});
    expect(Buffer.from(framed as Buffer).equals(framedByWs(Buffer.from(text), 1))).toBe(true);
  });

  it.each(SIZES)("of %i bytes in a binary codec is the frame that ws writes", (size) => {
    const bytes = new Uint8Array(size).fill(200);
    const framed = framer(codec(() => bytes, true))({});
    expect(Buffer.from(framed as Buffer).equals(framedByWs(Buffer.from(bytes), 2))).toBe(true);
  });
});
