import { openSocket, type Socket } from "#socket";
import type { Codec } from "../codec/codec.js";
import { LIMITS, type Push, type Reply, type ReplyOf, type RequestOf } from "../protocol/index.js";
import { A2achanError } from "./errors.js";
import { bytesOf, readFrame, writeFrame, type Written } from "./frames.js";
import { Pace } from "./pace.js";
import type { Runtime } from "./runtime.js";

export type Welcome = ReplyOf<"welcome">;
export type Hello = Omit<RequestOf<"hello">, "type" | "id" | "token">;

export interface LinkEvents {
  welcome(welcome: Welcome): void;
  reply(reply: Reply): void;
  push(push: Push): void;
  /** Called once, last. `stoodMs`: how long the session stood, 0 without a welcome. */
  closed(why: { error: A2achanError; final: boolean; stoodMs: number }): void;
}

const HELLO_ID = "hello";
const PING_ID = "ping";
const WELCOME_WITHIN_MS = 10_000;
/** Beyond a ping interval, what a slow network may take. */
const GRACE_MS = 5_000;

/** One connection from `hello` to its close. It is never used again: a reconnect is a new link and a new session. */
export class Link {
  readonly #runtime: Runtime;
  readonly #events: LinkEvents;
  readonly #codec: Codec;
  readonly #socket: Socket;
  #pace: Pace | undefined;
  #watchdog: Disposable;
  #aliveAt: number;
  #welcomedAt: number | undefined;
  #helloRefusal: ReplyOf<"refusal"> | undefined;
  #cutFor: A2achanError | undefined;

  constructor(
    options: { url: string; token: string; codec: Codec; hello: () => Hello },
    runtime: Runtime,
    events: LinkEvents,
  ) {
    const { clock } = runtime;
    this.#runtime = runtime;
    this.#codec = options.codec;
    this.#events = events;
    this.#aliveAt = clock.monotonic();
    this.#watchdog = clock.at(WELCOME_WITHIN_MS, () => {
      const sentence = "The broker did not welcome this client in time; check the URL and the broker's load.";
      this.cut(new A2achanError("unreachable", { sentence }));
    });
    const open = runtime.openSocket ?? openSocket;
    this.#socket = open(options.url, options.codec.subprotocol, options.token, {
      open: (shown) => this.#hello({ ...options.hello(), ...shown }),
      message: (data, isBinary) => this.#message(data, isBinary),
      ping: () => this.#alive(),
      closed: (why) => this.#closed(why),
    });
  }

  /** Sends a frame when the broker's frame budget allows, if it is still wanted then. */
  send(frame: Written, wanted: () => boolean): void {
    this.#pace?.add(frame, wanted);
  }

  close(): void {
    this.#pace?.stop();
    this.#socket.close();
  }

  cut(why: A2achanError): void {
    this.#cutFor ??= why;
    this.#socket.cut();
  }

  #hello(fields: Hello & { token?: string }): void {
    try {
      const frame = writeFrame(this.#codec, { type: "hello", id: HELLO_ID, ...fields });
      if (frame !== undefined && bytesOf(frame) <= LIMITS.hello_bytes) return this.#socket.send(frame);
      const sentence =
        frame === undefined
          ? "The worker id has half of a surrogate pair, which msgpack has no form for; an id is ASCII."
          : `The hello is over ${LIMITS.hello_bytes} bytes, which no broker takes; shorten the worker id.`;
      this.cut(new A2achanError("bad_frame", { sentence }));
    } catch (error) {
      this.cut(error instanceof A2achanError ? error : new A2achanError("protocol", { cause: error }));
    }
  }

  #message(data: Uint8Array, isBinary: boolean): void {
    this.#alive();
    if (this.#cutFor !== undefined) return;
    const incoming = isBinary === this.#codec.binary ? readFrame(this.#codec, data) : undefined;
    if (incoming === undefined) return this.cut(new A2achanError("protocol"));
    if (this.#welcomedAt !== undefined) {
      if (incoming.kind === "reply") this.#reply(incoming.reply);
      else this.#events.push(incoming.push);
      return;
    }
    if (incoming.kind === "push" || incoming.reply.id !== HELLO_ID) return this.cut(new A2achanError("protocol"));
    if (incoming.reply.type === "welcome") this.#welcome(incoming.reply);
    else if (incoming.reply.type === "refusal") this.#helloRefusal = incoming.reply;
    else this.cut(new A2achanError("protocol"));
  }

  #reply(reply: Reply): void {
    if (reply.id !== PING_ID) this.#events.reply(reply);
  }

  #welcome(welcome: Welcome): void {
    const { clock } = this.#runtime;
    const { limits } = welcome;
    this.#welcomedAt = clock.monotonic();
    const perSecond = limits["frames_per_second"] ?? LIMITS.frames_per_second;
    const burst = limits["frames_burst"] ?? LIMITS.frames_burst;
    this.#pace = new Pace(clock, { perSecond, burst }, (frame) => this.#socket.send(frame));
    this.#watchdog[Symbol.dispose]();
    this.#watch(limits["ping_ms"] ?? LIMITS.ping_ms);
    this.#events.welcome(welcome);
  }

  #alive(): void {
    this.#aliveAt = this.#runtime.clock.monotonic();
  }

  /**
   * The broker pings, but not every platform tells. So one that has been silent for an interval and a grace is asked
   * for a `pong`; if it then says nothing for another interval it is gone, whatever TCP says.
   */
  #watch(pingMs: number): void {
    const { clock } = this.#runtime;
    const left = (): number => this.#aliveAt + pingMs + GRACE_MS - clock.monotonic();
    this.#watchdog = clock.at(left(), () => {
      if (left() > 0) return this.#watch(pingMs);
      this.send(this.#codec.encode({ type: "ping", id: PING_ID }), () => true);
      const askedAt = clock.monotonic();
      // What counts is whether it was heard since: a browser may run the timers of a hidden page minutes late.
      this.#watchdog = clock.at(pingMs, () => {
        if (this.#aliveAt >= askedAt) return this.#watch(pingMs);
        const sentence = "The broker fell silent; the client connects again.";
        this.cut(new A2achanError("connection_lost", { sentence }));
      });
    });
  }

  #closed({ error, final }: { error: A2achanError; final: boolean }): void {
    this.#watchdog[Symbol.dispose]();
    this.#pace?.stop();
    const stoodMs = this.#welcomedAt === undefined ? 0 : this.#runtime.clock.monotonic() - this.#welcomedAt;
    if (this.#cutFor !== undefined) return this.#events.closed({ error: this.#cutFor, final: false, stoodMs });
    const refusal = this.#helloRefusal;
    if (refusal === undefined || error.code !== "bad_frame") return this.#events.closed({ error, final, stoodMs });
    const { reason, detail, path } = refusal;
    const place = path === undefined ? "" : ` at ${path}`;
    const sentence = `The broker refused hello (${reason}${detail === undefined ? "" : `/${detail}`}${place}); correct that option.`;
    this.#events.closed({ error: new A2achanError("bad_frame", { sentence }), final, stoodMs });
  }
}
