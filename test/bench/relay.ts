import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import type { Duplex } from "node:stream";
import { WebSocketServer, type ServerOptions, type WebSocket } from "ws";
import type { RelayOptions, RelayReady } from "./relay-side.js";

/**
 * The limit: a bare WebSocket relay with the broker's ws settings, connections, message pattern and sizes. It parses
 * nothing and makes nothing: two bytes of a request name the worker, and every frame that leaves is there beforehand.
 */
const { workers, senders, sizes, sameFrames } = JSON.parse(process.argv[1] ?? "") as RelayOptions;

/** Frames of one worker's cycles, each with the worker's number behind its first byte. */
interface Canned {
  receipt: Buffer;
  delivery: Buffer;
  reply: Buffer;
  pushes: Buffer[];
}

/** What is sent in one turn leaves in one write, as it does from the broker. */
class Corked {
  readonly #ws: WebSocket;
  readonly #socket: Duplex;
  #corked = false;

  constructor(ws: WebSocket, socket: Duplex) {
    this.#ws = ws;
    this.#socket = socket;
  }

  send(frame: Buffer): void {
    if (!this.#corked) {
      this.#corked = true;
      this.#socket.cork();
      process.nextTick(() => this.#uncork());
    }
    this.#ws.send(frame, { binary: false });
  }

  #uncork(): void {
    this.#corked = false;
    this.#socket.uncork();
  }
}

const canned = Array.from({ length: workers }, (_, worker): Canned => {
  const number = String.fromCharCode(64 + (worker >> 6), 64 + (worker & 63));
  const frame = (tag: string, bytes: number): Buffer => Buffer.from(`${tag}${number}`.padEnd(bytes, "."));
  return {
    receipt: frame("r", sizes.receipt),
    delivery: frame("d", sizes.delivery),
    reply: frame("a", sizes.reply),
    pushes: sameFrames
      ? [frame("s", sizes.delivered), frame("s", sizes.acked), frame("w", sizes.witnessed)]
      : [frame("w", sizes.witnessed)],
  };
});
const toSender = new Array<Corked | undefined>(senders);
const toWorker = new Array<Corked | undefined>(workers);

function fromSender(sender: number, request: Buffer): void {
  const worker = (((request[1] ?? 0) & 63) << 6) | ((request[2] ?? 0) & 63);
  const frames = canned[worker];
  if (frames === undefined) return;
  toSender[sender]?.send(frames.receipt);
  toWorker[worker]?.send(frames.delivery);
}

function fromWorker(worker: number): void {
  const frames = canned[worker];
  if (frames === undefined) return;
  if (sameFrames) toWorker[worker]?.send(frames.reply);
  const sender = toSender[worker % senders];
  for (const push of frames.pushes) sender?.send(push);
}

const settings: ServerOptions & { closeTimeout: number } = {
  noServer: true,
  clientTracking: false,
  perMessageDeflate: false,
  maxPayload: 131_072,
  maxFragments: 16,
  maxBufferedChunks: 1_024,
  skipUTF8Validation: true,
  closeTimeout: 2_000,
};
const wss = new WebSocketServer(settings);
const server = createServer();
server.on("upgrade", (request: IncomingMessage, socket: Duplex, head: Buffer) => {
  wss.handleUpgrade(request, socket, head, (ws) => {
    ws.on("error", () => {});
    const [, role, number] = (request.url ?? "").split("/");
    const at = Number(number);
    if (role === "sender") {
      toSender[at] = new Corked(ws, socket);
      ws.on("message", (data) => fromSender(at, data as Buffer));
    } else {
      toWorker[at] = new Corked(ws, socket);
      ws.on("message", () => fromWorker(at));
    }
  });
});
server.listen({ host: "127.0.0.1", port: 0, backlog: 4_096 }, () => {
  const { port } = server.address() as AddressInfo;
  process.send?.({ url: `ws://127.0.0.1:${port}` } satisfies RelayReady);
});
process.on("message", () => {
  const { user, system } = process.cpuUsage();
  process.send?.(user + system);
});
process.on("disconnect", () => process.exit());
