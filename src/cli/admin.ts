import { grantRequest, type Broker, type RedactionRequest, type TokenRequest } from "../broker/index.js";
import type { Grant } from "../kernel/index.js";
import type { Stage } from "../protocol/index.js";
import type { ControlRequest } from "./control.js";
import { CliError } from "./exit.js";

/** Whoever may open the data directory administers as its operator. */
const OPERATOR = { role: "operator", subject: "operator" } as const;

/** A token as `token list` shows it: never the token itself. */
export interface TokenRecord {
  id: string;
  role: string;
  subject: string;
  worker: string;
  issue: string;
  lane: string;
  verbs: string;
  /** ISO 8601, or absent when it holds for ever. */
  expires?: string;
  /** lost: its grant stands in the log, and its hash in no grants.json, so nobody can be known by it. */
  state: "valid" | "revoked" | "expired" | "lost";
}

/** A correction that has not ended, as `status` shows it. */
export interface OpenRecord {
  correction_id: string;
  worker_id: string;
  /** Subject of its sender. */
  by: string;
  stage: Stage;
  /** Milliseconds of log time: when it was admitted, and when the window that runs now ends. */
  admitted_at: number;
  due_at: number;
}

/** Does what the control socket is asked for. Throws with one sentence when it cannot. */
export async function handleAdmin(broker: Broker, request: ControlRequest): Promise<unknown> {
  switch (request.command) {
    case "ping":
      return {};
    case "token_add":
      return broker.addToken(grantRequest(request.request as TokenRequest), OPERATOR);
    case "token_list":
      return tokenRecords(broker.grants(), broker.clock.now(), (id) => broker.isKnown(id));
    case "open":
      return listOpen(broker);
    case "token_revoke": {
      if (await broker.revokeToken(request.id, OPERATOR)) return { id: request.id, revoked: true };
      throw new CliError(`there is no valid token ${request.id}; see: a2achan token list`);
    }
    case "redact":
      return broker.redact(request.request as RedactionRequest, OPERATOR);
    default:
      throw new CliError("the broker does not know this command; is it of another version?");
  }
}

/** Grants as `token list` shows them, at a time and with the tokens by which somebody can still be known. */
export function tokenRecords(grants: readonly Grant[], now: number, isKnown: (id: string) => boolean): TokenRecord[] {
  return grants.map(({ token, role, subject, patterns, verbs, expires_at, revoked }) => ({
    id: token,
    role,
    subject,
    ...patterns,
    verbs: verbs.join(","),
    ...(expires_at !== undefined && { expires: new Date(expires_at).toISOString() }),
    state: revoked ? "revoked" : (expires_at ?? Infinity) <= now ? "expired" : isKnown(token) ? "valid" : "lost",
  }));
}

function listOpen(broker: Broker): OpenRecord[] {
  return broker.openCorrections().map(({ id, worker, sender, stage, admittedAt, dueAt }) => ({
    correction_id: id,
    worker_id: worker.id,
    by: sender.subject,
    stage,
    admitted_at: admittedAt,
    due_at: dueAt,
  }));
}
