import { writeMsgpack } from "../support/msgpack.js";
import type { Random } from "../support/random.js";

/** A message, and the value it was written from where nothing was done to it since. */
export interface Fuzzed {
  bytes: Uint8Array;
  written?: object;
}

const KEYS = "type id worker_id issue lane message status_digest next_action reflects constructor a b".split(" ");
const TYPES = ["hello", "status", "ack", "correct", "get", "ping", "obey"];
const TEXTS = [
  "",
  "src/lane",
  "é",
  "\ufeffmark",
  "a\u0000b",
  "😀",
  "x".repeat(40),
  "\ufeff".repeat(30),
  "ß".repeat(200),
];
const NUMBERS = [0, 1, -1, 127, 128, -32, -33, 65_536, 2 ** 31, 2 ** 32, 1_700_000_000_000, 2 ** 53 - 1, 1 - 2 ** 53];
/** What breaks the number rule; written in every format that holds it. */
const BAD_NUMBERS = [
  -0,
  0.5,
  -1.5,
  1e300,
  2 ** 53,
  -(2 ** 53),
  Number.NaN,
  Number.POSITIVE_INFINITY,
  2n ** 63n,
  2n ** 53n,
];

/** Values, and things that look like values, from outside the profile: as hex. */
const HOSTILE = [
  ["c1", "c400", "c403010203", "c50001ff", "c6ffffffff", "c6000000010a"], // never used, bin
  ["d4720163", "d572400091a161a162", "d47240", "41", "d6ff00000000", "c70cff000000000000000000000000", "d40000"], // records, timestamps, undefined
  ["d4780091a3616263", "c72078", "c7017800", "d462", "d662ffffffff", "d57000", "d47300", "d474", "c8000165"], // regexp, error, bundles, pointers
  ["dbffffffff", "ddffffffff", "dfffffffff", "dcffff", "deffff", "d9ff61", "df7fffffff"], // lengths beyond the message
  ["a1ff", "a2c080", "a3eda080", "a4f4908080", "a1c3", "a2c361", "d902c3"], // bad UTF-8
  ["81a95f5f70726f746f5f5f80", "82a16101a16102", "81a001", "8101c0", "81c0c0", "81a14101", "8191a161c0", "81c40161c0"], // keys
  ["91".repeat(9), "81a161".repeat(9), "91".repeat(7) + "c0"], // depth
]
  .flat()
  .map((hex) => Buffer.from(hex, "hex"));

/** Messages of every kind: written by the profile, changed afterwards, with hostile pieces put in, and plain noise. */
export function fuzzed(random: Random): Fuzzed {
  const { bytes, ...rest } = made(random);
  // A plain array whose memory ends where the message does, as in browsers, or a view into more, as sockets give it.
  return { bytes: random(2) === 0 ? new Uint8Array(bytes) : bytes, ...rest };
}

function made(random: Random): Fuzzed {
  const kind = random(10);
  if (kind === 0) return { bytes: noise(random, random(48)) };
  const written = object(random, 1 + random(7));
  const bytes = writeMsgpack(written, random);
  if (kind < 4) return { bytes, written };
  if (kind === 4) return { bytes: writeMsgpack({ ...written, n: { o: [oneOf(BAD_NUMBERS, random)] } }, random) };
  let changed = bytes;
  for (let edits = 1 + random(3); edits > 0; edits -= 1) changed = edited(changed, random);
  return { bytes: changed };
}

function oneOf<T>(list: readonly T[], random: Random): T {
  return list[random(list.length)] as T;
}

function noise(random: Random, length: number): Buffer {
  const bytes = Buffer.alloc(length);
  for (let at = 0; at < length; at += 1) bytes[at] = random(256);
  if (length > 0 && random(2) === 0) bytes[0] = 0x80 + random(4);
  return bytes;
}

function object(random: Random, depth: number): Record<string, unknown> {
  const fields: Record<string, unknown> = {};
  if (random(2) === 0) fields["type"] = oneOf(TYPES, random);
  if (random(2) === 0) fields["id"] = "1";
  for (let left = random(random(12) === 0 ? 40 : 5); left > 0; left -= 1) {
    fields[random(3) === 0 ? `k${random(50)}` : oneOf(KEYS, random)] = value(random, depth - 1);
  }
  return fields;
}

function value(random: Random, depth: number): unknown {
  switch (random(depth > 0 ? 8 : 5)) {
    case 0:
      return oneOf([null, true, false], random);
    case 1:
    case 2:
      return random(2) === 0 ? oneOf(NUMBERS, random) : random(1_000);
    case 3:
    case 4:
      return oneOf(TEXTS, random).repeat(1 + random(2));
    case 5:
      return object(random, depth);
    default:
      return Array.from({ length: random(random(12) === 0 ? 20 : 4) }, () => value(random, depth - 1));
  }
}

function edited(bytes: Buffer, random: Random): Buffer {
  const at = random(bytes.length + 1);
  const insert = (piece: Uint8Array, remove = 0): Buffer =>
    Buffer.concat([bytes.subarray(0, at), piece, bytes.subarray(at + remove)]);
  switch (random(6)) {
    case 0:
      return bytes.subarray(0, at);
    case 1:
      return insert(Buffer.alloc(0), 1 + random(3));
    case 2:
      return insert(noise(random, 1), 1);
    case 3:
      return insert(noise(random, 1 + random(3)));
    case 4:
      return insert(oneOf(HOSTILE, random), random(2));
    default: {
      // One field more, so that the piece stands where a value is due and the rest stays sound.
      const fields = (bytes[0] ?? 0) & 15;
      if (fields === 15 || ((bytes[0] ?? 0) & 0xf0) !== 0x80) return insert(oneOf(HOSTILE, random));
      return Buffer.concat([
        Buffer.of(0x81 + fields),
        bytes.subarray(1),
        Buffer.from("\u00a1h", "latin1"),
        oneOf(HOSTILE, random),
      ]);
    }
  }
}
