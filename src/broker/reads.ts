import { coveredRow, grantFor, type Worker } from "../kernel/index.js";
import type { Reply, Request, RequestOf, View } from "../protocol/index.js";
import { touch } from "./effects.js";
import { pagesOf } from "./pages.js";
import type { Parts } from "./parts.js";
import { prove } from "./proofs.js";
import type { Session } from "./session.js";
import type { Sessions } from "./sessions.js";
import { viewOf } from "./views.js";

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
    case "checkpoint":
    case "prove":
      return core.post(() => session.spawn(prove(parts, session, request)));
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
  const worker = core.state.workers.get(workerId);
  return grant !== undefined && coveredRow(worker, grant) !== undefined ? viewOf(sessions, worker) : undefined;
}

/** One page, cut where it is full: what lies behind the next one is not looked at. */
function list({ sessions, watchers }: Parts, session: Session, request: RequestOf<"list">, now: number): Reply {
  const { id, after, limit = Number.POSITIVE_INFINITY, filter = {} } = request;
  const workers = watchers.visible(session, filter, now, after);
  const [page = [], further] = pagesOf(views(sessions, workers, limit + 1));
  const rows = page.slice(0, limit);
  const next = further !== undefined || page.length > limit ? rows.at(-1)?.row.worker_id : undefined;
  return { type: "rows", id, rows, ...(next !== undefined && { next }) };
}

function* views(sessions: Sessions, workers: Iterable<Worker>, most: number): Iterable<View> {
  let left = most;
  for (const worker of workers) {
    const view = viewOf(sessions, worker);
    if (view === undefined) continue;
    yield view;
    left -= 1;
    if (left === 0) return;
  }
}
