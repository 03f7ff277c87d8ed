import { WebSocketServer, type WebSocket } from "ws";
import { FakeClock } from "./fake-clock.js";
import type { Runtime } from "../../src/client/runtime.js";
import type { Frame } from "./wire.js";

/** A fake clock that tells when a timer of a length is set, so that a test can wait for it and let it fire. */
export class ArmedClock extends FakeClock {
  readonly #armed: number[] = [];
  readonly #waiting: { ms: number; resolve: () => void }[] = [];

  override at(ms: number, fn: () => void): Disposable {
    const timer = super.at(ms, fn);
    const waiting = this.#waiting.findIndex((wanted) => wanted.ms === ms);
    if (waiting === -1) this.#armed.push(ms);
    else this.#waiting.splice(waiting, 1)[0]?.resolve();
    return timer;
  }

  /** Waits until a timer of `ms` milliseconds has been set, and lets that time pass. Each timer counts once. */
  async fire(ms: number): Promise<void> {
    await this.armed(ms);
    this.advance(ms);
  }

  armed(ms: number): Promise<void> {
    const at = this.#armed.indexOf(ms);
    if (at === -1) return new Promise((resolve) => this.#waiting.push({ ms, resolve }));
    this.#armed.splice(at, 1);
    return Promise.resolve();
  }
}

/** A client's surroundings: still time, no jitter (the first wait to reconnect is 125 ms), keys k1, k2, ... */
export function stillRuntime(): Runtime & { clock: ArmedClock } {
  let keys = 0;
  return { clock: new ArmedClock(), random: () => 0, freshKey: () => `k${(keys += 1)}` };
}

/** The first wait of a `stillRuntime` before it reconnects, in milliseconds. */
export const FIRST_RETRY_MS = 125;

/** One connection of a client, as its script sees it. */
export class Script {
  readonly authorization: string | undefined;
  readonly subprotocol: string;
  /** Whether `ping` frames are answered by themselves, and never seen. */
  answersPings = true;
  readonly #ws: WebSocket;
  readonly #frames: Frame[] = [];
  readonly #waiting: ((frame: Frame) => void)[] = [];
  /** Resolves with the close code. */
  readonly closed: Promise<number>;

  constructor(ws: WebSocket, authorization: string | undefined) {
    this.#ws = ws;
    this.authorization = authorization;
    this.subprotocol = ws.protocol;
    ws.on("error", () => {});
    ws.on("message", (data) => {
      const frame = JSON.parse((data as Buffer).toString("utf8")) as Frame;
      if (frame.type === "ping" && this.answersPings) return this.send({ type: "pong", id: frame["id"] });
      const waiting = this.#waiting.shift();
      if (waiting === undefined) this.#frames.push(frame);
      else waiting(frame);
    });
    this.closed = new Promise((resolve) => {
      ws.on("close", (code) => resolve(code));
    });
  }

  /** The client's next frame, in order. */
  next(): Promise<Frame> {
    const frame = this.#frames.shift();
    return frame === undefined ? new Promise((resolve) => this.#waiting.push(resolve)) : Promise.resolve(frame);
  }

  /** Frames that came and were not asked for. */
  get unread(): readonly Frame[] {
    return this.#frames;
  }

  /** Answers `hello`; resolves with it. */
  async welcome(role: string, fields: Record<string, unknown> = {}): Promise<Frame> {
    const hello = await this.next();
    this.send({
      type: "welcome",
      id: hello["id"],
      protocol: "a2achan/1",
      principal: { role, subject: "someone" },
      session: "s_1",
      limits: {},
      text_policy: 1,
      cursor: "log.10",
      gap: false,
      ...fields,
    });
    return hello;
  }

  send(frame: Record<string, unknown>): void {
    this.#ws.send(JSON.stringify(frame));
  }

  /** Sends several frames in one piece of the TCP stream. */
  sendAtOnce(...frames: Record<string, unknown>[]): void {
    const { _socket: socket } = this.#ws as unknown as { _socket: { cork(): void; uncork(): void } };
    socket.cork();
    for (const frame of frames) this.send(frame);
    socket.uncork();
  }

  raw(data: string | Uint8Array, binary = false): void {
    this.#ws.send(data, { binary });
  }

  ping(): Promise<void> {
    return new Promise((resolve) => {
      this.#ws.once("pong", () => resolve());
      this.#ws.ping();
    });
  }

  /** Reads nothing any more. */
  pause(): void {
    this.#ws.pause();
  }

  close(code: number, reason = ""): void {
    this.#ws.close(code, reason);
  }

  /** Breaks the connection without a word. */
  drop(): void {
    this.#ws.terminate();
  }
}

/** A broker that says what a test tells it to say, on a real socket. */
export class ScriptedBroker {
  readonly #server: WebSocketServer;
  readonly #scripts: Script[] = [];
  readonly #waiting: ((script: Script) => void)[] = [];

  private constructor(server: WebSocketServer) {
    this.#server = server;
    server.on("connection", (ws, request) => {
      const script = new Script(ws, request.headers.authorization);
      const waiting = this.#waiting.shift();
      if (waiting === undefined) this.#scripts.push(script);
      else waiting(script);
    });
  }

  /** With `status`, every upgrade is refused with it. */
  static start(status?: number): Promise<ScriptedBroker> {
    const server = new WebSocketServer({
      host: "127.0.0.1",
      port: 0,
      ...(status !== undefined && { verifyClient: (_info, done) => done(false, status) }),
    });
    return new Promise((resolve) => server.on("listening", () => resolve(new ScriptedBroker(server))));
  }

  get url(): string {
    const address = this.#server.address();
    if (address === null || typeof address === "string") throw new Error("not listening");
    return `ws://127.0.0.1:${address.port}/v1`;
  }

  /** The next connection of a client. */
  accept(): Promise<Script> {
    const script = this.#scripts.shift();
    return script === undefined ? new Promise((resolve) => this.#waiting.push(resolve)) : Promise.resolve(script);
  }

  async stop(): Promise<void> {
    for (const ws of this.#server.clients) ws.terminate();
    await new Promise<void>((resolve) => this.#server.close(() => resolve()));
  }
}
