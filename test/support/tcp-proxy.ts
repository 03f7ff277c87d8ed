import { connect, createServer, type Server, type Socket } from "node:net";

/** A wire between a client and a broker that a test can stop and cut. */
export class TcpProxy {
  readonly #server: Server;
  readonly #path: string;
  readonly #pairs = new Set<{ near: Socket; far: Socket }>();
  #holding = false;

  private constructor(server: Server, path: string) {
    this.#server = server;
    this.#path = path;
  }

  /** A proxy for the `ws:` URL of a broker on this host. */
  static start(target: string): Promise<TcpProxy> {
    const { hostname, port, pathname } = new URL(target);
    const server = createServer({ noDelay: true });
    const proxy = new TcpProxy(server, pathname);
    server.on("connection", (near) =>
      proxy.#join(near, connect({ port: Number(port), host: hostname, noDelay: true })),
    );
    return new Promise((resolve) => server.listen(0, "127.0.0.1", () => resolve(proxy)));
  }

  get url(): string {
    const address = this.#server.address();
    if (address === null || typeof address === "string") throw new Error("not listening");
    return `ws://127.0.0.1:${address.port}${this.#path}`;
  }

  /** Keeps from the clients what the broker sends, until `cut`. */
  hold(): void {
    this.#holding = true;
  }

  /** Breaks every connection without a word; what was held is lost. */
  cut(): void {
    for (const { near, far } of this.#pairs) {
      near.resetAndDestroy();
      far.resetAndDestroy();
    }
    this.#pairs.clear();
    this.#holding = false;
  }

  async stop(): Promise<void> {
    this.cut();
    await new Promise<void>((resolve) => this.#server.close(() => resolve()));
  }

  #join(near: Socket, far: Socket): void {
    const pair = { near, far };
    this.#pairs.add(pair);
    const end = (): void => {
      near.destroy();
      far.destroy();
      this.#pairs.delete(pair);
    };
    for (const socket of [near, far]) socket.on("error", end).on("close", end);
    near.on("data", (data) => far.write(data));
    far.on("data", (data) => {
      if (!this.#holding) near.write(data);
    });
  }
}
