import { outcomesOf, stageView, type Answer, type Principal, type Step } from "../kernel/index.js";
import type { Outcome, Reply } from "../protocol/index.js";
import type { Untimed } from "./core.js";
import type { Parts } from "./parts.js";
import { viewOf } from "./views.js";

interface Asked {
  type: string;
  id: string;
}

/** The reply frame for what a command came to, worded from the state right after the step. */
export function wordAnswer(
  parts: Parts,
  asked: Asked,
  command: Untimed,
  result: Step,
  by: Principal,
  now: number,
): Reply {
  const { answer } = result;
  const { id } = asked;
  switch (answer.kind) {
    case "refused":
      if (answer.folded) parts.folds.count(by, answer.refusal.reason, now);
      return asked.type === "correct" ? denied(id, command, result, answer) : refusal(id, answer);
    case "admitted":
      return admitted(parts, id, answer);
    case "stage":
      return stage(parts, id, answer, result);
    case "row":
      return row(parts, id, command, answer.changed, result);
    case "done":
      return { type: "ok", id };
  }
}

type Of<K extends Answer["kind"]> = Extract<Answer, { kind: K }>;

function refusal(id: string, { refusal: why, folded }: Of<"refused">): Reply {
  return { type: "refusal", id, ...why, ...(folded && { folded }) };
}

function denied(id: string, command: Untimed, { first, events }: Step, answer: Of<"refused">): Reply {
  const { refusal: why, folded, correctionId, current } = answer;
  const message = command.kind === "correct" || command.kind === "malformed" ? command.message : undefined;
  return {
    type: "receipt",
    id,
    verdict: "DENY",
    ...(message !== undefined && { bytes: message.bytes }),
    ...why,
    ...(correctionId !== undefined && { correction_id: correctionId }),
    // The refusal's entry is the last of its step.
    ...(folded ? { folded } : { index: first + events.length - 1 }),
    ...(current !== undefined && { current }),
  };
}

function admitted({ core }: Parts, id: string, { correctionId, deliverable, replayed }: Of<"admitted">): Reply {
  const correction = core.state.corrections.get(correctionId);
  if (correction === undefined) throw new Error(`admitted ${correctionId} is not in the state`);
  return {
    type: "receipt",
    id,
    verdict: "ALLOW",
    correction_id: correctionId,
    stage: correction.stage,
    index: correction.index,
    bytes: correction.content.message.bytes,
    expires_at: correction.expiresAt,
    deliverable,
    ...(replayed && { replayed }),
  };
}

function stage({ core }: Parts, id: string, { correctionId, planned }: Of<"stage">, result: Step): Reply {
  const correction = core.state.corrections.get(correctionId);
  if (correction === undefined) throw new Error(`judged ${correctionId} is not in the state`);
  const view = stageView(correction);
  const { worker } = correction;
  if (!planned || worker.row === undefined || worker.digest === undefined) return { type: "stage", id, ...view };
  const { seq } = worker.row;
  return { type: "stage", id, ...view, seq, status_digest: worker.digest, outcomes: outcomes(result) };
}

function row({ core, sessions }: Parts, id: string, command: Untimed, changed: boolean, result: Step): Reply {
  const view = command.kind === "status" ? viewOf(sessions, core.state.workers.get(command.worker_id)) : undefined;
  if (view === undefined) throw new Error("a status was taken and there is no row");
  const { row: wire, status_digest, pending } = view;
  return { type: "row", id, row: wire, status_digest, changed, pending, outcomes: outcomes(result) };
}

function outcomes({ events, own, first }: Step): Outcome[] {
  return outcomesOf(events.slice(own), first + own);
}
