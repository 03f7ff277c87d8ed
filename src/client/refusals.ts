import type { Detail, Reason, Refusal, ReplyOf } from "../protocol/index.js";
import { bodyOf } from "./frames.js";

/** A refused request, as a value (PROTOCOL.md section 7): nothing happened, and the connection goes on. */
export interface Refused extends Refusal {
  refused: true;
  /** One sentence that says what to do. */
  advice: string;
  /** The broker counted this refusal instead of logging it by itself. */
  folded?: true;
}

/** Whether an answer is a refusal. */
export function isRefused(answer: unknown): answer is Refused {
  return typeof answer === "object" && answer !== null && "refused" in answer && answer.refused === true;
}

export function refusedBy(reply: ReplyOf<"refusal">): Refused {
  const body = bodyOf(reply);
  return { ...body, refused: true, advice: adviceFor(body) };
}

const ADVICE: Readonly<Record<Exclude<Reason, "OVERSIZE">, string> & Partial<Record<Detail, string>>> = {
  DEFAULT_DENY: "Ask for a token whose grant covers this.",
  NO_GRANT: "The token's grant does not cover this; ask for one that covers this worker, issue and lane.",
  REVOKED: "The token is revoked or expired; get a new one.",
  MALFORMED: "Correct the request.",
  SHAPE: "A field is missing, unknown or of the wrong form; correct it.",
  ID: "An id is 1-128 printable ASCII characters without blanks, quotes, angle brackets, .. or // (encodeId makes one of any text); that of a correction is corr_ and 32 hex digits.",
  TEXT_BLANK: "The text is empty or only white space; write at least one visible character.",
  TEXT_HIDDEN: "The text holds a character that people do not see; remove it.",
  TEXT_ENCODING: "The text holds half of a surrogate pair; send the whole character.",
  UNWITNESSED: "Read the row again, decide again, and send again.",
  NO_ROW: "No such worker that this grant covers has published a row; check the worker id and the grant.",
  NOT_LIVE: "The row is not live; wait until its worker publishes again.",
  ENDED: "The worker has said bye; there is nobody to correct.",
  DIGEST: "The row has changed since it was read; read it again, decide again, and send again.",
  SEQ: "The row has another seq than expected; read it again.",
  TRUST_VIOLATION: "The request names what is not this client's to name; correct it.",
  PRINCIPAL: "Leave orchestrator_id out; the token says who sends.",
  SCOPE: "Issue, task and lane must be those of the row that is cited; take them from the row.",
  SUPERSEDES: "Only an open correction of one's own for the same worker can be superseded; send without it.",
  CORRECTION: "This worker holds no such correction; use an id that was delivered to it.",
  CITED: "Cite the digest that the correction cited.",
  RATE_LIMITED: "Wait a second, then send again.",
  INBOX_FULL: "The worker has as many open corrections as it may; wait for one to end, or withdraw or supersede one.",
  RATE: "Too many in one second; wait a second, then send again.",
  LEASE_HELD: "A newer session of this worker took over; stop this one.",
};

/** One sentence that says what to do about a refusal. */
export function adviceFor({ reason, detail, path, bytes, max_bytes }: Refusal): string {
  if (reason === "OVERSIZE")
    return `The text is ${bytes ?? "too many"} bytes of at most ${max_bytes ?? "fewer"}; shorten it.`;
  const sentence = (detail === undefined ? undefined : ADVICE[detail]) ?? ADVICE[reason];
  return path === undefined ? sentence : `${sentence} (${path})`;
}
