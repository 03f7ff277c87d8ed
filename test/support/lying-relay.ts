import { WebSocket, WebSocketServer } from "ws";
import type { Frame } from "./wire.js";

/** Stands before a broker and tells its clients something else than the broker does; in JSON. */
export class LyingRelay {
  readonly #server: WebSocketServer;
  readonly #far = new Set<WebSocket>();

  private constructor(server: WebSocketServer, target: string, lie: (frame: Frame) => Frame) {
    this.#server = server;
    server.on("connection", (near, { headers }) => {
      const far = new WebSocket(target, near.protocol, { headers: { authorization: headers.authorization } });
      this.#far.add(far);
      const open = new Promise((resolve) => far.once("open", resolve));
      near.on("message", (data) => void open.then(() => far.send(String(data as Buffer))));
      far.on("message", (data) => near.send(JSON.stringify(lie(JSON.parse(String(data as Buffer)) as Frame))));
      for (const [one, other] of [
        [near, far],
        [far, near],
      ] as const) {
        one.on("close", () => other.terminate());
        one.on("error", () => other.terminate());
      }
    });
  }

  static start(target: string, lie: (frame: Frame) => Frame): Promise<LyingRelay> {
    const server = new WebSocketServer({ host: "127.0.0.1", port: 0 });
    return new Promise((resolve) => server.on("listening", () => resolve(new LyingRelay(server, target, lie))));
  }

  get url(): string {
    const address = this.#server.address();
    if (address === null || typeof address === "string") throw new Error("not listening");
    return `ws://127.0.0.1:${address.port}/v1`;
  }

  async stop(): Promise<void> {
    for (const ws of [...this.#server.clients, ...this.#far]) ws.terminate();
    await new Promise<void>((resolve) => this.#server.close(() => resolve()));
  }
}
