import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { Program } from "../../../support/program.js";

const WORKER = fileURLToPath(new URL("./worker-process.ts", import.meta.url));

/** Starts a worker that is a process of its own; resolves when its row is published. */
export async function workerProgram(url: string, token: string, workerId: string): Promise<Program> {
  const program = new Program(["--import", "tsx", WORKER, url, token, workerId]);
  await program.line();
  return program;
}

/** Stops a process where it stands, its sockets open; resolves when it stands still. */
export async function freeze(program: Program): Promise<void> {
  program.signal("SIGSTOP");
  const state = async (): Promise<string> =>
    (await promisify(execFile)("ps", ["-o", "state=", "-p", String(program.pid)])).stdout;
  while (!(await state()).startsWith("T"));
}
