import {
  ROLE_VERBS,
  covers,
  type RequestType,
  REQUEST_VERB,
  type Refusal,
  type Role,
  type Verb,
} from "../protocol/index.js";
import type { TakeRole } from "./commands.js";
import type { Principal } from "./events.js";
import type { Correction, Grant, State, Worker } from "./state.js";

const NO_GRANT: Refusal = { reason: "DEFAULT_DENY", detail: "NO_GRANT" };
const REVOKED: Refusal = { reason: "DEFAULT_DENY", detail: "REVOKED" };

/** Whether a token is neither revoked nor expired. */
export function isValid(grant: Grant, now: number): boolean {
  return !grant.revoked && (grant.expires_at === undefined || now < grant.expires_at);
}

/** The grant of the token that the principal showed; its subject must be the principal's. */
function grantOf(state: State, { token, subject }: Principal): Grant | undefined {
  const grant = token === undefined ? undefined : state.grants.get(token);
  return grant?.subject === subject ? grant : undefined;
}

/** The principal's grant if it holds now and both it and the session's role allow the verb. */
export function grantFor(state: State, by: Principal, verb: Verb, now: number): Grant | undefined {
  const grant = grantOf(state, by);
  return grant !== undefined && isValid(grant, now) && allows(grant, by, verb) ? grant : undefined;
}

function allows(grant: Grant, { role }: Principal, verb: Verb): boolean {
  if (role === "broker" || role === "operator") return false;
  return grant.verbs.includes(verb) && ROLE_VERBS[role].includes(verb);
}

/** Check 0 of every request: does the token grant this verb at all (PROTOCOL.md section 3). */
export function refuseVerb(state: State, by: Principal, request: RequestType, now: number): Refusal | undefined {
  const grant = grantOf(state, by);
  if (grant === undefined) return NO_GRANT;
  if (!isValid(grant, now)) return REVOKED;
  const verb = REQUEST_VERB[request];
  if (verb === "any") return undefined;
  if (verb === "unserved") return NO_GRANT;
  return allows(grant, by, verb) ? undefined : NO_GRANT;
}

/** Whether a token lets its bearer take a role, and as a worker be the one of that name. An operator is no worker. */
export function mayTake(grant: Grant, role: Role, worker_id: string | undefined): boolean {
  const takes = grant.role === "operator" ? role !== "worker" : grant.role === role;
  return takes && (role !== "worker" || worker_id === grant.subject);
}

/** Whether the token that the principal showed lets it take a role. Only a good one in its own role is refused anything. */
export function refuseRole(state: State, { by, role, worker_id, now }: TakeRole): Refusal | undefined {
  const grant = grantOf(state, by);
  if (grant === undefined || grant.role !== by.role || !isValid(grant, now)) return undefined;
  return mayTake(grant, role, worker_id) ? undefined : NO_GRANT;
}

/** A worker's token speaks for one worker only, the one that is its subject. */
export function refuseOther(by: Principal, worker_id: string): Refusal | undefined {
  return by.subject === worker_id ? undefined : NO_GRANT;
}

/** Whether some valid token of the sender covers the scope of a correction. */
export function stillCovered(state: State, { sender, content }: Correction, now: number): boolean {
  for (const token of state.tokensOf.get(sender.subject) ?? []) {
    const grant = state.grants.get(token);
    if (grant?.subject !== sender.subject || !isValid(grant, now) || !grant.verbs.includes("correct")) continue;
    if (covers(grant.patterns, content)) return true;
  }
  return false;
}

/** The worker's row if the grant covers it. */
export function coveredRow(worker: Worker | undefined, grant: Grant): Worker["row"] {
  return worker?.row !== undefined && covers(grant.patterns, worker.row) ? worker.row : undefined;
}
