import type { Session } from "./session.js";

/** The sessions that are open, found by what they are asked for. */
export class Sessions {
  readonly #all = new Set<Session>();
  readonly #workers = new Map<string, Session>();
  readonly #senders = new Map<string, Set<Session>>();

  add(session: Session): void {
    this.#all.add(session);
    if (session.seat !== undefined) this.#workers.set(session.seat.workerId, session);
    if (session.role !== "orchestrator") return;
    const sessions = this.#senders.get(session.by.subject);
    if (sessions === undefined) this.#senders.set(session.by.subject, new Set([session]));
    else sessions.add(session);
  }

  remove(session: Session): void {
    this.#all.delete(session);
    const { seat, by } = session;
    if (seat !== undefined && this.#workers.get(seat.workerId) === session) this.#workers.delete(seat.workerId);
    const sessions = this.#senders.get(by.subject);
    sessions?.delete(session);
    if (sessions?.size === 0) this.#senders.delete(by.subject);
  }

  /** The current session of a worker, if it is connected. */
  worker(workerId: string): Session | undefined {
    return this.#workers.get(workerId);
  }

  /** The open sessions of an orchestrator. */
  sender(subject: string): Iterable<Session> {
    return this.#senders.get(subject) ?? [];
  }

  withToken(token: string): Session[] {
    return [...this.#all].filter((session) => session.by.token === token);
  }

  all(): Iterable<Session> {
    return this.#all;
  }

  get size(): number {
    return this.#all.size;
  }
}
