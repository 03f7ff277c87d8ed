import { WebSocket } from "ws";
import { codecOf } from "./codec.js";

export type Frame = Record<string, unknown>;

/** How an attempt to connect came out: an open socket, or the HTTP status that refused it. */
export type Connected = { client: Client } | { status: number };

/** What goes wrong when something that must come does not: generous, and the only clock of the suite. */
const PATIENCE_MS = 10_000;

/** One raw connection in the codec that the broker selected: messages out, frames in, sorted into replies by `id` and pushes in order of arrival. */
export class Client {
  readonly pushes: Frame[] = [];
  readonly closed: Promise<{ code: number; reason: string }>;
  readonly #ws: WebSocket;
  readonly #replies = new Map<string, Frame[]>();
  readonly #wakers = new Set<() => void>();
  #end: string | undefined;
  #ids = 0;

  private constructor(ws: WebSocket) {
    this.#ws = ws;
    ws.on("error", () => {});
    ws.on("message", (data, isBinary) => this.#take(data as Buffer, isBinary));
    this.closed = new Promise((resolve) => {
      ws.on("close", (code, reason) => {
        this.#end = `closed with ${code} ${String(reason)}`;
        resolve({ code, reason: String(reason) });
        this.#wake();
      });
    });
  }

  static connect(url: string, headers: Record<string, string>, subprotocols: string[]): Promise<Connected> {
    const ws = new WebSocket(url, subprotocols, { headers });
    const client = new Client(ws);
    return new Promise((resolve, reject) => {
      ws.on("open", () => resolve({ client }));
      ws.on("unexpected-response", (_request, { statusCode = 0 }) => {
        resolve({ status: statusCode });
        ws.terminate();
      });
      ws.on("error", reject);
    });
  }

  /** The subprotocol that the broker selected. */
  get subprotocol(): string {
    return this.#ws.protocol;
  }

  /** Sends a request, under a fresh id if it has none, and gives the id back. */
  send(frame: Frame): string {
    const id = typeof frame["id"] === "string" ? frame["id"] : `r${(this.#ids += 1)}`;
    this.say({ ...frame, id });
    return id;
  }

  /** Sends a request and gives its reply. */
  ask(frame: Frame): Promise<Frame> {
    return this.reply(this.send(frame));
  }

  /** Sends one message that is this value, as it is. */
  say(value: unknown): void {
    this.raw(codecOf(this.subprotocol).write(value));
  }

  raw(data: string | Uint8Array, binary = codecOf(this.subprotocol).binary): void {
    this.#ws.send(data, { binary }, () => {});
  }

  /** The next reply to a request. */
  reply(id: string): Promise<Frame> {
    return this.#next(`reply to ${id}`, () => this.#replies.get(id)?.shift());
  }

  /** The oldest push of this type that was not taken yet. */
  push(type: unknown): Promise<Frame> {
    return this.#next(`push of type ${String(type)}`, () => {
      const at = this.pushes.findIndex((push) => push["type"] === type);
      return at === -1 ? undefined : this.pushes.splice(at, 1)[0];
    });
  }

  /** A round trip: what the broker sent before has arrived. */
  async barrier(): Promise<void> {
    await this.ask({ type: "ping" });
  }

  /** The close by the broker. */
  async end(): Promise<{ code: number; reason: string }> {
    const came = await within(this.closed);
    if (came === undefined) throw new Error("the broker did not close the connection");
    return came;
  }

  async close(): Promise<void> {
    this.#ws.close(1000);
    await this.closed;
  }

  /** Stops reading, so that not even a close is answered. */
  pause(): void {
    this.#ws.pause();
  }

  drop(): void {
    this.#ws.terminate();
  }

  #take(data: Buffer, isBinary: boolean): void {
    const codec = codecOf(this.subprotocol);
    if (isBinary !== codec.binary) throw new Error("the broker sent a message of the wrong kind");
    const frame = codec.read(data) as Frame;
    const { id } = frame;
    if (typeof id !== "string") this.pushes.push(frame);
    else if (this.#replies.has(id)) this.#replies.get(id)?.push(frame);
    else this.#replies.set(id, [frame]);
    this.#wake();
  }

  #wake(): void {
    for (const wake of this.#wakers) wake();
  }

  async #next(what: string, take: () => Frame | undefined): Promise<Frame> {
    for (;;) {
      const frame = take();
      if (frame !== undefined) return frame;
      if (this.#end !== undefined) throw new Error(`no ${what} came: the connection was ${this.#end}`);
      let waker: () => void = () => {};
      const woken = new Promise<true>((resolve) => {
        waker = () => resolve(true);
        this.#wakers.add(waker);
      });
      const came = await within(woken);
      this.#wakers.delete(waker);
      if (came === undefined) throw new Error(`no ${what} came; unread pushes: ${JSON.stringify(this.pushes)}`);
    }
  }
}

/** What the promise gives, or undefined when it gives nothing for much longer than it should take. */
async function within<T>(promise: Promise<T>): Promise<T | undefined> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<undefined>((resolve) => {
    timer = setTimeout(() => resolve(undefined), PATIENCE_MS);
  });
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
  }
}
