import type { Outgoing, Peer } from "../../src/broker/index.js";
import { closedWith } from "../../src/client/ends.js";
import { A2achanError } from "../../src/client/errors.js";
import type { Socket, SocketEvents } from "../../src/client/socket.js";
import { jsonCodec } from "../../src/codec/json.js";
import type { Close } from "../../src/protocol/index.js";

/** What travels from a client to the broker. */
export type Up =
  | { kind: "connect" }
  | { kind: "pong" }
  | { kind: "close" }
  | { kind: "frame"; bytes: Uint8Array; binary: boolean };
/** What travels back. */
export type Down =
  | { kind: "open" }
  | { kind: "ping" }
  | { kind: "unauthenticated" }
  | { kind: "unreachable" }
  | { kind: "frame"; text: string }
  | { kind: "close"; code: number; reason: string };

/** The broker's end of a cable, once it is taken on. */
export interface Terminal {
  message(bytes: Uint8Array, binary: boolean): void;
  pong(): void;
  /** The other end is gone, or has said goodbye. */
  hangUp(): void;
}

const LOST = { kind: "close", code: 1006, reason: "" } as const;

/**
 * One connection between a client and the broker. What is sent travels in order, in segments of the schedule's making, and
 * is lost with the connection; either end may be the only one that knows.
 */
export class Cable {
  readonly host: string;
  readonly token: string;
  readonly up: Up[] = [{ kind: "connect" }];
  readonly down: Down[] = [];
  /** Nothing arrives any more, and nobody is told. */
  dead = false;
  terminal: Terminal | undefined;
  /** Frames of the client that arrived. */
  frames = 0;
  /** Sees each frame as it leaves the broker. */
  onLeave: (frame: Outgoing["frame"]) => void = () => {};
  readonly #events: SocketEvents;
  #open = false;
  #over = false;
  #unread = 0;
  #draining: (() => void)[] = [];

  constructor(host: string, token: string, events: SocketEvents) {
    this.host = host;
    this.token = token;
    this.#events = events;
  }

  /** Whether neither end has anything to do with it any more. */
  get done(): boolean {
    return this.#over && this.terminal === undefined && (this.dead || this.up.length === 0);
  }

  /** Whether the client still holds its end. */
  get held(): boolean {
    return !this.#over;
  }

  get socket(): Socket {
    return {
      send: (text) => this.raw(Buffer.from(text)),
      close: () => this.#goodbye(),
      cut: () => {
        this.#goodbye();
        queueMicrotask(() => this.#closed(LOST));
      },
    };
  }

  /** The client sends bytes as they are. */
  raw(bytes: Uint8Array, binary = false): void {
    if (this.#open && !this.#over && !this.dead) this.up.push({ kind: "frame", bytes, binary });
  }

  /** What the broker sent and the client has not taken yet, in bytes. */
  get unread(): number {
    return this.#unread;
  }

  /** The broker's end, which tells when the broker closes it. */
  peer(onClose: () => void): Peer {
    const buffered = (): number => this.#unread;
    return {
      send: (out) => {
        if (this.terminal === undefined) return;
        this.onLeave(out.frame);
        const text = out.as(jsonCodec.encode) as string;
        this.#unread += text.length;
        this.#down({ kind: "frame", text });
      },
      get buffered() {
        return buffered();
      },
      drained: () => {
        if (this.#unread === 0 || this.terminal === undefined) return Promise.resolve();
        return new Promise((resolve) => this.#draining.push(resolve));
      },
      close: ({ code, reason }: Close) => {
        if (this.terminal === undefined) return;
        this.#down({ kind: "close", code, reason });
        onClose();
      },
    };
  }

  /** The broker answers the upgrade, pings, or refuses. */
  answer(what: Exclude<Down["kind"], "frame" | "close">): void {
    this.#down({ kind: what });
  }

  /** The broker's end is gone; the client learns of it, unless the whole machine went. */
  unplug(silently = false): void {
    this.terminal = undefined;
    for (const resolve of this.#draining.splice(0)) resolve();
    if (!silently && this.down.at(-1)?.kind !== "close") this.#down(LOST);
  }

  /** The client's process is gone; the broker learns of it, unless the whole machine went. */
  abandon(silently: boolean): void {
    this.#over = true;
    this.down.length = 0;
    this.#taken(this.#unread);
    if (silently) this.dead = true;
    else if (!this.dead) this.up.push({ kind: "close" });
  }

  /** The connection breaks: what was on its way is lost, and the ends that are named learn of it. */
  cut(client: boolean, broker: boolean): void {
    this.up.length = 0;
    this.down.length = 0;
    this.#taken(this.#unread);
    this.dead = true;
    if (broker) this.terminal?.hangUp();
    if (client) this.#closed(LOST);
  }

  /** One thing arrives at the client, `twice` where a frame is doubled on its way. */
  arrive(twice = false): void {
    const next = this.down.shift();
    if (next === undefined) return;
    if (next.kind === "frame") this.#taken(next.text.length);
    if (this.#over) return;
    if (next.kind === "open") {
      this.#open = true;
      this.#events.open({});
    } else if (next.kind === "ping") {
      if (!this.dead) this.up.push({ kind: "pong" });
      this.#events.ping();
    } else if (next.kind === "frame") {
      for (let times = twice ? 2 : 1; times > 0; times -= 1)
        if (!this.#over) this.#events.message(Buffer.from(next.text), false);
    } else if (next.kind === "close") {
      if (!this.dead) this.up.push({ kind: "close" });
      this.#closed(next);
    } else {
      this.#closed(next);
    }
  }

  #goodbye(): void {
    if (!this.#over && !this.dead) this.up.push({ kind: "close" });
  }

  #closed(why: Exclude<Down, { kind: "open" | "ping" | "frame" }>): void {
    if (this.#over) return;
    this.#over = true;
    this.down.length = 0;
    this.#taken(this.#unread);
    if (why.kind === "close") this.#events.closed(closedWith(why.code, why.reason));
    else this.#events.closed({ error: new A2achanError(why.kind), final: why.kind === "unauthenticated" });
  }

  #down(what: Down): void {
    if (this.dead || this.#over) this.#unread = 0;
    else this.down.push(what);
  }

  #taken(bytes: number): void {
    this.#unread -= bytes;
    if (this.#unread === 0) for (const resolve of this.#draining.splice(0)) resolve();
  }
}
