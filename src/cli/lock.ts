import { renameSync, rmSync, statSync } from "node:fs";
import { createConnection, createServer, type Server } from "node:net";
import { join } from "node:path";
import { CliError, EXIT } from "./exit.js";

/**
 * Holds a data directory for this process alone until disposed; the kernel lets go of it when the process dies, however
 * it dies. Rejects with exit code 73 when another process holds it.
 */
export async function lockDirectory(directory: string): Promise<Disposable> {
  const server = await (process.platform === "linux" ? listenAbstract(directory) : listenFile(directory));
  server.unref();
  return { [Symbol.dispose]: () => void server.close() };
}

const inUse = (): CliError =>
  new CliError("another process works on this data directory; choose another with --data", EXIT.IN_USE);

// A name in Linux's abstract namespace, after the directory itself: no file is left over, and no path hides it.
function listenAbstract(directory: string): Promise<Server> {
  const { dev, ino } = statSync(directory, { bigint: true });
  return listen(`\0a2achan-${dev}-${ino}`);
}

// Elsewhere a socket file: one that nobody listens on is taken over, by renaming ours into its place.
async function listenFile(directory: string): Promise<Server> {
  const path = join(directory, "lock.sock");
  if (await isAnswered(path)) throw inUse();
  const own = `${path}.${process.pid}`;
  rmSync(own, { force: true });
  const server = await listen(own);
  renameSync(own, path);
  return server;
}

function listen(path: string): Promise<Server> {
  const server = createServer((socket) => socket.destroy());
  return new Promise((resolve, reject) => {
    server.once("error", (error: NodeJS.ErrnoException) => reject(error.code === "EADDRINUSE" ? inUse() : error));
    server.listen({ path }, () => resolve(server));
  });
}

function isAnswered(path: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = createConnection(path);
    socket.once("connect", () => {
      socket.destroy();
      resolve(true);
    });
    socket.once("error", () => resolve(false));
  });
}
