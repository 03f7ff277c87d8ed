import { readMsgpack, writeMsgpack } from "../support/msgpack.js";

export type CodecName = "json" | "msgpack";

/** How a client writes and reads the frames of one subprotocol. */
export interface Codec {
  binary: boolean;
  write(value: unknown): string | Uint8Array;
  read(data: Buffer): object;
}

const CODECS: Readonly<Record<CodecName, Codec>> = {
  json: {
    binary: false,
    write: (value) => JSON.stringify(value),
    read: (data) => JSON.parse(data.toString("utf8")) as object,
  },
  msgpack: { binary: true, write: (value) => writeMsgpack(value), read: readMsgpack },
};

export function subprotocolOf(codec: CodecName): string {
  return `a2achan.v1.${codec}`;
}

/** The codec that a broker selected. */
export function codecOf(subprotocol: string): Codec {
  const found = Object.entries(CODECS).find(([name]) => subprotocolOf(name as CodecName) === subprotocol);
  if (found === undefined) throw new Error(`there is no subprotocol ${subprotocol}`);
  return found[1];
}

/** The codecs to play over: the one that A2ACHAN_CODEC names, else all. */
export function codecsToPlay(): CodecName[] {
  const { A2ACHAN_CODEC: wanted } = process.env;
  const all = Object.keys(CODECS) as CodecName[];
  if (wanted === undefined) return all;
  const named = all.filter((name) => name === wanted);
  if (named.length === 0) throw new Error(`A2ACHAN_CODEC is ${wanted}; it is one of ${all.join(", ")}`);
  return named;
}
