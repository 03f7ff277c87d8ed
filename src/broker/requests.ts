import type { PlannedText } from "../kernel/index.js";
import {
  CLOSE,
  correctionId,
  type MalformedRequest,
  type PlannedAction,
  type Request,
  type RequestOf,
} from "../protocol/index.js";
import type { Chance } from "./chance.js";
import type { Untimed } from "./core.js";
import type { Parts } from "./parts.js";
import { serve } from "./reads.js";
import type { Session, WorkerSeat } from "./session.js";
import { committed } from "./texts.js";
import { wordAnswer } from "./wording.js";

type WorkerRequest = RequestOf<"status" | "receive" | "ack" | "decline" | "bye">;

/** Turns one request of a session into a command, decides it, and posts the answer. */
export function handle(parts: Parts, session: Session, request: Request): void {
  const command = commandOf(parts, session, request);
  parts.core.execute(
    command,
    (result, now) => {
      if (result.answer.kind === "done" && command.kind === "read") return serve(parts, session, request, now);
      const frame = wordAnswer(parts, request, command, result, session.by, now);
      parts.core.post(() => {
        session.reply(frame);
        if (request.type === "bye" && frame.type === "ok") session.end(CLOSE.DONE);
      });
    },
    session,
  );
}

/** Refuses a request of bad shape, after the checks that come before shape. */
export function handleMalformed(parts: Parts, session: Session, malformed: MalformedRequest): void {
  const { type, message, refusal } = malformed;
  const workerId = session.seat?.workerId ?? malformed.worker_id;
  const command: Untimed = {
    kind: "malformed",
    by: session.by,
    request: type,
    refusal,
    session: session.id,
    ...(workerId !== undefined && { worker_id: workerId }),
    ...(message !== undefined && { message: committed("message", message, parts.chance) }),
  };
  parts.core.execute(
    command,
    (result, now) => {
      const frame = wordAnswer(parts, malformed, command, result, session.by, now);
      parts.core.post(() => session.reply(frame));
    },
    session,
  );
}

function commandOf(parts: Parts, session: Session, request: Request): Untimed {
  const { seat, by } = session;
  switch (request.type) {
    case "correct":
      return correct(parts, session, request);
    case "withdraw":
    case "stage":
      return { kind: request.type, by, correction_id: request.correction_id };
    case "status":
    case "receive":
    case "ack":
    case "decline":
    case "bye":
      // Without a seat the role lacks the verb: judged as such, and no worker is named.
      if (seat !== undefined) return fromWorker(parts.chance, session, seat, request);
      break;
    default:
  }
  const of = seat === undefined ? {} : { worker_id: seat.workerId };
  return { kind: "read", by, request: request.type, session: session.id, ...of };
}

function fromWorker(
  chance: Chance,
  { by, id: session }: Session,
  { workerId: worker_id }: WorkerSeat,
  request: WorkerRequest,
): Untimed {
  const actor = { by, worker_id, session };
  switch (request.type) {
    case "status": {
      const { type: kind, id: _id, last_action, next_action, ...fields } = request;
      return {
        kind,
        ...actor,
        ...fields,
        ...(last_action !== undefined && { last_action: committed("last_action", last_action, chance) }),
        ...(next_action !== undefined && { next_action: planned(chance, next_action) }),
      };
    }
    case "ack": {
      const { correction_id, status_digest, next_action } = request;
      const ack: Untimed & { kind: "ack" } = { kind: "ack", by, worker_id, session, correction_id, status_digest };
      if (next_action !== undefined) ack.next_action = planned(chance, next_action);
      return ack;
    }
    case "decline": {
      const { type: kind, id: _id, reason, ...fields } = request;
      return { kind, ...actor, ...fields, reason: committed("reason", reason, chance) };
    }
    case "receive":
    case "bye": {
      const { type: _type, id: _id, ...fields } = request;
      return { kind: request.type, ...actor, ...fields } as Untimed;
    }
  }
}

function planned(chance: Chance, action: PlannedAction): PlannedText {
  return { ...action, summary: committed("summary", action.summary, chance) };
}

function correct(parts: Parts, { by }: Session, request: RequestOf<"correct">): Untimed {
  const { type: kind, id: _id, ...sent } = request;
  const { message, ...content } = sent;
  return {
    kind,
    by,
    content,
    message: committed("message", message, parts.chance),
    correction_id: correctionId(parts.idKey, sent, by.subject),
    reachable: parts.sessions.worker(content.worker_id)?.seat?.inboxOpen === true,
  };
}
