import { isValid, mayTake, type Grant } from "../kernel/index.js";
import {
  CLOSE,
  LIMITS,
  PROTOCOL,
  TEXT_POLICY,
  type Close,
  type Refusal,
  type Reply,
  type ReplyOf,
  type RequestOf,
} from "../protocol/index.js";
import { cursorAt, sizeOfCursor } from "./cursors.js";
import type { Parts } from "./parts.js";
import type { Peer } from "./peer.js";
import { Session, type WorkerSeat } from "./session.js";
import { openStages, resume } from "./stages.js";
import { identify } from "./tokens.js";

type Hello = RequestOf<"hello">;

/** A session that stands, or why the connection is closed. */
export type Opened = { session: Session; expiresAt?: number } | { close: Close; refusal?: Reply };

/** Judges the first frame: who is there by its token, and whether the token lets it take that role. */
export function hello(parts: Parts, peer: Peer, request: Hello, proven: string | undefined): Opened {
  const { core } = parts;
  const token = request.token === undefined ? proven : identify(parts.hashes, request.token);
  const grant = token === undefined ? undefined : core.state.grants.get(token);
  const now = core.now();
  // A token in the header and another in the frame: nobody can say who that is.
  const torn = proven !== undefined && token !== proven;
  if (token === undefined || grant === undefined || torn || !isValid(grant, now))
    return { close: CLOSE.UNAUTHENTICATED };
  const misplaced = misplacedField(request);
  if (misplaced !== undefined) {
    const refusal = refuseHello(request.id, { reason: "MALFORMED", detail: "SHAPE", path: misplaced });
    return { close: CLOSE.BAD_FRAME, refusal };
  }
  const { role } = request;
  if (!mayTake(grant, role, request.worker_id)) {
    recordRefusal(parts, grant, request);
    return { close: CLOSE.ROLE_NOT_GRANTED };
  }

  const seat: WorkerSeat | undefined =
    role === "worker" ? { workerId: grant.subject, inboxOpen: request.inbox ?? true } : undefined;
  const by = { role, subject: grant.subject, token: grant.token };
  const session = new Session(
    `s_${parts.chance.bytes(12).toString("hex")}`,
    role,
    by,
    peer,
    parts.limits.outgoing_bytes,
    seat,
  );
  const refused = enter(parts, session, request);
  if (refused !== undefined) return { close: refused };
  return { session, ...(grant.expires_at !== undefined && { expiresAt: grant.expires_at }) };
}

export function refuseHello(id: string, refusal: Refusal): Reply {
  return { type: "refusal", id, ...refusal };
}

// Whose token it is is known, so it is a refusal like any other: in the log, or counted.
function recordRefusal({ core, folds }: Parts, grant: Grant, { role, worker_id }: Hello): void {
  const by = { role: grant.role, subject: grant.subject, token: grant.token };
  const command = { kind: "take_role" as const, by, role, ...(worker_id !== undefined && { worker_id }) };
  core.execute(command, ({ answer }, now) => {
    if (answer.kind === "refused" && answer.folded) folds.count(by, answer.refusal.reason, now);
  });
}

// Fields that belong to one role are out of place in another's hello; a worker must say which worker it is.
function misplacedField(request: Hello): string | undefined {
  if (request.role === "worker") {
    if (request.worker_id === undefined) return "worker_id";
    return request.resume_from === undefined ? undefined : "resume_from";
  }
  if (request.worker_id !== undefined) return "worker_id";
  if (request.lease_ms !== undefined) return "lease_ms";
  if (request.inbox !== undefined) return "inbox";
  return request.role === "auditor" && request.resume_from !== undefined ? "resume_from" : undefined;
}

/** Registers the session and welcomes it; a worker's session fences the one before it. What it returns refuses it. */
function enter(parts: Parts, session: Session, request: Hello): Close | undefined {
  const { core, sessions } = parts;
  const { seat, by } = session;
  if (seat === undefined) {
    sessions.add(session);
    welcome(parts, session, request);
    return undefined;
  }
  let refused: Close | undefined;
  const lease_ms = request.lease_ms ?? LIMITS.lease_default_ms;
  core.execute(
    { kind: "open_session", by, worker_id: seat.workerId, session: session.id, lease_ms },
    ({ answer }, now) => {
      if (answer.kind === "refused") {
        if (answer.folded) parts.folds.count(by, answer.refusal.reason, now);
        refused = answer.refusal.detail === "REVOKED" ? CLOSE.UNAUTHENTICATED : CLOSE.ROLE_NOT_GRANTED;
        return;
      }
      const older = sessions.worker(seat.workerId);
      sessions.add(session);
      // Behind the answers to what it asked meanwhile: it is told that nothing of that was done.
      if (older !== undefined) core.post(() => core.post(() => older.end(CLOSE.FENCED)));
      welcome(parts, session, request);
    },
    session,
  );
  return refused;
}

function welcome(parts: Parts, session: Session, request: Hello): void {
  const { core, limits } = parts;
  const { shard, size } = core.state;
  const from = request.resume_from === undefined ? size : sizeOfCursor(request.resume_from, shard, size);
  const frame: ReplyOf<"welcome"> = {
    type: "welcome",
    id: request.id,
    protocol: PROTOCOL,
    principal: { role: session.role, subject: session.by.subject },
    session: session.id,
    limits: { ...limits },
    text_policy: TEXT_POLICY,
    cursor: cursorAt(shard, size),
    gap: from === undefined,
  };
  const open = from === undefined ? openStages(core, session) : [];
  session.resuming = from === undefined || from < size;
  core.post(() => {
    session.reply({ ...frame, log: parts.notary.checkpoint() });
    if (session.resuming) session.spawn(resume(core, parts.store, session, from ?? size, open));
  });
}
