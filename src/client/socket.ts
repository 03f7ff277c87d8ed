import { WebSocket } from "ws";
import { closedWith, tokenFault, urlFault, type SocketEnd } from "./ends.js";
import { A2achanError } from "./errors.js";

/** The largest message that is taken from a broker; its pages are of 48 KiB. */
const MAX_PAYLOAD = 1_048_576;

export interface SocketEvents {
  /** `shown` is what `hello` must still say of the token: nothing, if the upgrade has shown it. */
  open(shown: { token?: string }): void;
  message(data: Uint8Array, isBinary: boolean): void;
  /** A sign of life that is no message; not every platform tells it. */
  ping(): void;
  /** Called once, last. */
  closed(why: SocketEnd): void;
}

export interface Socket {
  /** Sends one message: of text, or binary. */
  send(message: string | Uint8Array): void;
  /** Says goodbye (close 1000). */
  close(): void;
  /** Cuts the connection. */
  cut(): void;
}

/** Opens a WebSocket to a broker. Never throws; what goes wrong is told by `closed`, and never in this turn. */
export type OpenSocket = (url: string, subprotocol: string, token: string, events: SocketEvents) => Socket;

export const openSocket: OpenSocket = (url, subprotocol, token, events) => {
  let why: SocketEnd | undefined;
  const ws = construct(url, subprotocol, token);
  if (ws instanceof A2achanError) {
    queueMicrotask(() => events.closed({ error: ws, final: true }));
    return { send: () => {}, close: () => {}, cut: () => {} };
  }
  ws.on("unexpected-response", (request, response) => {
    why = refusedUpgrade(response.statusCode ?? 0);
    response.resume();
    request.destroy();
    ws.terminate();
  });
  ws.on("error", (cause) => {
    why ??= { error: new A2achanError("unreachable", { cause }), final: false };
  });
  ws.on("open", () => events.open({}));
  ws.on("message", (data, isBinary) => events.message(data as Buffer, isBinary));
  ws.on("ping", () => events.ping());
  ws.on("close", (code, reason) => events.closed(why ?? closedWith(code, reason.toString("utf8"))));
  return {
    send: (message) => {
      if (ws.readyState === WebSocket.OPEN) ws.send(message, () => {});
    },
    close: () => ws.close(1000, "done"),
    cut: () => ws.terminate(),
  };
};

function construct(url: string, subprotocol: string, token: string): WebSocket | A2achanError {
  const fault = tokenFault(token);
  if (fault !== undefined) return fault;
  try {
    return new WebSocket(url, subprotocol, {
      headers: { authorization: `Bearer ${token}` },
      perMessageDeflate: false,
      maxPayload: MAX_PAYLOAD,
    });
  } catch (cause) {
    return urlFault(cause);
  }
}

function refusedUpgrade(status: number): SocketEnd {
  if (status === 401) return { error: new A2achanError("unauthenticated"), final: true };
  const sentence = `The broker answered HTTP ${status} instead of opening a WebSocket; check the URL (it ends in /v1).`;
  return { error: new A2achanError("unreachable", { sentence }), final: false };
}
