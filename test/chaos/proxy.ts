import { connect, createServer, type Server, type Socket } from "node:net";
import type { Random } from "../support/random.js";
import { turn } from "../support/local.js";
import { drawScript, type Break, type Script } from "./script.js";

/** What a proxy did to its connections. */
export interface ProxyFigures {
  connections: number;
  twins: number;
  /** Connections whose every byte went by itself. */
  split: number;
  breaks: Partial<Record<Break, number>>;
}

/**
 * The line of one client to a broker: each connection follows a script that is drawn from the line's own seed, so that
 * the same seed gives the n-th connection of a client the same fate. Waits are counted in turns of the event loop and in
 * bytes, never in time.
 */
export class ChaosProxy {
  readonly figures: ProxyFigures = { connections: 0, twins: 0, split: 0, breaks: {} };
  readonly #server: Server;
  readonly #target: URL;
  readonly #random: Random;
  readonly #twins: boolean;
  readonly #passages = new Set<Passage>();
  #ghosts: { left: number; speak: () => void }[] = [];
  #faults: number;

  private constructor(server: Server, target: URL, random: Random, options: { twins: boolean; faults: number }) {
    this.#server = server;
    this.#target = target;
    this.#random = random;
    this.#twins = options.twins;
    this.#faults = options.faults;
  }

  /** The first `faults` connections break; those behind them are only split and delayed. */
  static start(target: string, random: Random, options: { twins: boolean; faults: number }): Promise<ChaosProxy> {
    const server = createServer({ noDelay: true });
    const proxy = new ChaosProxy(server, new URL(target), random, options);
    server.on("connection", (near) => proxy.#join(near));
    return new Promise((resolve) => server.listen(0, "127.0.0.1", () => resolve(proxy)));
  }

  get url(): string {
    const address = this.#server.address();
    if (address === null || typeof address === "string") throw new Error("not listening");
    return `ws://127.0.0.1:${address.port}${this.#target.pathname}`;
  }

  async stop(): Promise<void> {
    for (const passage of this.#passages) passage.reset();
    this.#speak(Number.POSITIVE_INFINITY);
    await new Promise<void>((resolve) => this.#server.close(() => resolve()));
  }

  #join(near: Socket): void {
    const { figures } = this;
    const script = drawScript(this.#random, figures.connections === 0, this.#twins);
    if (figures.connections >= this.#faults) script.after = Number.POSITIVE_INFINITY;
    figures.connections += 1;
    if (script.twin) figures.twins += 1;
    if (script.piece === 1) figures.split += 1;
    const passage = new Passage(near, () => this.#dial(), script, {
      passed: (bytes) => this.#speak(bytes),
      broke: () => (figures.breaks[script.breaks] = (figures.breaks[script.breaks] ?? 0) + 1),
      haunts: (speak) => this.#ghosts.push({ left: script.later, speak }),
      over: () => this.#passages.delete(passage),
    });
    this.#passages.add(passage);
  }

  #dial(): Socket {
    return connect({ port: Number(this.#target.port), host: this.#target.hostname, noDelay: true });
  }

  /** So many bytes have come to the client: ghosts that waited for them speak. */
  #speak(bytes: number): void {
    for (const ghost of this.#ghosts) ghost.left -= bytes;
    for (const { speak } of this.#ghosts.filter(({ left }) => left <= 0)) speak();
    this.#ghosts = this.#ghosts.filter(({ left }) => left > 0);
  }
}

interface PassageEvents {
  /** Bytes have come from the broker to the client. */
  passed(bytes: number): void;
  broke(): void;
  /** The client is gone and the broker does not know: `speak` sends what was held back, and ends that connection. */
  haunts(speak: () => void): void;
  over(): void;
}

/** One connection of a client, and the one or two that the broker sees of it. */
class Passage {
  readonly #near: Socket;
  readonly #fars: readonly Socket[];
  readonly #script: Script;
  readonly #events: PassageEvents;
  readonly #left: { up: number; down: number };
  /** What vanishes from now on. */
  #lost: "nothing" | "up" | "down" | "all" = "nothing";
  /** What a ghost will say. */
  #held: Buffer[] | undefined;
  #over = false;

  constructor(near: Socket, dial: () => Socket, script: Script, events: PassageEvents) {
    const far = dial();
    this.#near = near;
    this.#fars = script.twin ? [far, dial()] : [far];
    this.#script = script;
    this.#events = events;
    const never = Number.POSITIVE_INFINITY;
    this.#left = { up: never, down: never, [script.way]: script.after };
    for (const socket of [near, ...this.#fars]) socket.on("error", () => {});
    this.#pass(near, "up", (piece) => {
      for (const socket of this.#fars) if (socket.writable) socket.write(piece);
    });
    this.#pass(far, "down", (piece) => {
      if (near.writable) near.write(piece);
      this.#events.passed(piece.length);
    });
    this.#fars[1]?.resume();
  }

  reset(): void {
    this.#near.resetAndDestroy();
    for (const far of this.#fars) far.resetAndDestroy();
  }

  /** Passes on what comes that way, in pieces, in order, and its end behind it. */
  #pass(from: Socket, way: "up" | "down", on: (piece: Buffer) => void): void {
    let before = Promise.resolve();
    from.on("data", (data) => {
      before = before.then(() => this.#pieces(data, way, on));
    });
    from.on("close", () => void before.then(() => this.#closed()));
  }

  async #pieces(data: Buffer, way: "up" | "down", on: (piece: Buffer) => void): Promise<void> {
    const { piece, lag } = this.#script;
    await turns(lag);
    for (let at = 0; at < data.length; at += piece) {
      if (piece === 1) await turn();
      if (this.#lost === way || this.#lost === "all") return;
      if (this.#held !== undefined && way === "up") return void this.#held.push(data.subarray(at));
      const next = data.subarray(at, at + Math.min(piece, this.#left[way]));
      on(next);
      this.#left[way] -= next.length;
      if (this.#left[way] > 0) continue;
      this.#left[way] = Number.POSITIVE_INFINITY;
      return this.#break(data.subarray(at + next.length));
    }
  }

  #break(rest: Buffer): void {
    this.#events.broke();
    switch (this.#script.breaks) {
      case "reset":
        return this.reset();
      case "end":
        return this.#end();
      case "mute":
        this.#lost = this.#script.way;
        return void turns(this.#script.later).then(() => this.reset());
      case "silence":
        this.#lost = "all";
        return;
      case "ghost":
        this.#held = [rest];
        return void turns(this.#script.later).then(() => this.#near.resetAndDestroy());
    }
  }

  #end(): void {
    for (const socket of [this.#near, ...this.#fars]) socket.end(() => socket.destroy());
  }

  /** One side has gone: the other follows, unless it is haunted. */
  #closed(): void {
    if (this.#over) return;
    this.#over = true;
    this.#events.over();
    const held = this.#held;
    if (held === undefined || !this.#near.destroyed) return this.#end();
    this.#events.haunts(() => {
      for (const far of this.#fars) {
        if (far.writable) far.write(Buffer.concat(held));
        far.end(() => far.destroy());
      }
    });
  }
}

async function turns(count: number): Promise<void> {
  for (let left = count; left > 0; left -= 1) await turn();
}
