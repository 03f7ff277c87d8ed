import type { WebSocket } from "ws";
import { PlainProcess } from "./plain-process.js";
import { NO_LISTENER, openAll, type FrameSizes, type Listener, type Side } from "./side.js";

export interface BrokerServerOptions {
  /** Where the built broker lies, a file URL that ends in a slash. */
  dist: string;
  /** Where the journal lies; without it the log is in memory. */
  directory?: string;
  /** Worker ids, and subjects of orchestrators. */
  workers: readonly string[];
  senders: readonly string[];
}

export interface BrokerServerReady {
  url: string;
  /** A token for each. */
  workers: readonly string[];
  senders: readonly string[];
}

export interface BrokerSideOptions {
  dist: string;
  directory?: string;
  workers: number;
  senders: number;
}

const MESSAGE =
  "Keep the retry budget in one place: the helper in src/net has it already, so please do not add a second one here.";
const LEASE_MS = 900_000;
const CORRECTION_ID_CHARS = 37;
const DIGEST_CHARS = 71;

/** The broker and its clients, which speak raw frames and slice what they need out of the answers. */
export class BrokerSide implements Side {
  readonly workers: number;
  listener: Listener = NO_LISTENER;
  /** As seen in the last cycle. */
  readonly sizes: FrameSizes = {
    correct: 0,
    receipt: 0,
    delivery: 0,
    ack: 0,
    reply: 0,
    delivered: 0,
    acked: 0,
    witnessed: 0,
  };
  readonly #process: PlainProcess;
  readonly #fromWorkers: readonly WebSocket[];
  readonly #fromSenders: readonly WebSocket[];
  /** Of each worker: its current digest, the correction that it holds, the digest that this one cites. */
  readonly #digests: string[] = [];
  readonly #held: string[] = [];
  readonly #cited: string[] = [];
  readonly #last: Uint8Array;
  #requests = 0;

  private constructor(process: PlainProcess, workers: readonly WebSocket[], senders: readonly WebSocket[]) {
    this.workers = workers.length;
    this.#process = process;
    this.#fromWorkers = workers;
    this.#fromSenders = senders;
    this.#last = new Uint8Array(workers.length);
  }

  static async start(options: BrokerSideOptions, nodeOptions: readonly string[] = []): Promise<BrokerSide> {
    const { workers, senders, ...rest } = options;
    const server: BrokerServerOptions = {
      ...rest,
      workers: Array.from({ length: workers }, (_, at) => workerId(at)),
      senders: Array.from({ length: senders }, (_, at) => `orchestrator-${at}`),
    };
    const { process, ready } = await PlainProcess.start<BrokerServerReady>("broker-server", server, nodeOptions);
    try {
      const open = (tokens: readonly string[]): Promise<WebSocket[]> =>
        openAll(
          tokens.map((token) => ({ url: ready.url, token })),
          "a2achan.v1.json",
        );
      const side = new BrokerSide(process, await open(ready.workers), await open(ready.senders));
      await side.#begin();
      return side;
    } catch (error) {
      await process.stop();
      throw error;
    }
  }

  correct(worker: number): void {
    const digest = this.#digests[worker] ?? "";
    this.#cited[worker] = digest;
    this.#requests += 1;
    const frame =
      `{"type":"correct","id":"c${this.#requests}","worker_id":"${workerId(worker)}","issue":"2162","lane":"src/net",` +
      `"message":"${MESSAGE}","status_digest":"${digest}","key":"k${this.#requests}"}`;
    this.sizes.correct = frame.length;
    this.#fromSenders[worker % this.#fromSenders.length]?.send(frame);
  }

  ack(worker: number): void {
    const held = this.#held[worker] ?? "";
    this.#requests += 1;
    const frame =
      `{"type":"ack","id":"a${this.#requests}","correction_id":"${held}","status_digest":"${this.#cited[worker] ?? ""}",` +
      `"next_action":{"summary":"use the helper in src/net, then run its tests (step ${this.#requests})",` +
      `"reflects":["${held}"],"via":"plan"}}`;
    this.sizes.ack = frame.length;
    this.#fromWorkers[worker]?.send(frame);
  }

