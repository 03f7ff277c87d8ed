import { CODECS } from "#codecs";
import type { Codec } from "../codec/codec.js";
import { LIMITS, type Push } from "../protocol/index.js";
import { onAbort } from "./aborts.js";
import { Backoff } from "./backoff.js";
import { bounded, type CallOptions } from "./bounded.js";
import { Calls, type AskOptions, type Asked } from "./calls.js";
import type { ConnectOptions } from "./connect-options.js";
import { A2achanError, abortedBy } from "./errors.js";
import { bytesOf, type AnswerTo, type Ask, type AskType } from "./frames.js";
import { Link, type Hello, type Welcome } from "./link.js";
import { LogTrail } from "./log-trail.js";
import type { Runtime } from "./runtime.js";

export interface ConnectionEvents {
  /** The fields of `hello`, asked for at each connect. */
  hello: () => Hello;
  push(push: Push): void;
  /** A session stands; `again` after a reconnect. What was unanswered is already sent again. */
  up(welcome: Welcome, again: boolean): void;
  down(): void;
  /** There will be no more connection. Called once, last. */
  ended(error: A2achanError): void;
}

/** How this SDK names itself in `hello`. */
export const CLIENT = "a2achan-sdk";

const TIMEOUT_MS = 30_000;
const CLOSE_WITHIN_MS = 2_000;
const PROOF_WITHIN_MS = 10_000;

/**
 * The one connection of a client: it stands, or it is being made again, until it is closed or cannot stand any more.
 *
 * Every request of this SDK may be sent twice (PROTOCOL.md sections 3 and 4), so what is unanswered when a connection
 * breaks is sent again on the next one, byte for byte and in order: `correct` names the same correction by its content
 * and key; a repeated `receive`, `ack`, `decline`, `withdraw` or `bye` records nothing new and tells where things stand;
 * a `status` of identical content changes nothing; `stage`, `get`, `list`, `log` only read; `inbox` sets a value.
 * `watch` and `follow` are not resent but started anew by the stream that wants them, and an `ack` with a plan by the
 * lane that knows whether its row must be published first.
 */
export class Connection {
  readonly #options: ConnectOptions;
  readonly #runtime: Runtime;
  readonly #codec: Codec;
  readonly #calls: Calls;
  readonly #backoff: Backoff;
  readonly #over: Promise<void>;
  readonly #trail: LogTrail;
  #events: ConnectionEvents | undefined;
  #link: Link | undefined;
  #welcome: Welcome | undefined;
  #up = false;
  #retry: Disposable | undefined;
  /** Pushes that wait for the log to prove that it grew, and the time that it has for that. */
  #held: { pushes: Push[]; limit: Disposable } | undefined;
  #trouble: A2achanError | undefined;
  #ended: A2achanError | undefined;
  #onWelcome: () => void = () => {};
  #onOver: () => void = () => {};

