import { closedWith, tokenFault, urlFault, type SocketEnd } from "./ends.js";
import { A2achanError } from "./errors.js";
import type { Socket, SocketEvents } from "./socket.js";

const UTF8 = new TextEncoder();

/**
 * `socket.js` on the WebSocket of the platform: what `#socket` means to a bundler for browsers. It has no headers, so
 * the token goes into `hello`; it answers pings without telling, and tells nothing of an upgrade that was refused.
 */
export function openSocket(url: string, subprotocol: string, token: string, events: SocketEvents): Socket {
  const ws = construct(url, subprotocol, token);
  if (ws instanceof A2achanError) {
    queueMicrotask(() => events.closed({ error: ws, final: true }));
    return { send: () => {}, close: () => {}, cut: () => {} };
  }
  let opened = false;
  let over = false;
  const end = (why: SocketEnd): void => {
    if (over) return;
    over = true;
    events.closed(why);
  };
  ws.binaryType = "arraybuffer";
  ws.onopen = () => {
    opened = true;
    if (!over) events.open({ token });
  };
  ws.onmessage = ({ data }: { data: string | ArrayBuffer }) => {
    if (over) return;
    if (typeof data === "string") events.message(UTF8.encode(data), false);
    else events.message(new Uint8Array(data), true);
  };
  ws.onclose = ({ code, reason }) => end(opened ? closedWith(code, reason) : unreachable());
  return {
    send: (text) => {
      if (ws.readyState === WebSocket.OPEN) ws.send(text);
    },
    close: () => ws.close(1000, "done"),
    cut: () => {
      // The platform waits for the other side's goodbye, which may never come.
      ws.close();
      queueMicrotask(() => end(closedWith(1006, "")));
    },
  };
}

function construct(url: string, subprotocol: string, token: string): WebSocket | A2achanError {
  const fault = tokenFault(token);
  if (fault !== undefined) return fault;
  try {
    return new WebSocket(url, subprotocol);
  } catch (cause) {
    return urlFault(cause);
  }
}

function unreachable(): SocketEnd {
  const sentence = "The WebSocket could not be opened; check the URL (it ends in /v1) and the broker's --allow-origin.";
  return { error: new A2achanError("unreachable", { sentence }), final: false };
}
