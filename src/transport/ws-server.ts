import type { IncomingMessage, Server } from "node:http";
import type { Duplex } from "node:stream";
import { WebSocketServer, type RawData, type ServerOptions, type WebSocket } from "ws";
import type { Broker, Connection } from "../broker/index.js";
import type { Codec } from "../codec/codec.js";
import { CLOSE, LIMITS, parseRequest, type Parsed } from "../protocol/index.js";
import { framer, type Framer } from "./framer.js";
import { judgeUpgrade, selectSubprotocol, type HandshakeRules, type Rejection } from "./handshake.js";
import { Pings } from "./pings.js";
import { SocketPeer, Turn } from "./socket-peer.js";

export interface WsServerOptions {
  broker: Broker;
  codecs: readonly Codec[];
  rules: Omit<HandshakeRules, "subprotocols">;
  /** Told of what should never happen: a handler that threw. The connection is closed; nobody else is hurt. */
  onFault: (error: unknown) => void;
}

/** The WebSocket edge: handshake, codec and shape of frames; what they mean is the broker's. */
export class WsServer {
  readonly #options: WsServerOptions;
  readonly #subprotocols: readonly string[];
  readonly #framers: ReadonlyMap<Codec, Framer>;
  readonly #ws: WebSocketServer;
  readonly #pings: Pings;
  readonly #turn = new Turn();
  readonly #open = new Map<WebSocket, Connection>();
  readonly #emptied: (() => void)[] = [];

  constructor(options: WsServerOptions) {
    this.#options = options;
    this.#subprotocols = options.codecs.map(({ subprotocol }) => subprotocol);
    const { limits, clock } = options.broker;
    // closeTimeout is an option of ws that its types do not know yet.
    const settings: ServerOptions & { closeTimeout: number } = {
      noServer: true,
      clientTracking: false,
      perMessageDeflate: false,
      maxPayload: limits.frame_bytes,
      maxFragments: 16,
      maxBufferedChunks: 1_024,
      // The codec's scanner judges UTF-8, so that a bad byte is a bad frame like any other (4400) and not ws's own 1007.
      skipUTF8Validation: true,
      closeTimeout: 2_000,
      handleProtocols: (offered) => selectSubprotocol(offered, this.#subprotocols) ?? false,
    };
    this.#framers = new Map(options.codecs.map((codec) => [codec, framer(codec)]));
    this.#ws = new WebSocketServer(settings);
    this.#pings = new Pings(clock, limits);
  }

  /** Takes upgrades of an HTTP server. */
  attach(server: Server): void {
    server.on("upgrade", (request: IncomingMessage, socket: Duplex, head: Buffer) => {
      socket.on("error", () => socket.destroy());
      try {
        this.#upgrade(request, socket, head);
      } catch (error) {
        this.#options.onFault(error);
        socket.destroy();
      }
    });
  }

  /** Cuts the connections that have not ended by themselves. */
  terminate(): void {
    for (const ws of this.#open.keys()) ws.terminate();
  }

  /** Calls `fn` once no connection is open. */
  whenEmpty(fn: () => void): void {
    if (this.#open.size === 0) fn();
    else this.#emptied.push(fn);
  }

  #upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void {
    const { broker, codecs, rules } = this.#options;
    const judged = judgeUpgrade(request, { ...rules, subprotocols: this.#subprotocols });
    if ("status" in judged) return reject(socket, judged);
    const proven = judged.token === undefined ? undefined : broker.authenticate(judged.token);
    if (judged.token !== undefined && proven === undefined) {
      return reject(socket, { status: 401, sentence: "this token is unknown, revoked or expired" });
    }
    const codec = codecs.find(({ subprotocol }) => subprotocol === judged.subprotocol);
    const frame = codec && this.#framers.get(codec);
    if (codec === undefined || frame === undefined) throw new Error("a subprotocol was accepted that has no codec");
    this.#ws.handleUpgrade(request, socket, head, (ws) =>
      this.#accept(ws, new SocketPeer(ws, socket, frame, this.#turn), codec, proven),
    );
  }

  #accept(ws: WebSocket, peer: SocketPeer, codec: Codec, proven: string | undefined): void {
    const { broker } = this.#options;
    ws.on("error", () => {}); // ws closes by itself with the code that fits; the close event tells the broker
    if (this.#full(proven)) return ws.close(CLOSE.TOO_MANY.code, CLOSE.TOO_MANY.reason);
    const connection = broker.connect(peer, proven);
    this.#open.set(ws, connection);
    const pinged = this.#pings.add(ws);
    ws.on("pong", () => {
      pinged.missed = 0;
      connection.alive();
    });
    ws.on("message", (data, isBinary) => {
      pinged.missed = 0;
      try {
        connection.receive(read(codec, data, isBinary, connection.authenticated));
      } catch (error) {
        this.#options.onFault(error);
        connection.close(CLOSE.FAULT);
      }
      // Who asks on without reading the answers is not read any further: they must not pile up here.
      if (peer.buffered > broker.limits.outgoing_bytes && !ws.isPaused) {
        ws.pause();
        const readAgain = connection.unread();
        void peer.drained().then(() => {
          readAgain();
          ws.resume();
        });
      }
    });
    ws.on("close", () => {
      this.#pings.remove(pinged);
      this.#open.delete(ws);
      peer.gone();
      broker.disconnect(connection);
      if (this.#open.size === 0) for (const fn of this.#emptied.splice(0)) fn();
    });
  }

  #full(proven: string | undefined): boolean {
    const { limits } = this.#options.broker;
    if (this.#open.size >= limits.connections) return true;
    if (proven !== undefined) return false;
    let strangers = 0;
    for (const connection of this.#open.values()) if (!connection.known) strangers += 1;
    return strangers >= limits.unauthenticated;
  }
}

/** One message as the broker takes it; undefined for what cannot be trusted to be a request. */
function read(codec: Codec, data: RawData, isBinary: boolean, authenticated: boolean): Parsed | undefined {
  const bytes = data as Buffer;
  if (isBinary !== codec.binary || (!authenticated && bytes.length > LIMITS.hello_bytes)) return undefined;
  const decoded = codec.decode(bytes);
  return decoded.ok ? parseRequest(decoded.value, decoded.fault) : undefined;
}

const STATUS_TEXT: Readonly<Record<Rejection["status"], string>> = {
  400: "Bad Request",
  401: "Unauthorized",
  403: "Forbidden",
  404: "Not Found",
  405: "Method Not Allowed",
  426: "Upgrade Required",
  503: "Service Unavailable",
};

function reject(socket: Duplex, { status, sentence }: Rejection): void {
  const body = `${sentence}\n`;
  socket.end(
    `HTTP/1.1 ${status} ${STATUS_TEXT[status]}\r\nConnection: close\r\nContent-Type: text/plain; charset=utf-8\r\n` +
      `Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
  );
  socket.once("finish", () => socket.destroy());
}
