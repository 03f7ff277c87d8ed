import { covers, isOpen, type Refusal, type WorkerStatus } from "../protocol/index.js";
import { coveredRow, grantFor, refuseVerb } from "./authority.js";
import type { Correct } from "./commands.js";
import type { Decision } from "./decision.js";
import type { Admitted, Ended, Row } from "./events.js";
import { ended } from "./lifecycle.js";
import { refuse } from "./refuse.js";
import { wireRow } from "./rows.js";
import type { Correction, State, Worker } from "./state.js";

/** Admission of a correction: the checks of PROTOCOL.md section 3 in their order; the first that fails decides. */
export function decideCorrect(state: State, command: Correct): Decision {
  const { now, by, content, message, correction_id } = command;
  const worker = state.workers.get(content.worker_id);
  const no = (refusal: Refusal, seq?: number, current?: WorkerStatus): Decision => {
    const asked = { worker_id: content.worker_id, correction_id, content: { ...content, message } };
    return refuse(state, now, by, "correct", refusal, { ...asked, ...(seq !== undefined && { seq }) }, current);
  };

  const verb = refuseVerb(state, by, "correct", now);
  if (verb !== undefined) return no(verb);
  const grant = grantFor(state, by, "correct", now);
  if (grant === undefined || !covers(grant.patterns, content)) {
    return no({ reason: "DEFAULT_DENY", detail: "NO_GRANT" });
  }
  if (content.orchestrator_id !== undefined && content.orchestrator_id !== by.subject) {
    return no({ reason: "TRUST_VIOLATION", detail: "PRINCIPAL" });
  }
  const maxBytes = Math.min(content.max_bytes ?? Infinity, state.limits.message_bytes);
  if (message.bytes > maxBytes) return no({ reason: "OVERSIZE", bytes: message.bytes, max_bytes: maxBytes });

  const before = state.corrections.get(correction_id);
  if (before !== undefined) {
    const deliverable = command.reachable && isOpen(before.stage) && worker?.row?.live === true;
    return { events: [], answer: { kind: "admitted", correctionId: before.id, replayed: true, deliverable } };
  }

  const row = coveredRow(worker, grant);
  if (worker === undefined || row === undefined) return no({ reason: "UNWITNESSED", detail: "NO_ROW" });
  if (!row.live) return no({ reason: "UNWITNESSED", detail: worker.ended ? "ENDED" : "NOT_LIVE" }, row.seq);
  if (content.status_digest !== worker.digest) {
    const watches = grantFor(state, by, "watch", now) !== undefined;
    return no({ reason: "UNWITNESSED", detail: "DIGEST" }, row.seq, watches ? wireRow(row) : undefined);
  }
  if (content.issue !== row.issue || content.task_id !== row.task_id || content.lane !== row.lane) {
    return no({ reason: "TRUST_VIOLATION", detail: "SCOPE" }, row.seq);
  }
  const old = content.supersedes === undefined ? undefined : state.corrections.get(content.supersedes);
  if (content.supersedes !== undefined) {
    const own = old !== undefined && old.sender.subject === by.subject && old.worker === worker;
    if (!own) return no({ reason: "TRUST_VIOLATION", detail: "SUPERSEDES" });
    if (!isOpen(old.stage)) return no({ reason: "UNWITNESSED", detail: "SUPERSEDES" });
  }
  const full = refuseRoom(state, worker, command, old);
  if (full !== undefined) return no(full);
  return admit(state, command, row, old);
}

function refuseRoom(state: State, worker: Worker, command: Correct, old: Correction | undefined): Refusal | undefined {
  const { now, by, content } = command;
  const { open_per_worker, open_per_worker_halt, admitted_per_window, citing_per_digest, rate_window_ms } =
    state.limits;
  const room = content.priority === "halt" ? open_per_worker_halt : open_per_worker;
  if (worker.open.size - (old === undefined ? 0 : 1) >= room) return { reason: "RATE_LIMITED", detail: "INBOX_FULL" };
  const times = state.senders.get(by.subject)?.admittedTimes ?? [];
  const often = overRate(times, admitted_per_window, rate_window_ms, now);
  const many = (worker.citing.get(by.subject)?.length ?? 0) >= citing_per_digest;
  return often || many ? { reason: "RATE_LIMITED", detail: "RATE" } : undefined;
}

/** Whether `most` things already happened in the window of `windowMs` that ends now; `times` holds the latest ones. */
export function overRate(times: readonly number[], most: number, windowMs: number, now: number): boolean {
  const oldest = times.length < most ? undefined : times[times.length - most];
  return oldest !== undefined && now - oldest < windowMs;
}

function admit(state: State, command: Correct, row: Row, old: Correction | undefined): Decision {
  const { now, by, content, message, correction_id } = command;
  const admitted: Admitted = {
    kind: "admitted",
    at: now,
    by,
    correction_id,
    worker_id: row.worker_id,
    orchestrator_id: by.subject,
    content: { message, ...content },
    seq: row.seq,
    expires_at: now + (content.ttl_ms ?? state.limits.ttl_default_ms),
    deliverable: command.reachable,
  };
  const replaced: Ended[] =
    old === undefined ? [] : [ended(old, "superseded", now, by, { superseded_by: correction_id })];
  return {
    events: [admitted, ...replaced],
    answer: { kind: "admitted", correctionId: correction_id, replayed: false, deliverable: command.reachable },
  };
}
