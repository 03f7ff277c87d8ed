import { isId, type Patterns, type Verb } from "../protocol/index.js";
import type { GrantRequest } from "./broker.js";

/** A token as somebody asks for it. Ids and patterns are of the id grammar; patterns know `*` and `**`. */
export interface TokenRequest {
  role: "worker" | "orchestrator" | "auditor";
  /** Whose token it is; of a worker, its worker id. */
  subject: string;
  worker?: string;
  issue?: string;
  lane?: string;
  /** Auditor: may read texts too. */
  text?: boolean;
  /** Orchestrator: may look, not correct. */
  watchOnly?: boolean;
  /** Milliseconds from now until the token holds no more; default: for ever. */
  expiresInMs?: number;
}

const OPERATOR = "operator";

const EVERYWHERE: Patterns = { worker: "**", issue: "**", lane: "**" };

/** The operator's grant: correct, watch, audit and administer everywhere; never act as a worker. */
export const OPERATOR_GRANT: GrantRequest = {
  role: OPERATOR,
  subject: OPERATOR,
  verbs: ["correct", "watch", "audit", "audit.text", "admin"],
  patterns: EVERYWHERE,
};

/**
 * The grant that a token request means (PROTOCOL.md section 8). Throws RangeError with one sentence that says what to
 * do: an omitted pattern is refused, since nothing is covered by default.
 */
export function grantRequest(request: TokenRequest): GrantRequest {
  const { role, subject, expiresInMs } = request;
  if (!isId(subject)) throw new RangeError("--subject takes an id: 1-128 ASCII characters, no blanks; see encodeId");
  if (subject === OPERATOR) throw new RangeError("the subject 'operator' is the operator token's own; choose another");
  if (expiresInMs !== undefined && !(Number.isSafeInteger(expiresInMs) && expiresInMs > 0)) {
    throw new RangeError("--expires takes a time from now, such as 30m, 24h or 7d");
  }
  const grant = { role, subject, verbs: verbsOf(request), patterns: patternsOf(request) };
  return expiresInMs === undefined ? grant : { ...grant, expiresInMs };
}

function verbsOf({ role, text, watchOnly }: TokenRequest): readonly Verb[] {
  if (text === true && role !== "auditor") throw new RangeError("--text goes with --role auditor");
  if (watchOnly === true && role !== "orchestrator") throw new RangeError("--watch-only goes with --role orchestrator");
  if (role === "worker") return ["publish", "receive", "ack"];
  if (role === "auditor") return text === true ? ["audit", "audit.text"] : ["audit"];
  return watchOnly === true ? ["watch"] : ["correct", "watch"];
}

function patternsOf({ role, subject, worker, issue, lane }: TokenRequest): Patterns {
  if (role === "auditor") {
    if (worker !== undefined || issue !== undefined || lane !== undefined) {
      throw new RangeError("an auditor reads the whole log; leave --worker, --issue and --lane out");
    }
    return EVERYWHERE;
  }
  if (role === "worker" && worker !== undefined && worker !== subject) {
    throw new RangeError("a worker's token acts as its subject only; leave --worker out");
  }
  return {
    worker: role === "worker" ? subject : pattern("worker", worker),
    issue: pattern("issue", issue),
    lane: pattern("lane", lane),
  };
}

function pattern(name: string, value: string | undefined): string {
  if (value === undefined) throw new RangeError(`say what the token covers with --${name}; --${name} '**' covers all`);
  if (!isId(value)) throw new RangeError(`--${name} takes an id or a pattern: 1-128 ASCII characters, no blanks`);
  return value;
}
