import { randomBytes } from "node:crypto";
import { createServer, type IncomingMessage, type Server } from "node:http";
import type { Socket } from "node:net";
import { getRequestListener } from "@hono/node-server";
import {
  Broker,
  OPERATOR_GRANT,
  grantRequest,
  type Clock,
  type NewToken,
  type TokenHashes,
  type TokenRequest,
} from "./broker/index.js";
import { jsonCodec } from "./codec/json.js";
import { msgpackCodec } from "./codec/msgpack.js";
import { httpApp } from "./http/app.js";
import type { TunableLimits } from "./protocol/index.js";
import type { EventStore } from "./storage/event-store.js";
import { MemoryStore } from "./storage/memory.js";
import { headerLists, judgeHost } from "./transport/handshake.js";
import { WsServer } from "./transport/ws-server.js";

export interface CreateBrokerOptions {
  /** Default 127.0.0.1. */
  host?: string;
  /** Default 0: a free one. */
  port?: number;
  /** Default: a log in memory, which lasts as long as the process. */
  store?: EventStore;
  /** Secret key of the log's correction ids, 32 bytes; must stay with its store. */
  idKey?: Uint8Array;
  /** Ed25519 secret with which the log's checkpoints are signed, 32 bytes; must stay with its store. */
  logKey?: Uint8Array;
  hashes?: TokenHashes;
  clock?: Clock;
  limits?: Partial<TunableLimits>;
  /** Host names beside the loopback ones by which clients may call this broker. */
  allowedHosts?: readonly string[];
  /** Browser origins that may connect; default: none. */
  allowedOrigins?: readonly string[];
  version?: string;
  /** Names a new log in its checkpoints; default: `a2achan/` and a random name. */
  origin?: string;
  /** Lets everybody read the log's tiles over HTTP; they hold no text. Default: only who may audit. */
  publicLog?: boolean;
  /** Told of a handler that threw; the connection concerned is closed 4500. */
  onFault?: (error: unknown) => void;
}

/** A broker that listens. */
export interface RunningBroker extends AsyncDisposable {
  /** `ws://HOST:PORT/v1` */
  readonly url: string;
  /** `http://HOST:PORT` */
  readonly http: string;
  /** The broker itself, for administration. */
  readonly broker: Broker;
  /** Resolves with the error if the store fails: everything was closed 4500, and the process should end. */
  readonly faulted: Promise<unknown>;
  /** Makes a token; it works at once. Throws RangeError when the request makes no sense. */
  addToken(request: TokenRequest): Promise<NewToken>;
  /** Gives the operator's grant to a token. */
  adoptOperator(token: NewToken): Promise<void>;
  /** Takes no more work, answers what was asked, closes every connection 4503 and the log. */
  stop(): Promise<void>;
}

const LOOPBACK = ["127.0.0.1", "localhost", "[::1]"];
const MOST_WAITING = 256;
/** Half a second for clients to answer a close before their sockets are cut. */
const CLOSE_GRACE_MS = 500;

/** Sockets that may be open without having been upgraded, beside so many connections. */
export function waitingSockets(connections: number): number {
  return Math.min(MOST_WAITING, 16 + Math.floor(connections / 4));
}

/**
 * Starts a broker on one port: WebSocket at `/v1`, health at `/healthz` and `/readyz`, the log at `/log`. Rejects if it
 * cannot listen. It runs a tenth cheaper in a process with `node --no-allocation-site-pretenuring`, as `a2achan` does.
 */
export async function createBroker(options: CreateBrokerOptions = {}): Promise<RunningBroker> {
  const { host = "127.0.0.1", port = 0, store = new MemoryStore() } = options;
  const { idKey = randomBytes(32), logKey = randomBytes(32) } = options;
  const onFault = options.onFault ?? (() => {});
  const broker = await Broker.open({ ...options, store, idKey, logKey });
  const hosts = new Set([...LOOPBACK, ...(options.allowedHosts ?? [])].map((name) => name.toLowerCase()));
  const ws = new WsServer({
    broker,
    codecs: [jsonCodec, msgpackCodec],
    rules: { hosts, origins: new Set(options.allowedOrigins), path: "/v1" },
    onFault,
  });
  const server = httpServer(broker, hosts, options.publicLog ?? false);
  ws.attach(server);
  const authority = await listen(server, host, port).catch(async (error: unknown) => {
    await broker.stop();
    throw error;
  });

  let stopped: Promise<void> | undefined;
  const stop = async (): Promise<void> => {
    // Until then newcomers are told that the broker drains, by /readyz and by 4503.
    await broker.stop();
    server.close();
    await new Promise<void>((resolve) => {
      const cut = broker.clock.at(CLOSE_GRACE_MS, () => ws.terminate());
      server.closeIdleConnections();
      ws.whenEmpty(() => {
        cut[Symbol.dispose]();
        resolve();
      });
    });
    server.closeAllConnections();
  };
  return {
    url: `ws://${authority}/v1`,
    http: `http://${authority}`,
    broker,
    faulted: broker.faulted,
    addToken: (request) => broker.addToken(grantRequest(request)),
    adoptOperator: (token) => broker.adoptToken(token, OPERATOR_GRANT),
    stop: () => (stopped ??= stop()),
    [Symbol.asyncDispose]: () => (stopped ??= stop()),
  };
}

function httpServer(broker: Broker, hosts: ReadonlySet<string>, publicLog: boolean): Server {
  const listener = getRequestListener(httpApp(broker, { publicLog }).fetch);
  const server = createServer(
    {
      maxHeaderSize: 8_192,
      headersTimeout: 5_000,
      requestTimeout: 5_000,
      keepAliveTimeout: 5_000,
      connectionsCheckingInterval: 1_000,
      requireHostHeader: true,
    },
    (request, response) => {
      const refused = judgeHost(headerLists(request.rawHeaders), hosts);
      if (refused === undefined) return void listener(request, response);
      response.writeHead(refused.status, { "content-type": "text/plain; charset=utf-8" }).end(`${refused.sentence}\n`);
    },
  );
  const { connections } = broker.limits;
  server.maxConnections = connections + waitingSockets(connections);
  limitWaiting(server, waitingSockets(connections));
  server.on("clientError", (_error, socket) => socket.destroy());
  return server;
}

// Sockets that have not finished a request can never use up the room of those that have: past a bound the oldest goes.
function limitWaiting(server: Server, most: number): void {
  const waiting = new Set<Socket>();
  server.on("connection", (socket: Socket) => {
    waiting.add(socket);
    socket.once("close", () => waiting.delete(socket));
    const [oldest] = waiting;
    if (waiting.size > most) oldest?.destroy();
  });
  server.on("upgrade", (request: IncomingMessage) => waiting.delete(request.socket));
}

function listen(server: Server, host: string, port: number): Promise<string> {
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen({ host, port, backlog: 4_096 }, () => {
      server.off("error", reject);
      server.on("error", () => {});
      const address = server.address();
      if (address === null || typeof address === "string") return reject(new Error("the server has no TCP address"));
      resolve(`${host.includes(":") ? `[${host}]` : host}:${address.port}`);
    });
  });
}