  constructor(options: ConnectOptions, runtime: Runtime) {
    this.#options = options;
    this.#runtime = runtime;
    this.#codec = codecNamed(options.codec);
    this.#calls = new Calls(this.#codec);
    this.#backoff = new Backoff(() => runtime.random());
    this.#over = new Promise((resolve) => {
      this.#onOver = resolve;
    });
    this.#trail = new LogTrail(options, (error) => void this.close(error));
  }

  /** Resolves with the first welcome; rejects if the first attempt fails, whatever the cause. */
  open(events: ConnectionEvents): Promise<void> {
    const { signal } = this.#options;
    const abort = (): void => void this.close(new A2achanError("aborted", { cause: signal?.reason }));
    this.#events = events;
    return new Promise((resolve, reject) => {
      this.#onWelcome = resolve;
      void this.#over.then(() => {
        listening?.[Symbol.dispose]();
        reject(this.#ended ?? new A2achanError("closed"));
      });
      const listening = signal?.aborted === true ? undefined : onAbort(signal, abort);
      if (signal?.aborted === true) return abort();
      this.#orClose(() => {
        const loading = this.#trail.load();
        if (loading === undefined) return this.#connect();
        loading.then(
          () => this.#connect(),
          (error: A2achanError) => void this.close(error),
        );
      });
    });
  }

  /** What the log is held to. */
  get trail(): LogTrail {
    return this.#trail;
  }

  /** Why there is no connection any more and never will be. */
  get ended(): A2achanError | undefined {
    return this.#ended;
  }

  /** Sends a request, now or when a connection stands; settles with the answer or when the connection has ended. */
  ask<T extends AskType>(ask: Ask<T> & { type: T }, options?: AskOptions<T>): Asked<T> {
    try {
      return this.#ask(ask, options);
    } catch (error) {
      return { reply: Promise.reject(error as Error), drop: () => {} };
    }
  }

  #ask<T extends AskType>(ask: Ask<T> & { type: T }, options?: AskOptions<T>): Asked<T> {
    if (this.#ended !== undefined) throw this.#ended;
    const { id, frame, ...asked } = this.#calls.make(ask, options);
    if (frame === undefined) return asked;
    const limit = this.#welcome?.limits["frame_bytes"] ?? LIMITS.frame_bytes;
    if (bytesOf(frame) > limit) {
      asked.drop();
      const sentence = `The request is over ${limit} bytes, which no broker takes; shorten its texts.`;
      throw new A2achanError("bad_frame", { sentence });
    }
    if (this.#up) this.#link?.send(frame, () => this.#calls.has(id));
    return asked;
  }

  /** `ask`, within the time of a call. */
  call<T extends AskType>(
    ask: Ask<T> & { type: T },
    options?: CallOptions,
    heard?: AskOptions<T>["heard"],
  ): Promise<AnswerTo<T>> {
    const aborted = abortedBy(options?.signal);
    if (aborted !== undefined) return Promise.reject(aborted);
    const { reply, drop } = this.ask(ask, heard === undefined ? {} : { heard });
    return this.within(reply, options, drop);
  }

  /** The outcome of `work` within the time of a call. */
  within<T>(work: Promise<T>, { signal }: CallOptions = {}, giveUp?: () => void): Promise<T> {
    const ms = this.#options.timeoutMs ?? TIMEOUT_MS;
    return bounded(work, { clock: this.#runtime.clock, ms, signal, trouble: () => this.#trouble }, giveUp);
  }

  /** The outcome of `work`, however long it takes. */
  unless<T>(work: Promise<T>, { signal }: CallOptions): Promise<T> {
    return bounded(work, { clock: this.#runtime.clock, signal });
  }

  /** The outcome of `work`; a log that it finds not to be the one it was ends this client. */
  async orEnd<T>(work: Promise<T>): Promise<T> {
    try {
      return await work;
    } catch (error) {
      if (error instanceof A2achanError && error.code === "log_forked") void this.close(error);
      throw error;
    }
  }

  /** Gives this link up because what it sent makes no sense; a new one is made. */
  distrust(): void {
    this.#link?.cut(new A2achanError("protocol"));
  }

  /** Closes for good. Resolves when the socket is closed, after 2 s at the latest. */
  close(why = new A2achanError("closed")): Promise<void> {
    if (this.#ended === undefined) {
      const link = this.#link;
      this.#end(why);
      if (link === undefined) this.#onOver();
      else {
        link.close();
        const cut = this.#runtime.clock.at(CLOSE_WITHIN_MS, () => link.cut(why));
        void this.#over.then(() => cut[Symbol.dispose]());
      }
    }
    return this.#over.then(() => this.#trail.saved);
  }

  #connect(): void {
    const { url, token } = this.#options;
    const codec = this.#codec;
    const events = this.#events;
    if (events === undefined || this.#ended !== undefined) return;
    this.#link = new Link({ url, token, codec, hello: events.hello }, this.#runtime, {
      welcome: (welcome) => this.#welcomed(welcome),
      reply: (reply) => {
        if (!this.#calls.settle(reply)) this.distrust();
      },
      push: (push) => {
        if (this.#held !== undefined) this.#held.pushes.push(push);
        else if (this.#ended === undefined) events.push(push);
      },
      closed: (why) => this.#closed(why),
    });
  }

  #welcomed(welcome: Welcome): void {
    if (this.#ended !== undefined) return;
    this.#orClose(() => {
      const kept = this.#trail.kept;
      const from_size = this.#trail.welcomed(welcome.log);
      if (kept === undefined || from_size === undefined) return this.#stands(welcome);
      const heard = (reply: AnswerTo<"prove">): false => {
        // What is unanswered is now sent again, and this is answered.
        drop();
        this.#orClose(() => {
          if (reply.type === "refusal") return this.distrust();
          this.#trail.grown(kept, reply);
          this.#stands(welcome);
        });
        return false;
      };
      const { id, frame, reply, drop } = this.#calls.make({ type: "prove", from_size }, { again: false, heard });
      reply.catch(() => {}); // a loss of the connection: the next one asks anew
      const limit = this.#runtime.clock.at(PROOF_WITHIN_MS, () => this.distrust());
      this.#held = { pushes: [], limit };
      if (frame !== undefined) this.#link?.send(frame, () => this.#calls.has(id));
    });
  }

  /** The log is the one it was: now all else goes on. */
  #stands(welcome: Welcome): void {
    const held = this.#release();
    const again = this.#welcome !== undefined;
    this.#welcome = welcome;
    this.#up = true;
    for (const { id, frame } of this.#calls.unanswered()) this.#link?.send(frame, () => this.#calls.has(id));
    this.#events?.up(welcome, again);
    for (const push of held) this.#events?.push(push);
    this.#onWelcome();
  }

  #release(): Push[] {
    const held = this.#held;
    this.#held = undefined;
    held?.limit[Symbol.dispose]();
    return held?.pushes ?? [];
  }

  /** Runs `step`; an A2achanError that it throws ends this client. */
  #orClose(step: () => void): void {
    try {
      step();
    } catch (error) {
      if (!(error instanceof A2achanError)) throw error;
      void this.close(error);
    }
  }

  #closed({ error, final, stoodMs }: { error: A2achanError; final: boolean; stoodMs: number }): void {
    const wasUp = this.#up;
    this.#up = false;
    this.#release();
    this.#link = undefined;
    this.#trouble = error;
    if (this.#ended !== undefined) return this.#onOver();
    if (final || this.#welcome === undefined) {
      // A first attempt that fails is the caller's to repeat: a wrong URL would be tried for ever.
      this.#end(error.code === "connection_lost" ? new A2achanError("unreachable", { cause: error }) : error);
      return this.#onOver();
    }
    this.#calls.lost();
    if (wasUp) this.#events?.down();
    this.#retry = this.#runtime.clock.at(this.#backoff.next(stoodMs), () => this.#connect());
  }

  #end(error: A2achanError): void {
    this.#ended = error;
    this.#up = false;
    this.#retry?.[Symbol.dispose]();
    this.#release();
    this.#calls.fail(error);
    this.#events?.ended(error);
  }
}

function codecNamed(name: NonNullable<ConnectOptions["codec"]> = "json"): Codec {
  if (!Object.hasOwn(CODECS, name)) throw new A2achanError("bad_frame", { sentence: "The codec is json or msgpack." });
  return CODECS[name];
}
