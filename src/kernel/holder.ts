import type { Refusal } from "../protocol/index.js";
import { refuseOther, refuseVerb } from "./authority.js";
import type { Ack, Bye, Decline, Receive, Status } from "./commands.js";
import type { Decision } from "./decision.js";
import { refuse } from "./refuse.js";
import type { Correction, State } from "./state.js";

type WorkerCommand = Status | Receive | Ack | Decline | Bye;

/** What every worker request must pass: its verb, its own worker, and being that worker's current session. */
export function refuseWorker(state: State, command: WorkerCommand): Refusal | undefined {
  const { by, kind, worker_id, now } = command;
  const authority = refuseVerb(state, by, kind, now) ?? refuseOther(by, worker_id);
  if (authority !== undefined) return authority;
  const current = state.workers.get(worker_id)?.session;
  return current === command.session ? undefined : { reason: "LEASE_HELD", detail: "SESSION" };
}

/**
 * The correction that a worker's current session names, or the refusal: one answer for an unknown id and another
 * worker's; an ack or decline must cite the digest that the correction cited.
 */
export function heldCorrection(state: State, command: Receive | Ack | Decline): Correction | Decision {
  const { now, by, kind, correction_id, worker_id, session } = command;
  const no = (refusal: Refusal): Decision =>
    refuse(state, now, by, kind, refusal, {
      worker_id,
      session,
      correction_id,
      ...("status_digest" in command && { status_digest: command.status_digest }),
    });
  const refusal = refuseWorker(state, command);
  if (refusal !== undefined) return no(refusal);
  const correction = state.corrections.get(correction_id);
  if (correction === undefined || correction.worker.id !== worker_id) {
    return no({ reason: "TRUST_VIOLATION", detail: "CORRECTION" });
  }
  if ("status_digest" in command && command.status_digest !== correction.content.status_digest) {
    return no({ reason: "TRUST_VIOLATION", detail: "CITED" });
  }
  return correction;
}
