import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { rmSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import type { NewToken, TokenRequest } from "../../broker/index.js";
import { askControl } from "../control.js";
import { DataDir } from "../data-dir.js";
import { CliError, EXIT } from "../exit.js";

const MAIN = fileURLToPath(new URL("../main.js", import.meta.url));

/** A real broker process on a free loopback port, with a data directory of its own. */
export class BrokerProcess implements AsyncDisposable {
  readonly directory: string;
  #child: ChildProcess | undefined;
  #url = "";

  private constructor(directory: string) {
    this.directory = directory;
  }

  static async start(): Promise<BrokerProcess> {
    const broker = new BrokerProcess(await mkdtemp(join(tmpdir(), "a2achan-demo-")));
    // However the demo ends, its broker and its directory go with it.
    process.once("exit", () => {
      broker.#child?.kill("SIGKILL");
      rmSync(broker.directory, { recursive: true, force: true });
    });
    for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => process.exit(EXIT.FAILED));
    await broker.#spawn(0);
    return broker;
  }

  get url(): string {
    return this.#url;
  }

  get pid(): number | undefined {
    return this.#child?.pid;
  }

  async token(request: TokenRequest): Promise<string> {
    const reply = await askControl(new DataDir(this.directory, false).controlSocket, { command: "token_add", request });
    if (reply === undefined) throw new CliError("the demo's broker has gone away");
    return (reply.result as NewToken).token;
  }

  /** Ends the process as a power cut would, and starts another on the same directory and port. */
  async killAndRestart(): Promise<void> {
    await this.#end("SIGKILL");
    await this.#spawn(Number(new URL(this.#url).port));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#end("SIGTERM");
    await rm(this.directory, { recursive: true, force: true });
  }

  async #spawn(port: number): Promise<void> {
    const args = [MAIN, "serve", "--data", this.directory, "--port", String(port), "-o", "json", "--log-level", "warn"];
    const child = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "inherit"] });
    this.#child = child;
    const lines = createInterface({ input: child.stdout });
    const [line] = (await Promise.race([once(lines, "line"), once(child, "exit")])) as [unknown];
    if (typeof line !== "string") throw new CliError("the demo's broker did not start; its own words are above");
    this.#url = (JSON.parse(line) as { url: string }).url;
  }

  async #end(signal: "SIGKILL" | "SIGTERM"): Promise<void> {
    const child = this.#child;
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
    const ended = once(child, "exit");
    child.kill(signal);
    await ended;
  }
}
