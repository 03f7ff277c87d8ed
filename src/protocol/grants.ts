import { matchesPattern, matchesWhole } from "./patterns.js";

/** Roles that a connection can take, and the operator's token, which takes one of the last two. */
export const ROLES = ["worker", "orchestrator", "auditor"] as const;
export type Role = (typeof ROLES)[number];
export const TOKEN_ROLES = [...ROLES, "operator"] as const;
export type TokenRole = (typeof TOKEN_ROLES)[number];

/** What a grant can allow (PROTOCOL.md section 8). */
export const VERBS = ["publish", "receive", "ack", "correct", "watch", "audit", "audit.text", "admin"] as const;
export type Verb = (typeof VERBS)[number];

/** The verbs that a connection of a role can use at all, whatever its token grants. */
export const ROLE_VERBS: Readonly<Record<Role, readonly Verb[]>> = {
  worker: ["publish", "receive", "ack"],
  orchestrator: ["correct", "watch"],
  auditor: ["audit", "audit.text"],
};

/** Which worker, issue and lane a grant covers: three grant patterns. */
export interface Patterns {
  worker: string;
  issue: string;
  lane: string;
}

/** Where a row or a request stands. */
export interface Scope {
  worker_id: string;
  issue: string;
  lane: string;
}

export function covers(patterns: Patterns, scope: Scope): boolean {
  return (
    matchesWhole(patterns.worker, scope.worker_id) &&
    matchesWhole(patterns.issue, scope.issue) &&
    matchesPattern(patterns.lane, scope.lane)
  );
}
