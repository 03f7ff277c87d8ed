import type { Codec } from "../codec/codec.js";
import { jsonCodec } from "../codec/json.js";

/**
 * `codecs.js` without MessagePack, which would be half of a page's bundle: what `#codecs` means to a bundler for
 * browsers. Frames say the same in either form.
 */
export const CODECS: Readonly<Record<"json" | "msgpack", Codec>> = { json: jsonCodec, msgpack: jsonCodec };
