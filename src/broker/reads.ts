import { coveredRow, grantFor } from "../kernel/index.js";
import type { Reply, Request, RequestOf, View } from "../protocol/index.js";
import { touch } from "./effects.js";
import { pagesOf } from "./pages.js";
import type { Parts } from "./parts.js";
import type { Session } from "./session.js";
import { viewOf } from "./views.js";
import { visible } from "./watchers.js";

/** Answers a request that changes nothing and was allowed: from the state of this turn, sent when that is durable. */
export function serve(parts: Parts, session: Session, request: Request, now: number): void {
  const { core, watchers, followers } = parts;
  const { id } = request;
  const reply = (frame: Reply): void => core.post(() => session.reply(frame));
  switch (request.type) {
    case "ping":
      return reply({ type: "pong", id });
    case "inbox":
      reply({ type: "ok", id });
      return setInbox(parts, session, request.open, now);
    case "get":
      return reply({ type: "row", id, ...get(parts, session, request.worker_id, now) });
    case "list":
      return reply(list(parts, session, request, now));
    case "watch":
      return watchers.watch(session, id, request.filter ?? {}, now);
    case "unwatch":
      watchers.unwatch(session);
      return reply({ type: "ok", id });
    case "log":
    case "follow":
      return core.post(() => session.spawn(followers.read(session, request)));
    default:
      throw new Error(`${request.type} is not served by reading`);
  }
}

/** An inbox that opens gets what waits for it; watchers see it open or closed. */
function setInbox(parts: Parts, { seat }: Session, open: boolean, now: number): void {
  if (seat === undefined || seat.inboxOpen === open) return;
  seat.inboxOpen = open;
  touch(parts, seat.workerId, now);
}

/** One answer for an unknown worker and for one outside the grant: no view. */
function get({ core, sessions }: Parts, session: Session, workerId: string, now: number): View | undefined {
  const grant = grantFor(core.state, session.by, "watch", now);
  const covered = grant !== undefined && coveredRow(core.state.workers.get(workerId), grant) !== undefined;
  return covered ? viewOf(core.state, sessions, workerId) : undefined;
}

function list({ core, sessions }: Parts, session: Session, request: RequestOf<"list">, now: number): Reply {
  const { id, after, limit, filter } = request;
  const views = visible(core, sessions, session, filter ?? {}, now).filter(
    ({ row }) => after === undefined || row.worker_id > after,
  );
  const [rows = []] = pagesOf(limit === undefined ? views : views.slice(0, limit));
  const next = rows.length < views.length ? rows.at(-1)?.row.worker_id : undefined;
  return { type: "rows", id, rows, ...(next !== undefined && { next }) };
}
