import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import type { Duplex } from "node:stream";
import { WebSocketServer, type ServerOptions, type WebSocket } from "ws";
import type { BareServerOptions, FleetServerReady } from "./fleet.js";

/**
 * The limit of a fleet: a bare WebSocket server with the broker's ws settings. It parses nothing, answers each message
 * with as many bytes as the broker's answer has, and sends one buffer to everybody in a loop.
 */
const { answers, push } = JSON.parse(process.argv[1] ?? "") as BareServerOptions;

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
const open: WebSocket[] = [];
const canned = answers.map((bytes) => Buffer.alloc(bytes, "."));
const same = Buffer.alloc(push, ".");
const wss = new WebSocketServer(settings);
const server = createServer();
server.on("upgrade", (request: IncomingMessage, socket: Duplex, head: Buffer) => {
  wss.handleUpgrade(request, socket, head, (ws) => {
    let answered = 0;
    open.push(ws);
    ws.on("error", () => {});
    ws.on("message", () => {
      const answer = canned[answered];
      answered += 1;
      if (answer !== undefined) ws.send(answer, { binary: false });
    });
  });
});

function cpu(): number {
  const { user, system } = process.cpuUsage();
  return user + system;
}

async function rss(): Promise<number> {
  for (let round = 0; round < 5; round += 1) {
    globalThis.gc?.();
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  return process.memoryUsage.rss();
}

function toAll(): number {
  for (const ws of open) ws.send(same, { binary: false });
  return open.length;
}

const questions: Readonly<Record<string, () => number | Promise<number>>> = { cpu, rss, "to all": toAll };
process.on("message", (question: string) => {
  void Promise.resolve(questions[question]?.()).then((answer) => process.send?.(answer));
});
process.on("disconnect", () => process.exit());
server.listen({ host: "127.0.0.1", port: 0, backlog: 4_096 }, () => {
  const { port } = server.address() as AddressInfo;
  process.send?.({ url: `ws://127.0.0.1:${port}`, workers: [], watchers: [] } satisfies FleetServerReady);
});
