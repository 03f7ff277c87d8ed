import { isOpen, type Refusal } from "../protocol/index.js";
import { refuseVerb } from "./authority.js";
import type { AskStage, Decline, Receive, Withdraw } from "./commands.js";
import type { Decision } from "./decision.js";
import type { Delivered, Ended, KernelEvent, Principal, Row } from "./events.js";
import { sameScope } from "./rows.js";
import { refuse } from "./refuse.js";
import type { Correction, State } from "./state.js";
import { heldCorrection } from "./holder.js";

/** One end of a correction. */
export function ended(
  correction: Correction,
  kind: Ended["kind"],
  now: number,
  by: Principal,
  more: Pick<Ended, "detail" | "echo" | "reason" | "superseded_by"> = {},
): Ended {
  return { kind, at: now, by, ...ofCorrection(correction), ...more };
}

export function ofCorrection(correction: Correction): {
  correction_id: string;
  worker_id: string;
  orchestrator_id: string;
} {
  return { correction_id: correction.id, worker_id: correction.worker.id, orchestrator_id: correction.sender.subject };
}

/** The answer that tells where a correction stands after the step. */
export function stageAnswer(events: readonly KernelEvent[], correction: Correction, planned = false): Decision {
  return { events, answer: { kind: "stage", correctionId: correction.id, planned } };
}

/** The receipt of a session that has not given one yet; none once acked. */
export function receipt(correction: Correction, now: number, by: Principal, session: string): Delivered | undefined {
  if (correction.stage !== "ADMITTED" && correction.stage !== "DELIVERED") return undefined;
  if (correction.lastReceipt === session) return undefined;
  return {
    kind: "delivered",
    at: now,
    by,
    ...ofCorrection(correction),
    session,
    attempt: correction.receipts + 1,
    redelivered: correction.receipts > 0,
    stale_context: correction.worker.digest !== correction.content.status_digest,
  };
}

export function decideReceive(state: State, command: Receive): Decision {
  const { now, by, session } = command;
  const found = heldCorrection(state, command);
  if ("events" in found) return found;
  const delivered = receipt(found, now, by, session);
  return stageAnswer(delivered === undefined ? [] : [delivered], found);
}

export function decideDecline(state: State, command: Decline): Decision {
  const { now, by, session, reason } = command;
  const found = heldCorrection(state, command);
  if ("events" in found) return found;
  if (!isOpen(found.stage) || found.acked) return stageAnswer([], found);
  const delivered = receipt(found, now, by, session);
  const declined = ended(found, "declined", now, by, { reason });
  return stageAnswer(delivered === undefined ? [declined] : [delivered, declined], found);
}

/** `withdraw` and `stage`, from the sender: one answer for an unknown id and another's (PROTOCOL.md section 4). */
export function decideSenders(state: State, command: Withdraw | AskStage): Decision {
  const { now, by, kind, correction_id } = command;
  const no = (refusal: Refusal): Decision => refuse(state, now, by, kind, refusal, { correction_id });
  const verb = refuseVerb(state, by, kind, now);
  if (verb !== undefined) return no(verb);
  const correction = state.corrections.get(correction_id);
  if (correction === undefined || correction.sender.subject !== by.subject) {
    return no({ reason: "DEFAULT_DENY", detail: "NO_GRANT" });
  }
  const open = kind === "withdraw" && correction.stage === "ADMITTED";
  return stageAnswer(open ? [ended(correction, "withdrawn", now, by)] : [], correction);
}

/**
 * What the move of a row from `before` to `after` ends, in admission order: everything open when issue, task or lane
 * moved; otherwise corrections of freshness `exact` that were not yet delivered.
 */
export function staleEnds(open: Iterable<Correction>, before: Row, after: Row, now: number, by: Principal): Ended[] {
  const moved = !sameScope(before, after);
  const ends: Ended[] = [];
  for (const correction of open) {
    const exact = correction.content.freshness === "exact" && correction.stage === "ADMITTED";
    if (!moved && !exact) continue;
    ends.push(ended(correction, "stale", now, by, { detail: moved ? "RUN_CHANGED" : "DIGEST_MOVED" }));
  }
  return ends;
}
