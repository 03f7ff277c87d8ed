import type { WebSocket } from "ws";
import { PlainProcess } from "./plain-process.js";
import { NO_LISTENER, openAll, type FrameSizes, type Listener, type Side } from "./side.js";

export interface RelayOptions {
  workers: number;
  senders: number;
  sizes: FrameSizes;
  /** Every frame that the broker sends for one ack, instead of the one that says WITNESSED. */
  sameFrames: boolean;
}

export interface RelayReady {
  url: string;
}

const [DELIVERY, REPLY, WITNESS] = [100, 97, 119]; // d, a, w

/** The bare relay and its clients. */
export class RelaySide implements Side {
  readonly workers: number;
  listener: Listener = NO_LISTENER;
  readonly #process: PlainProcess;
  readonly #fromWorkers: readonly WebSocket[];
  readonly #fromSenders: readonly WebSocket[];
  readonly #requests: readonly Buffer[];
  readonly #ack: Buffer;
  /** Of each worker: how many of the last frames of its cycle have come. */
  readonly #last: Uint8Array;
  readonly #lasts: number;

  private constructor(options: RelayOptions, process: PlainProcess, workers: WebSocket[], senders: WebSocket[]) {
    const { sizes, sameFrames } = options;
    this.workers = options.workers;
    this.#process = process;
    this.#fromWorkers = workers;
    this.#fromSenders = senders;
    this.#requests = Array.from(workers, (_, at) => {
      const number = String.fromCharCode(64 + (at >> 6), 64 + (at & 63));
      return Buffer.from(`c${number}`.padEnd(sizes.correct, "."));
    });
    this.#ack = Buffer.from("a".padEnd(sizes.ack, "."));
    this.#last = new Uint8Array(options.workers);
    this.#lasts = sameFrames ? 2 : 1;
    for (const socket of [...workers, ...senders]) socket.on("message", (data) => this.#take(data as Buffer));
  }

  static async start(options: RelayOptions, nodeOptions: readonly string[] = []): Promise<RelaySide> {
    const { process, ready } = await PlainProcess.start<RelayReady>("relay", options, nodeOptions);
    try {
      const urls = (role: string, count: number): { url: string }[] =>
        Array.from({ length: count }, (_, at) => ({ url: `${ready.url}/${role}/${at}` }));
      const workers = await openAll(urls("worker", options.workers));
      const senders = await openAll(urls("sender", options.senders));
      return new RelaySide(options, process, workers, senders);
    } catch (error) {
      await process.stop();
      throw error;
    }
  }

  correct(worker: number): void {
    this.#fromSenders[worker % this.#fromSenders.length]?.send(this.#requests[worker] ?? "", { binary: false });
  }

  ack(worker: number): void {
    this.#fromWorkers[worker]?.send(this.#ack, { binary: false });
  }

  cpu(): Promise<number> {
    return this.#process.cpu();
  }

  async stop(): Promise<void> {
    for (const socket of [...this.#fromWorkers, ...this.#fromSenders]) socket.terminate();
    await this.#process.stop();
  }

  #take(frame: Buffer): void {
    const worker = (((frame[1] ?? 0) & 63) << 6) | ((frame[2] ?? 0) & 63);
    const tag = frame[0];
    if (tag === DELIVERY) return this.listener.delivered(worker);
    if (tag === WITNESS) this.listener.witnessed(worker);
    if (tag !== WITNESS && tag !== REPLY) return;
    const last = (this.#last[worker] ?? 0) + 1;
    this.#last[worker] = last % this.#lasts;
    if (last === this.#lasts) this.listener.settled(worker);
  }
}
