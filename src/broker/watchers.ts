import { coveredRow, grantFor, type Worker } from "../kernel/index.js";
import { covers, type Filter, type ReplyOf, type Scope, type View } from "../protocol/index.js";
import { Changes, type Change } from "./changes.js";
import type { Core } from "./core.js";
import { cursorAt } from "./cursors.js";
import { pagesOf } from "./pages.js";
import { Outgoing } from "./peer.js";
import { Roster } from "./roster.js";
import { Rounds } from "./rounds.js";
import type { Session } from "./session.js";
import type { Sessions } from "./sessions.js";
import { nextTurn } from "./turns.js";
import { glimpse, viewOf, worded, type Glimpse } from "./views.js";

/** Workers that a snapshot looks at in one turn. */
const GLIMPSES_A_TURN = 1_024;

interface Watch {
  readonly session: Session;
  readonly filter: Filter;
  /** Workers that the client was shown and not told to be gone. */
  readonly shown: Set<string>;
  /** Place of the last change that needs no telling any more. */
  told: number;
  /** False while the snapshot is on its way, or the socket is full. */
  open: boolean;
}

/** Whether a row passes a filter: its strings are grant patterns. */
function passes(filter: Filter, row: Scope & { live: boolean }): boolean {
  if (filter.live !== undefined && filter.live !== row.live) return false;
  const { worker_id: worker = "**", issue = "**", lane = "**" } = filter;
  return covers({ worker, issue, lane }, row);
}

/**
 * Sessions that watch rows: a snapshot from one state, then a push for each change, conflated per worker. Each reads the
 * changes at the pace of its socket, and a turn of the event loop serves only so many.
 */
