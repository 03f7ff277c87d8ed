import { createHash, createHmac } from "node:crypto";
import canonicalize from "canonicalize";
import type { KernelEvent } from "../../src/kernel/index.js";

/** What the log alone says, kept in the plainest way; shares no code with the kernel, only the types of its events. */
export interface BookedCorrection {
  id: string;
  index: number;
  workerId: string;
  sender: string;
  content: Extract<KernelEvent, { kind: "admitted" }>["content"];
  admittedAt: number;
  window: number;
  dueAt: number;
  stage: string;
  detail?: string | undefined;
  sessions: string[];
  acked: boolean;
  lateAck: boolean;
}

export interface BookedWorker {
  id: string;
  session?: string | undefined;
  row?: Extract<KernelEvent, { kind: "status" }>["row"];
  digest?: string;
  ended: boolean;
  entries: number;
  published: number[];
}

export interface BookedGrant {
  token: string;
  subject: string;
  role: string;
  verbs: readonly string[];
  patterns: { worker: string; issue: string; lane: string };
  expiresAt: number;
  revoked: boolean;
}

interface Scope {
  worker_id: string;
  issue: string;
  lane: string;
}

export class LogBook {
  size = 0;
  readonly workers = new Map<string, BookedWorker>();
  readonly corrections = new Map<string, BookedCorrection>();
  readonly grants = new Map<string, BookedGrant>();
  /** Times of the refusals that were logged singly, by role and subject. */
  readonly refusals = new Map<string, number[]>();

  worker(id: string): BookedWorker {
    const known = this.workers.get(id);
    if (known !== undefined) return known;
    const fresh: BookedWorker = { id, ended: false, entries: 0, published: [] };
    this.workers.set(id, fresh);
    return fresh;
  }

  /** Open corrections of a worker in admission order. */
  open(workerId: string): BookedCorrection[] {
    return [...this.corrections.values()].filter((one) => one.workerId === workerId && isOpenStage(one.stage));
  }

  /** Commitments of the texts that must stay for now: messages of open corrections, and what stands in current rows. */
  needed(): Record<"open" | "row", ReadonlySet<string | undefined>> {
    const open = [...this.corrections.values()].filter(({ stage }) => isOpenStage(stage));
    const row = [...this.workers.values()].flatMap((worker) => [
      worker.row?.last_action,
      worker.row?.next_action?.summary,
    ]);
    return {
      open: new Set(open.map(({ content }) => content.message.commitment)),
      row: new Set(row.map((text) => text?.commitment)),
    };
  }

  /** Ids that wait for a worker in the order of delivery: halts first, then by admission; acked ones wait no more. */
  queue(workerId: string): string[] {
    const waiting = this.open(workerId).filter(({ stage }) => stage !== "ACKED");
    const byPriority = [true, false].map((halt) =>
      waiting.filter(({ content }) => (content.priority === "halt") === halt).sort((a, b) => a.index - b.index),
    );
    return byPriority.flat().map(({ id }) => id);
  }

  /** Whether some token of `subject` that holds at `at` has the verb, and covers the scope if one is given. */
  allows(subject: string, verb: string, at: number, scope?: Scope): boolean {
    return [...this.grants.values()].some((grant) => grant.subject === subject && holds(grant, verb, at, scope));
  }

  apply(event: KernelEvent, index: number): void {
    this.size = index + 1;
    switch (event.kind) {
      case "broker_started":
        for (const worker of this.workers.values()) worker.session = undefined;
        break;
      case "grant_added": {
        const { token, subject, role, verbs, patterns, expires_at: expiresAt = Infinity } = event;
        this.grants.set(token, { token, subject, role, verbs, patterns, expiresAt, revoked: false });
        break;
      }
      case "grant_revoked": {
        const grant = this.grants.get(event.token);
        if (grant !== undefined) grant.revoked = true;
        break;
      }
      case "session_opened":
        this.worker(event.worker_id).session = event.session;
        break;
      case "status": {
        const worker = this.worker(event.worker_id);
        worker.row = event.row;
        worker.digest = event.status_digest;
        worker.ended = event.cause === "ended";
        if (worker.ended) worker.session = undefined;
        if (event.cause === "published") worker.published.push(event.at);
        break;
      }
      case "admitted": {
        const { correction_id: id, worker_id: workerId, orchestrator_id: sender, content, at, expires_at } = event;
        const times = { admittedAt: at, window: expires_at - at, dueAt: expires_at };
        const fresh = { stage: "ADMITTED", sessions: [], acked: false, lateAck: false };
        this.corrections.set(id, { id, index, workerId, sender, content, ...times, ...fresh });
        break;
      }
      case "refused": {
        const who = `${event.by.role} ${event.by.subject}`;
        this.refusals.set(who, [...(this.refusals.get(who) ?? []), event.at]);
        break;
      }
      default:
        if ("correction_id" in event) this.#move(event);
    }
    const worker =
      "worker_id" in event && event.worker_id !== undefined ? this.workers.get(event.worker_id) : undefined;
    if (worker?.row !== undefined) worker.entries += 1;
  }

  #move(event: Extract<KernelEvent, { correction_id: string }>): void {
    const correction = this.corrections.get(event.correction_id);
    if (correction === undefined) return;
    if (event.kind === "late_ack") correction.lateAck = true;
    else if (event.kind === "delivered") {
      correction.sessions.push(event.session);
      correction.stage = "DELIVERED";
    } else if (event.kind === "acked") {
      correction.stage = "ACKED";
      correction.acked = true;
      correction.dueAt = event.expires_at;
    } else {
      correction.stage = event.kind.toUpperCase();
      correction.detail = "detail" in event ? event.detail : undefined;
    }
  }
}

export function isOpenStage(stage: string): boolean {
  return ["ADMITTED", "DELIVERED", "ACKED"].includes(stage);
}

export function holds(grant: BookedGrant, verb: string, at: number, scope?: Scope): boolean {
  if (grant.revoked || at >= grant.expiresAt || !grant.verbs.includes(verb)) return false;
  if (scope === undefined) return true;
  const { worker, issue, lane } = grant.patterns;
  return matches(worker, scope.worker_id) && matches(issue, scope.issue) && matches(lane, scope.lane, false);
}

/** A grant pattern by way of a regular expression. */
function matches(pattern: string, id: string, whole = true): boolean {
  if (whole && pattern === "*") return true;
  const parts = pattern.split(/(\*\*|\*)/).map((part) => {
    if (part === "**") return "[^]*";
    return part === "*" ? "[^/]*" : part.replace(/[.*+?^${}()|[\]\\/-]/g, "\\$&");
  });
  return new RegExp(`^${parts.join("")}$`).test(id);
}

/** The digest of a row by other means: the canonicalize package and node's own hash. */
export function digestOf(row: NonNullable<BookedWorker["row"]>): string {
  const { last_action, next_action, ...rest } = row;
  const wire = {
    schema: "a2achan.worker-status.v1",
    ...rest,
    ...(last_action && { last_action: last_action.text }),
    ...(next_action && { next_action: { summary: next_action.summary.text, reflects: next_action.reflects } }),
  };
  return `sha256:${createHash("sha256")
    .update(`${canonicalize(wire)}`)
    .digest("hex")}`;
}

/** The id of a correction by other means. */
export function idOf(content: BookedCorrection["content"], sender: string, idKey: Uint8Array): string {
  const named = { ...content, message: content.message.text, orchestrator_id: sender };
  return `corr_${createHmac("sha256", idKey)
    .update(`${canonicalize(named)}`)
    .digest("hex")
    .slice(0, 32)}`;
}
