import { CLOSE, type Close, type Push, type Reply, type Role } from "../protocol/index.js";
import type { Principal } from "../kernel/index.js";
import { Outgoing, closePeer, type Peer } from "./peer.js";

/** What a worker's session holds beside what every session does. */
export interface WorkerSeat {
  workerId: string;
  inboxOpen: boolean;
  /** Corrections that this session is pushed and that have not ended since; true once the push has left. */
  pushed?: Map<string, boolean>;
}

/** One authenticated connection. Outlives nothing: a reconnect is a new session. */
export class Session {
  readonly id: string;
  readonly role: Role;
  readonly by: Principal & { token: string };
  readonly seat: WorkerSeat | undefined;
  readonly #peer: Peer;
  readonly #outgoingBytes: number;
  /** An orchestrator that resumes reads its stages from the log first; pushes before that would be out of order. */
  resuming = false;
  closed = false;
  /** Told once when the broker ends the session: it is out of every list before its socket is closed. */
  onEnd: () => void = () => {};

  constructor(
    id: string,
    role: Role,
    by: Principal & { token: string },
    peer: Peer,
    /** Bytes of unasked pushes that the peer may leave unread. */
    outgoingBytes: number,
    seat?: WorkerSeat,
  ) {
    this.id = id;
    this.role = role;
    this.by = by;
    this.#peer = peer;
    this.#outgoingBytes = outgoingBytes;
    this.seat = seat;
  }

  /** An answer, or a page that was asked for. */
  reply(frame: Reply): void {
    if (!this.closed) this.#send(new Outgoing(frame));
  }

  /** A frame that nobody asked for. A peer that leaves too many bytes unread is cut; its cursor stays good. */
  push(out: Outgoing): void {
    if (!this.closed) this.#send(out, this.#outgoingBytes);
  }

  /** Whether the socket takes more without piling up. */
  get flowing(): boolean {
    return this.#peer.buffered < this.#outgoingBytes / 4;
  }

  drained(): Promise<void> {
    return this.#peer.drained();
  }

  /** Sends frames as the socket drains: for snapshots, pages and resumes of any length. */
  async feed(frames: Iterable<Reply | Push>): Promise<void> {
    for (const frame of frames) {
      while (!this.closed && !this.flowing) await this.#peer.drained();
      if (this.closed) return;
      this.#send(new Outgoing(frame));
    }
  }

  // A peer that breaks its word and throws costs its own session, nobody else's.
  #send(out: Outgoing, most = Number.POSITIVE_INFINITY): void {
    try {
      if (this.#peer.buffered > most) this.end(CLOSE.SLOW_CONSUMER);
      else this.#peer.send(out);
    } catch {
      this.end(CLOSE.FAULT);
    }
  }

  /** Lets work for this session go on by itself; if it fails, so does the session and nothing else. */
  spawn(work: Promise<void>): void {
    work.catch(() => this.end(CLOSE.FAULT));
  }

  end(close: Close): void {
    if (this.closed) return;
    this.closed = true;
    closePeer(this.#peer, close);
    this.onEnd();
  }
}
