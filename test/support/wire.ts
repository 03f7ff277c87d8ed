import { WebSocket } from "ws";

/** A frame as it came over the wire. */
export type Frame = Record<string, unknown> & { type: string };

/** A raw client of the wire protocol: what any language could write. Waits for frames, never for time. */
export class Wire {
  readonly pushes: Frame[] = [];
  #pings = 0;
  readonly #pinged: { count: number; resolve: () => void }[] = [];
  /** Resolves with the close code and reason. */
  readonly closed: Promise<{ code: number; reason: string }>;
  readonly #ws: WebSocket;
  readonly #replies = new Map<string, (frame: Frame) => void>();
  readonly #waiting: { matches: (frame: Frame) => boolean; resolve: (frame: Frame) => void }[] = [];
  #ids = 0;

  private constructor(ws: WebSocket) {
    this.#ws = ws;
    ws.on("message", (data) => this.#take(JSON.parse((data as Buffer).toString("utf8")) as Frame));
    ws.on("ping", () => {
      this.#pings += 1;
      for (const { count, resolve } of this.#pinged) if (count <= this.#pings) resolve();
    });
    ws.on("error", () => {});
    this.closed = new Promise((resolve) => {
      ws.on("close", (code, reason) => resolve({ code, reason: String(reason) }));
    });
  }

  /** Opens a connection without saying hello; rejects with the HTTP status when the upgrade is refused. */
  static open(url: string, token?: string, headers: Record<string, string> = {}): Promise<Wire> {
    const authorization = token === undefined ? {} : { authorization: `Bearer ${token}` };
    const ws = new WebSocket(url, "a2achan.v1.json", { headers: { ...authorization, ...headers } });
    const wire = new Wire(ws);
    return new Promise((resolve, reject) => {
      ws.on("open", () => resolve(wire));
      ws.on("unexpected-response", (_request, response) => {
        reject(new Error(`HTTP ${response.statusCode}`));
        ws.terminate();
      });
    });
  }

  /** Opens a connection and takes a role; resolves when welcomed. */
  static async hello(url: string, token: string, hello: Record<string, unknown>): Promise<Wire & { welcome: Frame }> {
    const wire = await Wire.open(url, token);
    const welcome = await wire.ask({ type: "hello", ...hello });
    if (welcome.type !== "welcome") throw new Error(`not welcomed: ${JSON.stringify(welcome)}`);
    return Object.assign(wire, { welcome });
  }

  /** Sends a request and resolves with its reply. */
  ask(frame: Frame): Promise<Frame> {
    const id = `t${(this.#ids += 1)}`;
    const reply = new Promise<Frame>((resolve) => this.#replies.set(id, resolve));
    this.raw(JSON.stringify({ ...frame, id }));
    return reply;
  }

  /** Sends bytes as they are. */
  raw(data: string | Uint8Array, binary = false): void {
    this.#ws.send(data, { binary });
  }

  /** Resolves with the next push that matches, one that came already included; each push is given once. */
  push(matches: (frame: Frame) => boolean): Promise<Frame> {
    const at = this.pushes.findIndex(matches);
    if (at !== -1) return Promise.resolve(this.pushes.splice(at, 1)[0] as Frame);
    return new Promise((resolve) => this.#waiting.push({ matches, resolve }));
  }

  /** A round trip: everything that the broker sent before it has arrived. */
  async barrier(): Promise<void> {
    await this.ask({ type: "ping" });
  }

  /** Resolves when `count` WebSocket pings have come in all; each was answered before. */
  pinged(count: number): Promise<void> {
    if (count <= this.#pings) return Promise.resolve();
    return new Promise((resolve) => this.#pinged.push({ count, resolve }));
  }

  /** Stops reading from the socket; the broker's bytes pile up. */
  pause(): void {
    this.#ws.pause();
  }

  /** Reads on. */
  resume(): void {
    this.#ws.resume();
  }

  /** Drops the connection without a goodbye. */
  drop(): void {
    this.#ws.terminate();
  }

  async close(): Promise<void> {
    this.#ws.close();
    await this.closed;
  }

  #take(frame: Frame): void {
    // The pages of a watch all carry its id: the first is the reply, the others are taken as pushes.
    const id = frame["id"];
    const reply = typeof id === "string" ? this.#replies.get(id) : undefined;
    if (reply !== undefined && typeof id === "string") {
      this.#replies.delete(id);
      return reply(frame);
    }
    const at = this.#waiting.findIndex(({ matches }) => matches(frame));
    if (at === -1) this.pushes.push(frame);
    else this.#waiting.splice(at, 1)[0]?.resolve(frame);
  }
}
