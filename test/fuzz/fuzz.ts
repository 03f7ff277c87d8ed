import { isDeepStrictEqual } from "node:util";
import { msgpackCodec } from "../../src/codec/msgpack.js";
import { scanMsgpack } from "../../src/codec/scan-msgpack.js";
import { parseRequest } from "../../src/protocol/index.js";
import { judgeMsgpack } from "../support/msgpack.js";
import { randomFrom } from "../support/random.js";
import { fuzzed, type Fuzzed } from "./frames.js";

/** How many messages came out how. */
export interface Figures {
  frames: number;
  taken: number;
  refused: number;
  closed: number;
}

/**
 * Sends `frames` messages to the boundary, the same for the same seed, and adds them to the figures. Throws at the first
 * that makes the boundary throw, or on which scanner, decoder and reference are not of one mind.
 */
export function runFuzz(seed: number, frames: number, into: Figures): void {
  const random = randomFrom(seed);
  for (let frame = 0; frame < frames; frame += 1) {
    const one = fuzzed(random);
    try {
      into[outcomeOf(one)] += 1;
    } catch (cause) {
      throw new Error(`frame ${frame} of seed ${seed}: ${Buffer.from(one.bytes).toString("hex")}`, { cause });
    }
    into.frames += 1;
  }
}

function outcomeOf({ bytes, written }: Fuzzed): "taken" | "refused" | "closed" {
  const decoded = msgpackCodec.decode(bytes);
  const expected = judgeMsgpack(bytes);
  if (!isDeepStrictEqual(decoded, expected)) throw new Error("the codec differs from the reference");
  if (scanMsgpack(bytes).ok !== decoded.ok) throw new Error("the scanner leans on the decoder");
  if (written !== undefined && !isDeepStrictEqual(decoded, { ok: true, value: written })) {
    throw new Error("the frame is not what it was written from");
  }
  if (!decoded.ok) return "closed";
  parseRequest(decoded.value, decoded.fault);
  return decoded.fault === undefined ? "taken" : "refused";
}
