import { jsonCodec } from "../codec/json.js";
import { parseRequest, utf8Bytes, type Reply } from "../protocol/index.js";
import { A2achanError } from "./errors.js";

/**
 * The answer to a request with a text that has no form in MessagePack: what a broker says of the request in JSON
 * (PROTOCOL.md clause 6.48). Nothing was sent, so no entry of the log stands behind it.
 */
export function localRefusal(request: object): Reply {
  const decoded = jsonCodec.decode(new TextEncoder().encode(JSON.stringify(request)));
  const parsed = decoded.ok ? parseRequest(decoded.value, decoded.fault) : undefined;
  // What would close the connection in JSON, too.
  if (parsed?.kind !== "malformed") throw new A2achanError("bad_frame");
  const { type, id, refusal, message } = parsed.malformed;
  if (type !== "correct") return { type: "refusal", id, ...refusal };
  const bytes = message === undefined ? {} : { bytes: utf8Bytes(message) };
  return { type: "receipt", id, verdict: "DENY", ...bytes, ...refusal };
}
