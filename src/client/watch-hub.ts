import { covers, type Filter, type PushOf, type ReplyOf, type View } from "../protocol/index.js";
import { Bell } from "./bell.js";
import type { CallOptions } from "./bounded.js";
import type { Connection } from "./connection.js";
import type { A2achanError } from "./errors.js";
import { bodyOf } from "./frames.js";
import { refusedBy, type Refused } from "./refusals.js";
import { streamOf } from "./stream.js";

/** A worker that left the filter or the grant. */
export interface Gone {
  worker_id: string;
  gone: true;
}

/** What a live list of workers yields; a refusal comes once, as the last item. */
export type WorkerChange = View | Gone | Refused;

interface Reader {
  filter: Filter;
  /** What the consumer was last given of each worker. */
  shown: Map<string, string>;
  /** Workers to look at again. */
  changed: Set<string>;
}

/**
 * The workers as they are, for any number of readers. A session has one watch: it is for the filter of all readers, if
 * they agree, else for everything in the grant; each reader's own filter is applied here. Changes of a worker that its
 * reader has not taken yet fall together.
 */
export class WatchHub {
  readonly #connection: Connection;
  readonly #bell = new Bell();
  readonly #readers = new Set<Reader>();
  #views = new Map<string, View>();
  /** The filter that is watched for, as JSON. */
  #watched: string | undefined;
  /** Counts watches, so that a reply to an older one is known as such. */
  #watch = 0;
  #settled = false;
  #refused: Refused | undefined;

  constructor(connection: Connection) {
    this.#connection = connection;
  }

  read(filter: Filter, options?: CallOptions): AsyncIterableIterator<WorkerChange> {
    const reader: Reader = { filter: { ...filter }, shown: new Map(), changed: new Set(this.#views.keys()) };
    this.#readers.add(reader);
    this.#refused = undefined;
    this.#aim();
    let refused = false;
    const source = {
      bell: this.#bell,
      take: (): WorkerChange | undefined => {
        const change = this.#next(reader) ?? (refused ? undefined : this.#refused);
        if (change !== undefined && change === this.#refused) refused = true;
        return change;
      },
      state: (): "over" | A2achanError | undefined => (refused ? "over" : this.#connection.ended),
      leave: () => {
        this.#readers.delete(reader);
        this.#aim();
      },
    };
    return streamOf(source, options);
  }

  pushed(push: PushOf<"row">): void {
    // Pushes before the end of the snapshot are of an older watch, for another filter perhaps.
    if (!this.#settled) return;
    if ("gone" in push) this.#set(push.worker_id, undefined);
    else this.#set(push.row.worker_id, bodyOf(push));
    this.#bell.ring();
  }

  /** A new session has no watch yet. */
  reconnected(): void {
    this.#watched = undefined;
    this.#aim();
  }

  ended(): void {
    this.#bell.ring();
  }

  /** Watches for what the readers want, if that is not what is watched for already. */
  #aim(): void {
    if (this.#connection.ended !== undefined) return;
    const filters = [...this.#readers].map(({ filter }) => JSON.stringify(filter));
    const [first] = filters;
    const wanted = first === undefined ? undefined : filters.every((filter) => filter === first) ? first : "{}";
    if (wanted === this.#watched) return;
    this.#watched = wanted;
    this.#watch += 1;
    this.#settled = false;
    if (wanted === undefined) {
      this.#views.clear();
      this.#connection.ask({ type: "unwatch" }, { again: false }).reply.catch(() => {});
    } else {
      // A loss of the connection: `reconnected` starts anew.
      this.#snapshot(this.#watch, JSON.parse(wanted) as Filter).catch(() => {});
    }
  }

  async #snapshot(watch: number, filter: Filter): Promise<void> {
    const views = new Map<string, View>();
    const keep = (reply: ReplyOf<"rows"> | ReplyOf<"refusal">): boolean => {
      if (reply.type === "refusal") return false;
      for (const view of reply.rows) views.set(view.row.worker_id, view);
      if (reply.done === true && watch === this.#watch) this.#replace(views);
      return reply.done !== true;
    };
    const last = await this.#connection.ask({ type: "watch", filter }, { again: false, heard: keep }).reply;
    if (last.type !== "refusal" || watch !== this.#watch) return;
    this.#watched = undefined;
    this.#refused = refusedBy(last);
    this.#bell.ring();
  }

  // In the turn in which the last page comes: the pushes behind it follow it.
  #replace(views: Map<string, View>): void {
    const before = this.#views;
    this.#views = views;
    this.#settled = true;
    for (const reader of this.#readers) {
      for (const id of views.keys()) reader.changed.add(id);
      for (const id of before.keys()) if (!views.has(id)) reader.changed.add(id);
      for (const id of reader.shown.keys()) if (!views.has(id)) reader.changed.add(id);
    }
    this.#bell.ring();
  }

  #set(workerId: string, view: View | undefined): void {
    if (view === undefined) this.#views.delete(workerId);
    else this.#views.set(workerId, view);
    for (const { changed } of this.#readers) changed.add(workerId);
  }

  #next({ filter, shown, changed }: Reader): View | Gone | undefined {
    for (const workerId of changed) {
      changed.delete(workerId);
      const view = this.#views.get(workerId);
      if (view !== undefined && passes(filter, view)) {
        const text = JSON.stringify(view);
        if (shown.get(workerId) === text) continue;
        shown.set(workerId, text);
        return view;
      }
      if (shown.delete(workerId)) return { worker_id: workerId, gone: true };
    }
    return undefined;
  }
}

/** Whether a view passes a filter: its strings are grant patterns (PROTOCOL.md section 8). */
function passes({ worker_id = "**", issue = "**", lane = "**", live }: Filter, { row }: View): boolean {
  if (live !== undefined && live !== row.live) return false;
  return covers({ worker: worker_id, issue, lane }, row);
}
