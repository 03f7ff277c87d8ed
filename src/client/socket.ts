import { WebSocket } from "ws";
import { FINAL_CLOSE_CODES, SUBPROTOCOL_JSON } from "../protocol/index.js";
import { A2achanError, type ErrorCode } from "./errors.js";

/** The largest message that is taken from a broker; its pages are of 48 KiB. */
const MAX_PAYLOAD = 1_048_576;

export interface SocketEvents {
  open(): void;
  message(data: Uint8Array, isBinary: boolean): void;
  /** A sign of life that is no message. */
  ping(): void;
  /** Called once, last. `final`: trying again cannot help. */
  closed(why: { error: A2achanError; final: boolean }): void;
}

export interface Socket {
  send(text: string): void;
  /** Says goodbye (close 1000). */
  close(): void;
  /** Cuts the connection. */
  cut(): void;
}

const CODES: Readonly<Record<number, ErrorCode>> = {
  4400: "bad_frame",
  4401: "unauthenticated",
  4403: "role_not_granted",
  4409: "fenced",
};

/** Opens a WebSocket to a broker. Never throws; what goes wrong is told by `closed`. */
export type OpenSocket = (url: string, token: string, events: SocketEvents) => Socket;

export const openSocket: OpenSocket = (url, token, events) => {
  let why: { error: A2achanError; final: boolean } | undefined;
  const ws = construct(url, token);
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
  ws.on("open", () => events.open());
  ws.on("message", (data, isBinary) => events.message(data as Buffer, isBinary));
  ws.on("ping", () => events.ping());
  ws.on("close", (code, reason) => events.closed(why ?? closedWith(code, reason.toString("utf8"))));
  return {
    send: (text) => {
      if (ws.readyState === WebSocket.OPEN) ws.send(text, () => {});
    },
    close: () => ws.close(1000, "done"),
    cut: () => ws.terminate(),
  };
};

function construct(url: string, token: string): WebSocket | A2achanError {
  // Node would refuse such a header by throwing; a token read from a file often still has its line end.
  if (!/^[!-~]+$/.test(token)) {
    const sentence = "The token is not one word of printable ASCII; check for blanks and line ends.";
    return new A2achanError("unauthenticated", { sentence });
  }
  try {
    return new WebSocket(url, SUBPROTOCOL_JSON, {
      headers: { authorization: `Bearer ${token}` },
      perMessageDeflate: false,
      maxPayload: MAX_PAYLOAD,
    });
  } catch (cause) {
    return new A2achanError("unreachable", {
      sentence: "The URL is not one of a WebSocket; use ws://HOST:PORT/v1.",
      cause,
    });
  }
}

function refusedUpgrade(status: number): { error: A2achanError; final: boolean } {
  if (status === 401) return { error: new A2achanError("unauthenticated"), final: true };
  const sentence = `The broker answered HTTP ${status} instead of opening a WebSocket; check the URL (it ends in /v1).`;
  return { error: new A2achanError("unreachable", { sentence }), final: false };
}

/** What a close code means to a client, and whether it may connect again (PROTOCOL.md section 6). */
export function closedWith(code: number, reason: string): { error: A2achanError; final: boolean } {
  const known = CODES[code];
  const final = FINAL_CLOSE_CODES.includes(code);
  if (known !== undefined) return { error: new A2achanError(known), final };
  const said = reason === "" ? "" : ` (${reason})`;
  const sentence = `The connection was closed with code ${code}${said}; the client connects again by itself.`;
  return { error: new A2achanError("connection_lost", { sentence }), final };
}
