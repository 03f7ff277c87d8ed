import { WebSocket } from "ws";
import type { Frame } from "../support/wire.js";

/** A client under a broker that may die at any time: what is unanswered then comes back as `undefined`. */
export class LoadClient {
  /** False once the connection has ended. */
  open = true;
  welcomed = false;
  /** The code with which it was closed. */
  code: number | undefined;
  readonly #ws: WebSocket;
  readonly #asked = new Map<string, (frame: Frame | undefined) => void>();
  #pushes: Frame[] = [];
  #woken: (() => void)[] = [];
  #ids = 0;

  private constructor(ws: WebSocket, read: (frame: Frame) => void) {
    this.#ws = ws;
    ws.on("message", (data) => {
      const frame = JSON.parse((data as Buffer).toString("utf8")) as Frame;
      read(frame);
      this.#take(frame);
    });
    ws.on("close", (code) => {
      this.open = false;
      this.code = code;
      for (const resolve of this.#asked.values()) resolve(undefined);
      this.#asked.clear();
      this.#wake();
    });
  }

  /** Connects and takes a role; `read` sees each frame as it is read. Not open when there is no broker to welcome it. */
  static async connect(
    url: string,
    token: string,
    hello: Record<string, unknown>,
    read: (frame: Frame) => void,
  ): Promise<LoadClient> {
    const ws = new WebSocket(url, "a2achan.v1.json", { headers: { authorization: `Bearer ${token}` } });
    const client = new LoadClient(ws, read);
    ws.on("error", () => {}); // a close follows, and tells the callers
    await new Promise<void>((resolve) => {
      ws.once("open", () => resolve());
      ws.once("close", () => resolve());
    });
    const welcome = await client.ask({ type: "hello", ...hello });
    client.welcomed = welcome?.type === "welcome";
    if (!client.welcomed) client.close();
    return client;
  }

  /** Sends one request; undefined when the connection ends before its reply. */
  ask(frame: Frame): Promise<Frame | undefined> {
    if (!this.open) return Promise.resolve(undefined);
    const id = `c${(this.#ids += 1)}`;
    return new Promise((resolve) => {
      this.#asked.set(id, resolve);
      this.#ws.send(JSON.stringify({ ...frame, id }));
    });
  }

  /** The pushes since the last call; waits for one, or for the end of the connection. */
  async pushes(): Promise<Frame[]> {
    if (this.#pushes.length === 0 && this.open) await new Promise<void>((resolve) => this.#woken.push(resolve));
    const pushes = this.#pushes;
    this.#pushes = [];
    return pushes;
  }

  close(): void {
    this.open = false;
    this.#ws.terminate();
  }

  #take(frame: Frame): void {
    const id = frame["id"];
    const asked = typeof id === "string" ? this.#asked.get(id) : undefined;
    if (asked === undefined) {
      this.#pushes.push(frame);
      return this.#wake();
    }
    this.#asked.delete(id as string);
    asked(frame);
  }

  #wake(): void {
    for (const resolve of this.#woken.splice(0)) resolve();
  }
}
