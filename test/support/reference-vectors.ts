import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

export type Fields = Readonly<Record<string, string | boolean>>;
export interface Judged {
  verdict: string;
  reason: string;
}

/** One admission of the reference: its row, its request, and what it answered. */
export interface Admission {
  name: string;
  caps: string[];
  row: Fields;
  request: Readonly<Record<string, string>>;
  expect: Judged & { bytes: number; enqueued: number };
}

/** One life cycle of the reference: the row at each moment, and what was answered then. */
export interface LifeCycle {
  name: string;
  summary: string;
  row_at_send: Fields;
  row_at_receive: Fields;
  row_at_ack: Fields;
  receive: Judged & { left_in_inbox: number };
  ack?: Judged;
  observe: { acked: boolean; reflected: boolean };
}

const path = fileURLToPath(new URL("../../spec/vectors/reference-admission.json", import.meta.url));
export const reference = JSON.parse(readFileSync(path, "utf8")) as {
  max_bytes: number;
  admission: Admission[];
  life_cycle: LifeCycle[];
};

/** The reference's zero values say that a field is not given; this vector is about the zero itself. */
const ZERO_IS_MEANT = "allow: max_bytes 0 -> 1024";

/** What a request cites that does not cite the current digest, where a vector is about the way in which it is wrong. */
const WRONG_DIGESTS: Readonly<Record<string, (current: string) => string>> = {
  "unwitnessed: digest upper-case hex": (current) => `sha256:${current.slice(7).toUpperCase()}`,
  "unwitnessed: digest without prefix": (current) => current.slice(7),
  "unwitnessed: digest with trailing space": (current) => `${current} `,
};

/** The subject whose token sends the request of an admission. */
export function subjectOf({ request }: Admission): string {
  return request["orchestrator_id"] === "orch2" ? "orch2" : "orch";
}

/** The request of an admission as a client sends it, where `current` is the digest of its row. */
export function requestOf({ name, request }: Admission, current: string): Uint8Array {
  const { worker_id = "", issue, task_id, lane, message, message_b64, max_bytes, orchestrator_id = "" } = request;
  const cited = request["status_digest"];
  const wrong = WRONG_DIGESTS[name]?.(current) ?? "sha256:of another row";
  const frame = {
    type: "correct",
    id: "1",
    worker_id,
    issue,
    lane,
    message: message ?? "\ufffd",
    orchestrator_id,
    ...(task_id !== "" && { task_id }),
    ...(cited !== "none" && { status_digest: cited === "current" ? current : wrong }),
    ...((max_bytes !== "0" || name === ZERO_IS_MEANT) && { max_bytes: Number(max_bytes) }),
  };
  return bytesOf(frame, message_b64 === undefined ? undefined : Buffer.from(message_b64, "base64"));
}

/** The frame's bytes as a client sends them; a lone `\ufffd` stands for bytes that are no UTF-8. */
export function bytesOf(frame: object, raw?: Uint8Array): Uint8Array {
  const text = JSON.stringify(frame);
  if (raw === undefined) return Buffer.from(text);
  const [before = "", after = ""] = text.split("\ufffd");
  return Buffer.concat([Buffer.from(before), raw, Buffer.from(after)]);
}

const AUTHORITY_FIRST = "3.13: authority is checked before shape, row and scope";
const ID_GRAMMAR = "2.13: ids have a grammar";
const HIDDEN = "2.26: hidden characters are refused";
const NO_SUCH_WORKER = "3.7: a worker without a row is UNWITNESSED, whatever row there is elsewhere";
const ISSUE_IS_A_STRING = "2.15: an issue is a string, so that 0 and -5 are issues like others";
const MAX_BYTES = "3.3: max_bytes is at least 1";
export const NOT_UTF8 = "6.48: bytes that are no UTF-8 are no request";
const NO_SUCH_ROW = "6.45: no integer is beyond 2^53-1, so that no row has this seq";

type Difference = readonly [verdict: string, reason: string, clause: string];

/** Where this protocol deliberately answers otherwise than the reference, by vector, with the clause that makes it so. */
export const ADMISSION_DIFFERENCES: Readonly<Record<string, Difference>> = {
  "allow: seq 2^53+1": ["DENY", "UNWITNESSED", NO_SUCH_ROW],
  "allow: message with <>& and U+2028": ["DENY", "MALFORMED", HIDDEN],
  "allow: message with NUL and ESC": ["DENY", "MALFORMED", HIDDEN],
  "allow: message with bidi override (not filtered)": ["DENY", "MALFORMED", HIDDEN],
  "allow: message only U+FEFF (Go TrimSpace keeps BOM)": ["DENY", "MALFORMED", HIDDEN],
  "allow: message only U+200B": ["DENY", "MALFORMED", HIDDEN],
  "allow: message only U+180E": ["DENY", "MALFORMED", HIDDEN],
  "allow: orchestrator padded with spaces kept": ["DENY", "MALFORMED", ID_GRAMMAR],
  "allow: max_bytes 0 -> 1024": ["DENY", "MALFORMED", MAX_BYTES],
  "allow: max_bytes -1 -> 1024": ["DENY", "MALFORMED", MAX_BYTES],
  "allow: lane with spaces inside": ["DENY", "MALFORMED", ID_GRAMMAR],
  "malformed: issue 0": ["DENY", "TRUST_VIOLATION", ISSUE_IS_A_STRING],
  "malformed: issue negative": ["DENY", "TRUST_VIOLATION", ISSUE_IS_A_STRING],
  "malformed: message invalid utf-8": ["CLOSE", "4400", NOT_UTF8],
  "malformed wins over oversize (invalid utf-8, 2000 bytes)": ["CLOSE", "4400", NOT_UTF8],
  "malformed wins over missing digest": ["DENY", "UNWITNESSED", ISSUE_IS_A_STRING],
  "malformed wins over no capability": ["DENY", "DEFAULT_DENY", AUTHORITY_FIRST],
  "unwitnessed: live row issue 0": ["DENY", "TRUST_VIOLATION", ISSUE_IS_A_STRING],
  "unwitnessed wins over no capability": ["DENY", "DEFAULT_DENY", AUTHORITY_FIRST],
  "trust: worker mismatch": ["DENY", "UNWITNESSED", NO_SUCH_WORKER],
  "trust: lane padded": ["DENY", "MALFORMED", ID_GRAMMAR],
  "trust: lane NFC vs NFD": ["DENY", "MALFORMED", ID_GRAMMAR],
  "trust: every scope field mismatched": ["DENY", "UNWITNESSED", NO_SUCH_WORKER],
  "trust wins over no capability": ["DENY", "DEFAULT_DENY", AUTHORITY_FIRST],
};
