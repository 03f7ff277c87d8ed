import { PlainProcess } from "./plain-process.js";

export interface FleetServerOptions {
  /** Where the built broker lies, a file URL that ends in a slash. */
  dist: string;
  /** Where the journal lies. */
  directory: string;
  workers: number;
  watchers: number;
  /** Interval of pings. */
  pingMs: number;
}

export interface BareServerOptions {
  /** Bytes of the answers to a client's first messages, and of what is sent to everybody. */
  answers: readonly number[];
  push: number;
}

export interface FleetServerReady {
  url: string;
  /** A token for each; none of a bare server. */
  workers: readonly string[];
  watchers: readonly string[];
}

/** Bytes of frames, as the broker wrote them. */
export interface Sizes {
  answers: number[];
  push: number;
}

/** A snapshot as a watcher saw it: its pages, the bytes of the longest, and the rows in them. */
export interface Snapshot {
  pages: number;
  longest: number;
  rows: number;
}

/** What the clients' process is asked for. */
export interface Ask {
  what: "open" | "publish" | "snapshot" | "pushes";
  url: string;
  role: "worker" | "watcher";
  tokens?: readonly string[];
  /** Clients are opened from this number on ... */
  from?: number;
  /** ... to this one; or so many workers publish; or so many pushes are waited for. */
  count: number;
  /** A watcher that says hello and does not watch yet. */
  silent?: boolean;
  /** Rows that a worker publishes. */
  steps?: number;
}

const NODE = ["--expose-gc"];

/** A server and the clients of its fleet, each in a process of its own. */
export class Fleet {
  readonly ready: FleetServerReady;
  readonly #server: PlainProcess;
  readonly #clients: PlainProcess;

  private constructor(server: PlainProcess, clients: PlainProcess, ready: FleetServerReady) {
    this.#server = server;
    this.#clients = clients;
    this.ready = ready;
  }

  static ofBroker(options: FleetServerOptions, nodeOptions: readonly string[]): Promise<Fleet> {
    return Fleet.#start("fleet-server", options, nodeOptions);
  }

  static bare(options: BareServerOptions, nodeOptions: readonly string[]): Promise<Fleet> {
    return Fleet.#start("bare-server", options, nodeOptions);
  }

  static async #start(name: string, options: object, nodeOptions: readonly string[]): Promise<Fleet> {
    const server = await PlainProcess.start<FleetServerReady>(name, options, [...NODE, ...nodeOptions]);
    try {
      const clients = await PlainProcess.start<number>("fleet-clients", {});
      return new Fleet(server.process, clients.process, server.ready);
    } catch (error) {
      await server.process.stop();
      throw error;
    }
  }

  /** Opens the clients `from` to `count` of a role. */
  open(role: Ask["role"], count: number, more: Pick<Ask, "from" | "silent"> = {}): Promise<Sizes> {
    const tokens = role === "worker" ? this.ready.workers : this.ready.watchers;
    return this.#ask({ what: "open", role, count, ...(tokens.length > 0 && { tokens }), ...more });
  }

  /** The first `count` workers publish `steps` rows each: resolves with the pushes when every watcher has the last. */
  publish(count: number, steps = 1): Promise<number> {
    return this.#ask({ what: "publish", role: "worker", count, steps });
  }

  snapshot(): Promise<Snapshot> {
    return this.#ask({ what: "snapshot", role: "watcher", count: 1 });
  }

  /** Resolves when so many pushes have come in all. */
  pushes(count: number): Promise<void> {
    return this.#ask({ what: "pushes", role: "worker", count });
  }

  /** Has a bare server send to everybody; resolves when it has, not when it has arrived. */
  toAll(): Promise<number> {
    return this.#server.ask("to all");
  }

  /** Microseconds of CPU of the server so far. */
  cpu(): Promise<number> {
    return this.#server.cpu();
  }

  /** Bytes of memory that the server holds when all that can be collected is. */
  rss(): Promise<number> {
    return this.#server.ask("rss");
  }

  /** The longest block of the server's event loop while `work` went on, in milliseconds of CPU. */
  async longestBlock(work: () => Promise<unknown>): Promise<number> {
    await this.#server.ask("begin blocks");
    await work();
    return (await this.#server.ask<number>("end blocks")) / 1_000;
  }

  async stop(): Promise<void> {
    await Promise.allSettled([this.#clients.stop(), this.#server.stop()]);
  }

  #ask<Answer>(ask: Omit<Ask, "url">): Promise<Answer> {
    return this.#clients.ask<Answer>(JSON.stringify({ url: this.ready.url, ...ask }));
  }
}
