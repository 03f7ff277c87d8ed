import { grantFor, type TextLine } from "../kernel/index.js";
import { LIMITS, type ReplyOf, type RequestOf } from "../protocol/index.js";
import type { EventStore } from "../storage/event-store.js";
import { textsByEntry } from "../storage/texts.js";
import type { Core } from "./core.js";
import { Outgoing } from "./peer.js";
import type { Session } from "./session.js";

type LogRequest = RequestOf<"log"> | RequestOf<"follow">;
type Entries = Omit<ReplyOf<"entries">, "type" | "id">;

interface Follow {
  session: Session;
  request: LogRequest;
  after: number;
  reading: boolean;
}

/** Entries read at once; a page that holds fewer bytes than that is cut where 48 KiB end. */
const READ_AT_ONCE = 1_000;
const FRAME_BYTES = 512;

/** Auditors that read the log: `log` a page at a time, `follow` for as long as they stay. */
export class Followers {
  readonly #core: Core;
  readonly #store: EventStore;
  readonly #follows = new Map<Session, Follow>();

  constructor(core: Core, store: EventStore) {
    this.#core = core;
    this.#store = store;
  }

  /** Answers with one page of what is durable; for `follow`, everything later is pushed as it becomes durable. */
  async read(session: Session, request: LogRequest): Promise<void> {
    const page = await this.#page(session, request, request.after);
    session.reply({ type: "entries", id: request.id, ...page });
    if (request.type !== "follow" || session.closed) return;
    const follow = { session, request, after: page.next ?? request.after, reading: false };
    this.#follows.set(session, follow);
    session.spawn(this.#catchUp(follow));
  }

  remove(session: Session): void {
    this.#follows.delete(session);
  }

  durable(): void {
    for (const follow of this.#follows.values()) if (!follow.reading) follow.session.spawn(this.#catchUp(follow));
  }

  // Reads from the store at the pace of the socket, so that a slow auditor costs nobody memory.
  async #catchUp(follow: Follow): Promise<void> {
    const { session, request } = follow;
    follow.reading = true;
    while (!session.closed && this.#follows.get(session) === follow && follow.after < this.#core.durable) {
      if (!session.flowing) await session.drained();
      const page = await this.#page(session, request, follow.after);
      if (this.#follows.get(session) !== follow) break;
      follow.after = page.next ?? this.#core.durable;
      if (page.entries.length > 0) session.push(new Outgoing({ type: "entries", ...page }));
    }
    follow.reading = false;
  }

  /** One page from entry `after` on; `next` is how many entries the reader has seen or passed over then. */
  async #page(session: Session, request: LogRequest, after: number): Promise<Entries> {
    const end = this.#core.durable;
    const { entries, texts } = await this.#store.read(after, Math.max(0, Math.min(READ_AT_ONCE, end - after)));
    const withTexts = grantFor(this.#core.state, session.by, "audit.text", this.#core.now()) !== undefined;
    const page: { entries: string[]; texts: TextLine[] } = { entries: [], texts: [] };
    const opened = textsByEntry(withTexts ? texts : []);
    let bytes = FRAME_BYTES;
    let next = after;
    for (const line of entries) {
      if (page.entries.length >= (request.limit ?? READ_AT_ONCE)) break;
      const own = opened.get(next) ?? [];
      if (concerns(line, request)) {
        bytes += Buffer.byteLength(JSON.stringify(line)) + Buffer.byteLength(JSON.stringify(own));
        if (page.entries.length > 0 && bytes > LIMITS.page_bytes) break;
        page.entries.push(line);
        page.texts.push(...own);
      }
      next += 1;
    }
    return { entries: page.entries, next, ...(withTexts && { texts: page.texts }) };
  }
}

function concerns(line: string, { worker_id, correction_id }: LogRequest): boolean {
  if (worker_id === undefined && correction_id === undefined) return true;
  const entry = JSON.parse(line) as { worker_id?: string; correction_id?: string };
  if (worker_id !== undefined && entry.worker_id !== worker_id) return false;
  return correction_id === undefined || entry.correction_id === correction_id;
}