export class Watchers {
  readonly #core: Core;
  readonly #sessions: Sessions;
  readonly #roster: Roster;
  readonly #watches = new Map<Session, Watch>();
  readonly #changes = new Changes();
  /** Of each snapshot that is being gathered: the workers that changed since it was begun. */
  readonly #gathering = new Set<Set<string>>();
  readonly #rounds = new Rounds<Watch>({
    members: () => this.#watches.values(),
    visit: (watch, most) => this.#serve(watch, most),
    idle: () => this.#forget(),
  });
  /** Place of the last change that was decided; it may still wait for the store. */
  #place = 0;

  constructor(core: Core, sessions: Sessions) {
    this.#core = core;
    this.#sessions = sessions;
    this.#roster = new Roster(core.state);
  }

  /** The workers behind `after` whose rows a session may see and a filter passes, in the order of their ids. */
  *visible({ by }: Session, filter: Filter, now: number, after?: string): Iterable<Worker> {
    const grant = grantFor(this.#core.state, by, "watch", now);
    if (grant === undefined) return;
    for (const worker of this.#roster.from(after)) {
      const row = coveredRow(worker, grant);
      if (row !== undefined && passes(filter, row)) yield worker;
    }
  }

  /** Answers `watch` with a run of `rows`, the last with cursor and `done`; replaces the session's earlier watch. */
  watch(session: Session, id: string, filter: Filter, now: number): void {
    const watch: Watch = { session, filter, shown: new Set(), told: this.#place, open: false };
    this.#watches.set(session, watch);
    session.spawn(this.#gather(watch, id, now));
  }

  unwatch(session: Session): void {
    this.#watches.delete(session);
  }

  /** Tells watchers how a worker looks now; leaves when what is decided so far is durable. */
  changed(workerId: string, now: number): void {
    for (const moved of this.#gathering) moved.add(workerId);
    if (this.#watches.size === 0) return;
    const view = viewOf(this.#sessions, this.#core.state.workers.get(workerId));
    if (view === undefined) return;
    // Only those whose snapshot is older than this change are told: a later snapshot has it.
    this.#place += 1;
    const place = this.#place;
    this.#core.post(() => {
      this.#changes.add(place, now, view);
      this.#rounds.wake();
    });
  }

  /** Tells one watch what changed; while its socket is full, later views of a worker take the place of earlier ones. */
  #serve(watch: Watch, most: number): number {
    let steps = 0;
    while (watch.open) {
      const change = this.#changes.after(watch.told);
      if (change === undefined) break;
      if (!watch.session.flowing) {
        watch.session.spawn(this.#wait(watch));
      } else if (steps >= most) {
        this.#rounds.wake();
        break;
      } else {
        steps += 1;
        watch.told = change.place;
        this.#tell(watch, change);
      }
    }
    return Math.max(1, steps);
  }

  #tell({ session, filter, shown }: Watch, { at, view, row }: Change): void {
    const { worker_id } = view.row;
    const grant = grantFor(this.#core.state, session.by, "watch", at);
    if (grant !== undefined && covers(grant.patterns, view.row) && passes(filter, view.row)) {
      shown.add(worker_id);
      session.push(row);
    } else if (shown.delete(worker_id)) {
      session.push(new Outgoing({ type: "row", worker_id, gone: true }));
    }
  }

  async #wait(watch: Watch): Promise<void> {
    watch.open = false;
    await watch.session.drained();
    watch.open = true;
    this.#rounds.wake();
  }

  // A fleet is looked over in several turns; what moved meanwhile is looked at again in the last: that is its one state.
  async #gather(watch: Watch, id: string, now: number): Promise<void> {
    const { session, filter } = watch;
    const moved = new Set<string>();
    const glimpses = new Map<string, Glimpse>();
    this.#gathering.add(moved);
    let left = GLIMPSES_A_TURN;
    for (const worker of this.visible(session, filter, now)) {
      if (left === 0) {
        await nextTurn();
        left = GLIMPSES_A_TURN;
      }
      left -= 1;
      glimpses.set(worker.id, glimpse(this.#sessions, worker));
    }
    this.#gathering.delete(moved);
    const { state } = this.#core;
    const grant = grantFor(state, session.by, "watch", this.#core.now());
    for (const workerId of moved) {
      const worker = state.workers.get(workerId);
      const row = grant && coveredRow(worker, grant);
      if (worker === undefined || row === undefined || !passes(filter, row)) glimpses.delete(workerId);
      else glimpses.set(workerId, glimpse(this.#sessions, worker));
    }
    watch.told = this.#place;
    const cursor = cursorAt(state.shard, state.size);
    this.#core.post(() => session.spawn(this.#snapshot(watch, id, inOrder(glimpses, moved), cursor)));
  }

  async #snapshot(watch: Watch, id: string, glimpses: readonly Glimpse[], cursor: string): Promise<void> {
    const { session, shown } = watch;
    for (const page of snapshotPages(id, wordedIn(glimpses, shown), cursor)) {
      await session.feed([page]);
      if (session.closed) return;
      await nextTurn();
    }
    watch.open = true;
    this.#rounds.wake();
  }

  // What every watch was told, or need not be, is asked for no more.
  #forget(): void {
    let told = this.#place;
    for (const watch of this.#watches.values()) told = Math.min(told, watch.told);
    this.#changes.forget(told);
  }
}

function inOrder(glimpses: ReadonlyMap<string, Glimpse>, moved: ReadonlySet<string>): Glimpse[] {
  if (moved.size === 0) return [...glimpses.values()];
  return [...glimpses].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, one]) => one);
}

/** Puts a snapshot into words as its pages are asked for, and notes whom it shows. */
function* wordedIn(glimpses: readonly Glimpse[], shown: Set<string>): Iterable<View> {
  for (const one of glimpses) {
    const view = worded(one);
    if (view === undefined) continue;
    shown.add(view.row.worker_id);
    yield view;
  }
}

function* snapshotPages(id: string, views: Iterable<View>, cursor: string): Iterable<ReplyOf<"rows">> {
  let last: View[] | undefined;
  for (const rows of pagesOf(views)) {
    if (last !== undefined) yield { type: "rows", id, rows: last };
    last = rows;
  }
  yield { type: "rows", id, rows: last ?? [], cursor, done: true };
}
