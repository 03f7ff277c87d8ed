import { chmodSync, rmSync } from "node:fs";
import { createServer, createConnection, type Server, type Socket } from "node:net";
import { CliError, EXIT } from "./exit.js";

/** One line each way: what an administrator asks, and what came of it. */
export type ControlRequest =
  | { command: "ping" }
  | { command: "token_add"; request: unknown }
  | { command: "open" }
  | { command: "token_list" }
  | { command: "token_revoke"; id: string }
  | { command: "redact"; request: unknown };
export type ControlReply = { ok: true; result: unknown } | { ok: false; error: string };

/** What every system takes as the path of a socket. */
const SOCKET_PATH_BYTES = 103;
const LINE_BYTES = 65_536;

/**
 * Listens on the control socket: whoever may open the file is an administrator. Each line is answered when what it asks is
 * durable. The caller holds the directory's lock, so that a socket file which is still there is a dead process's.
 */
export async function serveControl(
  path: string,
  handle: (request: ControlRequest) => Promise<unknown>,
): Promise<Server> {
  // Over 107 bytes the system cuts the path and listens somewhere else without a word.
  if (Buffer.byteLength(path) > SOCKET_PATH_BYTES) {
    throw new CliError(`the path ${path} is too long for a socket; choose a shorter --data`, EXIT.CONFIG);
  }
  rmSync(path, { force: true });
  const server = createServer((socket) => serveLines(socket, handle));
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(path, () => resolve());
  });
  chmodSync(path, 0o600);
  server.on("error", () => {});
  return server;
}

function serveLines(socket: Socket, handle: (request: ControlRequest) => Promise<unknown>): void {
  socket.on("error", () => socket.destroy());
  socket.setTimeout(10_000, () => socket.destroy());
  let text = "";
  socket.on("data", (data) => {
    text += data.toString("utf8");
    if (text.length > LINE_BYTES) socket.destroy();
    for (let end = text.indexOf("\n"); end !== -1; end = text.indexOf("\n")) {
      const line = text.slice(0, end);
      text = text.slice(end + 1);
      void answer(line, handle).then((reply) => socket.write(`${JSON.stringify(reply)}\n`));
    }
  });
}

async function answer(line: string, handle: (request: ControlRequest) => Promise<unknown>): Promise<ControlReply> {
  try {
    return { ok: true, result: await handle(JSON.parse(line) as ControlRequest) };
  } catch (error) {
    return { ok: false, error: error instanceof Error ? error.message : "failed" };
  }
}

/** Asks the broker that runs on a data directory; undefined when none does. Throws a CliError when it says no. */
export async function askControl(path: string, request: ControlRequest): Promise<{ result: unknown } | undefined> {
  const reply = await exchange(path, request).catch(() => undefined);
  if (reply?.ok === false) throw new CliError(reply.error);
  return reply;
}

function exchange(path: string, request: ControlRequest): Promise<ControlReply> {
  return new Promise((resolve, reject) => {
    const socket = createConnection(path);
    let text = "";
    socket.setTimeout(10_000, () => socket.destroy(new Error("no answer")));
    socket.on("error", reject);
    socket.on("close", () => reject(new Error("closed without an answer")));
    socket.on("connect", () => socket.write(`${JSON.stringify(request)}\n`));
    socket.on("data", (data) => {
      text += data.toString("utf8");
      if (!text.includes("\n")) return;
      resolve(JSON.parse(text) as ControlReply);
      socket.end();
    });
  });
}
