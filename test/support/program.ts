import { spawn, type ChildProcess } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { projectRoot } from "./source-files.js";

/** How a process ended, with all that it wrote. */
export interface Ended {
  code: number | null;
  signal: NodeJS.Signals | null;
  stdout: string;
  stderr: string;
}

/** Those that run: none outlives this process. */
const running = new Set<ChildProcess>();

process.once("exit", () => running.forEach((child) => child.kill("SIGKILL")));

/** A process, Node's if no other command is given, whose output a test reads line by line; it waits for lines and ends, never for time. */
export class Program implements Disposable {
  /** Resolves when it has ended and all its output has been read. */
  readonly ended: Promise<Ended>;
  readonly #child: ChildProcess;
  #stdout = "";
  #stderr = "";
  #taken = 0;
  #over = false;
  #changed: (() => void)[] = [];

  constructor(args: readonly string[], options: { env?: NodeJS.ProcessEnv; cwd?: string; command?: string } = {}) {
    const { command = process.execPath, ...rest } = options;
    const child = spawn(command, args, { stdio: ["ignore", "pipe", "pipe"], ...rest });
    this.#child = child;
    running.add(child);
    child.once("exit", () => running.delete(child));
    child.stdout.setEncoding("utf8").on("data", (text: string) => this.#wrote(() => (this.#stdout += text)));
    child.stderr.setEncoding("utf8").on("data", (text: string) => this.#wrote(() => (this.#stderr += text)));
    this.ended = new Promise((resolve, reject) => {
      child.once("error", reject);
      child.once("close", (code, signal) => {
        this.#wrote(() => (this.#over = true));
        resolve({ code, signal, stdout: this.#stdout, stderr: this.#stderr });
      });
    });
  }

  get pid(): number {
    if (this.#child.pid === undefined) throw new Error("the process did not start");
    return this.#child.pid;
  }

  get stdout(): string {
    return this.#stdout;
  }

  get stderr(): string {
    return this.#stderr;
  }

  /** The next line of its standard output; rejects with what it said when it ends without one. */
  async line(): Promise<string> {
    await this.until(() => this.#stdout.includes("\n", this.#taken));
    const end = this.#stdout.indexOf("\n", this.#taken);
    const line = this.#stdout.slice(this.#taken, end);
    this.#taken = end + 1;
    return line;
  }

  /** Resolves once `holds`, looked at after each piece of output; rejects when the process ends first. */
  async until(holds: () => boolean): Promise<void> {
    while (!holds()) {
      if (this.#over) throw new Error(`the process ended too early: ${this.#stderr}`);
      await new Promise<void>((resolve) => this.#changed.push(resolve));
    }
  }

  signal(name: NodeJS.Signals): void {
    this.#child.kill(name);
  }

  /** Ends it as `kill -9` does. */
  kill(): Promise<Ended> {
    this.signal("SIGKILL");
    return this.ended;
  }

  [Symbol.dispose](): void {
    this.signal("SIGKILL");
  }

  #wrote(note: () => void): void {
    note();
    for (const resolve of this.#changed.splice(0)) resolve();
  }
}

/** The built command line: what is shipped. */
export function builtProgram(): string {
  const path = join(projectRoot, "dist", "cli", "main.js");
  if (!existsSync(path)) throw new Error("dist is missing: run `npm run build` before these tests");
  return path;
}

/** Runs one command of the built command line. */
export function a2achan(...args: string[]): Program {
  return new Program([builtProgram(), ...args]);
}
