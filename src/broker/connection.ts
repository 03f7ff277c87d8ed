import { CLOSE, type Close, type Parsed, type Reply, type RequestType } from "../protocol/index.js";
import { touch } from "./effects.js";
import { hello, refuseHello } from "./hello.js";
import type { Parts } from "./parts.js";
import { Outgoing, closePeer, type Peer } from "./peer.js";
import { handle, handleMalformed } from "./requests.js";
import type { Session } from "./session.js";

/**
 * One connection, from its first frame to its last: `hello` first and once, then requests, within a budget of frames.
 * Nothing that a client sends makes a method throw.
 */
export class Connection {
  readonly #parts: Parts;
  readonly #peer: Peer;
  readonly #budget: FrameBudget;
  readonly #proven: string | undefined;
  /** Ends the time for `hello`, then that of the token, if it has one. */
  #timer: Disposable | undefined;
  #session: Session | undefined;
  #closed = false;

  /** `proven` is the id of a token that was shown and verified before the first frame. */
  constructor(parts: Parts, peer: Peer, proven?: string) {
    this.#parts = parts;
    this.#peer = peer;
    this.#proven = proven;
    this.#budget = new FrameBudget(parts);
    const { clock, limits } = parts;
    this.#timer = clock.at(limits.hello_ms, () => this.close(CLOSE.HELLO_TIMEOUT));
  }

  /** Whether `hello` was answered with `welcome`. */
  get authenticated(): boolean {
    return this.#session !== undefined;
  }

  /** Whether a token of this connection has been verified, by header or by `hello`. */
  get known(): boolean {
    return this.#proven !== undefined || this.authenticated;
  }

  /** One frame, as `parseRequest` judged it; `undefined` for what the codec could not trust to be one. */
  receive(parsed: Parsed | undefined): void {
    if (this.#closed) return;
    this.alive();
    if (!this.#budget.take()) return this.close(CLOSE.TOO_MANY);
    if (parsed === undefined || parsed.kind === "unknown") return this.close(CLOSE.BAD_FRAME);
    if (this.#session === undefined) return this.#hello(parsed);
    if (typeOf(parsed) === "hello") return this.close(CLOSE.BAD_FRAME);
    if (parsed.kind === "malformed") return handleMalformed(this.#parts, this.#session, parsed.malformed);
    handle(this.#parts, this.#session, parsed.request);
  }

  /** A sign of life of the peer: any frame or pong. */
  alive(): void {
    const seat = this.#session?.seat;
    if (seat === undefined || this.#parts.sessions.worker(seat.workerId) !== this.#session) return;
    this.#parts.leases.renew(seat.workerId);
  }

  /** From now until what it returns is called the broker reads nothing: the frames of that time may come at once. */
  unread(): () => void {
    const { clock } = this.#parts;
    const from = clock.monotonic();
    return () => this.#budget.add(clock.monotonic() - from);
  }

  close(close: Close): void {
    if (this.#session !== undefined) this.#session.end(close);
    else closePeer(this.#peer, close);
    this.gone();
  }

  /** The peer is gone, or is to be treated so. */
  gone(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#endTimer();
    const session = this.#session;
    if (session === undefined) return;
    session.closed = true;
    const { sessions, watchers, followers, core } = this.#parts;
    const current = session.seat !== undefined && sessions.worker(session.seat.workerId) === session;
    sessions.remove(session);
    watchers.unwatch(session);
    followers.remove(session);
    if (current && core.running) touch(this.#parts, session.seat.workerId, core.now());
  }

  #hello(parsed: Exclude<Parsed, { kind: "unknown" }>): void {
    if (parsed.kind === "malformed") {
      const { type, id, refusal } = parsed.malformed;
      return this.#turnAway(CLOSE.BAD_FRAME, type === "hello" ? refuseHello(id, refusal) : undefined);
    }
    if (parsed.request.type !== "hello") return this.#turnAway(CLOSE.BAD_FRAME);
    const opened = hello(this.#parts, this.#peer, parsed.request, this.#proven);
    if ("close" in opened) return this.#turnAway(opened.close, opened.refusal);
    this.#session = opened.session;
    this.#endTimer();
    opened.session.onEnd = () => this.gone();
    // It may have ended already, or the broker has.
    if (opened.session.closed || this.#closed) return this.gone();
    if (opened.expiresAt !== undefined) this.#expire(opened.expiresAt);
  }

  // An answer like any other: it leaves when what it was decided on is durable.
  #turnAway(close: Close, refusal?: Reply): void {
    this.gone();
    this.#parts.core.post(() => {
      try {
        if (refusal !== undefined) this.#peer.send(new Outgoing(refusal));
      } catch {
        // As for a session: it costs this connection only, and that one ends here.
      }
      closePeer(this.#peer, close);
    });
  }

  // A token that expires takes its live connections with it.
  #expire(at: number): void {
    const { clock, core } = this.#parts;
    this.#timer = clock.at(at - core.now(), () => {
      if (core.now() < at) this.#expire(at);
      else this.close(CLOSE.UNAUTHENTICATED);
    });
  }

  #endTimer(): void {
    this.#timer?.[Symbol.dispose]();
    this.#timer = undefined;
  }
}

function typeOf(parsed: Exclude<Parsed, { kind: "unknown" }>): RequestType {
  return parsed.kind === "malformed" ? parsed.malformed.type : parsed.request.type;
}

/** Frames that a connection may send: so many a second, and a burst of so many. */
class FrameBudget {
  readonly #parts: Parts;
  #left: number;
  #at: number;

  constructor(parts: Parts) {
    this.#parts = parts;
    this.#left = parts.limits.frames_burst;
    this.#at = parts.clock.monotonic();
  }

  /** Room beyond the burst for the frames that a client may send in a time in which it was not read. */
  add(ms: number): void {
    this.#fill();
    this.#left += this.#earned(ms);
  }

  take(): boolean {
    this.#fill();
    if (this.#left < 1) return false;
    this.#left -= 1;
    return true;
  }

  #fill(): void {
    const { clock, limits } = this.#parts;
    const now = clock.monotonic();
    const filled = Math.min(limits.frames_burst, this.#left + this.#earned(now - this.#at));
    this.#left = Math.max(this.#left, filled);
    this.#at = now;
  }

  #earned(ms: number): number {
    return (ms * this.#parts.limits.frames_per_second) / 1_000;
  }
}
