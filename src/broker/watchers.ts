import { coveredRow, grantFor } from "../kernel/index.js";
import { covers, type Filter, type PushOf, type ReplyOf, type View } from "../protocol/index.js";
import type { Core } from "./core.js";
import { cursorAt } from "./cursors.js";
import { pagesOf } from "./pages.js";
import { Outgoing } from "./peer.js";
import type { Session } from "./session.js";
import type { Sessions } from "./sessions.js";
import { viewOf } from "./views.js";

interface Watch {
  session: Session;
  filter: Filter;
  /** Workers that the client was shown and not told to be gone. */
  shown: Set<string>;
  /** The latest push of each worker that has not left yet. */
  waiting: Map<string, Outgoing>;
  /** False while the snapshot is on its way, or the socket is full. */
  open: boolean;
}

/** Whether a row passes a filter: its strings are grant patterns. */
function passes(filter: Filter, view: View): boolean {
  if (filter.live !== undefined && filter.live !== view.row.live) return false;
  const patterns = { worker: filter.worker_id ?? "**", issue: filter.issue ?? "**", lane: filter.lane ?? "**" };
  return covers(patterns, view.row);
}

/** The views that a session may see and a filter passes, in the order of worker ids. */
export function visible(core: Core, sessions: Sessions, session: Session, filter: Filter, now: number): View[] {
  const grant = grantFor(core.state, session.by, "watch", now);
  if (grant === undefined) return [];
  const views: View[] = [];
  for (const worker of core.state.workers.values()) {
    if (coveredRow(worker, grant) === undefined) continue;
    const view = viewOf(core.state, sessions, worker.id);
    if (view !== undefined && passes(filter, view)) views.push(view);
  }
  return views.sort((a, b) => (a.row.worker_id < b.row.worker_id ? -1 : 1));
}

/** Sessions that watch rows: a snapshot from one state, then a push for each change, conflated per worker. */
export class Watchers {
  readonly #core: Core;
  readonly #sessions: Sessions;
  readonly #watches = new Map<Session, Watch>();

  constructor(core: Core, sessions: Sessions) {
    this.#core = core;
    this.#sessions = sessions;
  }

  /** Answers `watch` with a run of `rows`, the last with cursor and `done`; replaces the session's earlier watch. */
  watch(session: Session, id: string, filter: Filter, now: number): void {
    const views = visible(this.#core, this.#sessions, session, filter, now);
    const shown = new Set(views.map((view) => view.row.worker_id));
    const watch: Watch = { session, filter, shown, waiting: new Map(), open: false };
    this.#watches.set(session, watch);
    const cursor = cursorAt(this.#core.state.shard, this.#core.state.size);
    this.#core.post(() => session.spawn(this.#snapshot(watch, id, views, cursor)));
  }

  unwatch(session: Session): void {
    this.#watches.delete(session);
  }

  /** Tells watchers how a worker looks now; leaves when what is decided so far is durable. */
  changed(workerId: string, now: number): void {
    if (this.#watches.size === 0) return;
    const view = viewOf(this.#core.state, this.#sessions, workerId);
    if (view === undefined) return;
    // Only those whose snapshot is older than this change: a later snapshot has it.
    const watches = [...this.#watches.values()];
    const row = new Outgoing({ type: "row", ...view });
    this.#core.post(() => {
      for (const watch of watches) if (this.#watches.get(watch.session) === watch) this.#tell(watch, view, row, now);
    });
  }

  #tell(watch: Watch, view: View, row: Outgoing, now: number): void {
    const workerId = view.row.worker_id;
    const grant = grantFor(this.#core.state, watch.session.by, "watch", now);
    if (grant !== undefined && covers(grant.patterns, view.row) && passes(watch.filter, view)) {
      watch.shown.add(workerId);
      watch.waiting.set(workerId, row);
    } else if (watch.shown.delete(workerId)) {
      const gone: PushOf<"row"> = { type: "row", worker_id: workerId, gone: true };
      watch.waiting.set(workerId, new Outgoing(gone));
    }
    if (watch.open) watch.session.spawn(this.#flush(watch));
  }

  async #snapshot(watch: Watch, id: string, views: readonly View[], cursor: string): Promise<void> {
    await watch.session.feed(snapshotPages(id, views, cursor));
    await this.#flush(watch);
  }

  /** Sends what waits; while the socket is full, later views of a worker take the place of earlier ones. */
  async #flush(watch: Watch): Promise<void> {
    const { session, waiting } = watch;
    const current = (): boolean => !session.closed && this.#watches.get(session) === watch;
    watch.open = false;
    while (waiting.size > 0 && current()) {
      for (const [workerId, out] of waiting) {
        if (!session.flowing) break;
        waiting.delete(workerId);
        session.push(out);
      }
      if (!session.flowing) await session.drained();
    }
    watch.open = true;
  }
}

function* snapshotPages(id: string, views: readonly View[], cursor: string): Iterable<ReplyOf<"rows">> {
  let last: View[] | undefined;
  for (const rows of pagesOf(views)) {
    if (last !== undefined) yield { type: "rows", id, rows: last };
    last = rows;
  }
  yield { type: "rows", id, rows: last ?? [], cursor, done: true };
}