  cpu(): Promise<number> {
    return this.#process.cpu();
  }

  async stop(): Promise<void> {
    for (const socket of [...this.#fromWorkers, ...this.#fromSenders]) socket.terminate();
    await this.#process.stop();
  }

  /** Every connection says hello, every worker publishes a row; from then on frames are taken as parts of cycles. */
  async #begin(): Promise<void> {
    await Promise.all(
      this.#fromSenders.map(async (socket, at) => {
        await answer(socket, { type: "hello", id: "h", role: "orchestrator" }, "welcome");
        socket.on("message", (data) => this.#toSender(at, data as Buffer));
      }),
    );
    await Promise.all(
      this.#fromWorkers.map(async (socket, at) => {
        const hello = { type: "hello", id: "h", role: "worker", worker_id: workerId(at), lease_ms: LEASE_MS };
        await answer(socket, hello, "welcome");
        const next_action = { summary: "add a retry to the fetch of the index" };
        const status = { type: "status", id: "s", issue: "2162", lane: "src/net", next_action };
        const row = await answer(socket, { ...status, last_action: "read the issue and the failing test" }, "row");
        this.#digests[at] = String(row["status_digest"]);
        socket.on("message", (data) => this.#toWorker(at, data as Buffer));
      }),
    );
  }

  #toWorker(worker: number, data: Buffer): void {
    const text = data.toString("latin1");
    if (text.startsWith('{"type":"correction"')) {
      this.sizes.delivery = data.length;
      this.#held[worker] = after(text, '"correction_id":"', CORRECTION_ID_CHARS);
      this.listener.delivered(worker);
    } else if (text.startsWith('{"type":"stage","id"') && text.includes('"stage":"WITNESSED"')) {
      this.sizes.reply = data.length;
      this.#digests[worker] = after(text, '"status_digest":"', DIGEST_CHARS);
      this.#ends(worker);
    } else {
      this.listener.failed(new Error(`a worker was sent ${text}`));
    }
  }

  #toSender(sender: number, data: Buffer): void {
    const text = data.toString("latin1");
    if (text.startsWith('{"type":"receipt"') && text.includes('"verdict":"ALLOW"')) {
      this.sizes.receipt = data.length;
    } else if (text.includes('"stage":"WITNESSED"')) {
      this.sizes.witnessed = data.length;
      const worker = Number(after(text, '"worker_id":"w-', 5));
      this.listener.witnessed(worker);
      this.#ends(worker);
    } else if (text.includes('"stage":"DELIVERED"')) {
      this.sizes.delivered = data.length;
    } else if (text.includes('"stage":"ACKED"')) {
      this.sizes.acked = data.length;
    } else {
      this.listener.failed(new Error(`orchestrator-${sender} was sent ${text}`));
    }
  }

  /** A cycle ends with the sender's push and the worker's answer, which has the digest for the next one. */
  #ends(worker: number): void {
    const last = (this.#last[worker] ?? 0) + 1;
    this.#last[worker] = last % 2;
    if (last === 2) this.listener.settled(worker);
  }
}

function workerId(worker: number): string {
  return `w-${String(worker).padStart(5, "0")}`;
}

function after(text: string, mark: string, chars: number): string {
  const at = text.indexOf(mark) + mark.length;
  return text.slice(at, at + chars);
}

function answer(socket: WebSocket, request: object, type: string): Promise<Record<string, unknown>> {
  return new Promise((resolve, reject) => {
    socket.once("message", (data) => {
      const frame = JSON.parse((data as Buffer).toString("utf8")) as Record<string, unknown>;
      if (frame["type"] === type) resolve(frame);
      else reject(new Error(`not answered with ${type}: ${JSON.stringify(frame)}`));
    });
    socket.send(JSON.stringify(request));
  });
}
