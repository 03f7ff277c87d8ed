import type { Verb } from "./grants.js";
import type { RequestType } from "./requests.js";

/**
 * The verb that each request needs. `any`: every authenticated session may send it. `unserved`: the frame has its
 * shape already, but no grant of this version allows it, so it is refused DEFAULT_DENY/NO_GRANT.
 */
export const REQUEST_VERB: Readonly<Record<RequestType, Verb | "any" | "unserved">> = {
  hello: "any",
  status: "publish",
  receive: "receive",
  ack: "ack",
  decline: "ack",
  progress: "unserved",
  evidence: "unserved",
  inbox: "receive",
  bye: "publish",
  get: "watch",
  list: "watch",
  watch: "watch",
  unwatch: "watch",
  correct: "correct",
  withdraw: "correct",
  stage: "correct",
  log: "audit",
  follow: "audit",
  checkpoint: "any",
  prove: "any",
  ping: "any",
};
