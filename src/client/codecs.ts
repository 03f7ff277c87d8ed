import type { Codec } from "../codec/codec.js";
import { jsonCodec } from "../codec/json.js";
import { msgpackCodec } from "../codec/msgpack.js";

/** How frames can be written, by the name that `ConnectOptions` has for it. */
export const CODECS: Readonly<Record<"json" | "msgpack", Codec>> = { json: jsonCodec, msgpack: msgpackCodec };
