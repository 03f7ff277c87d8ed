import { spawn, spawnSync, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { builtProgram } from "./program.js";

/** Whether programs can be run on a terminal here: `script` of util-linux. */
export const hasTerminal = spawnSync("script", ["--version"]).stdout?.toString().includes("util-linux") ?? false;
if (!hasTerminal)
  console.warn("script (util-linux) is not installed: what the command line does on a terminal is not run");

/** One command of the built command line on a terminal of its own: what it writes, and what is typed. */
export class Terminal implements Disposable {
  readonly #child: ChildProcess;
  readonly #ended: Promise<unknown[]>;
  #text = "";
  #changed: (() => void)[] = [];

  constructor(args: readonly string[], { cells = 80, lines = 24, env = {} }: TerminalOptions = {}) {
    const words = [process.execPath, builtProgram(), ...args].map((word) => `'${word}'`).join(" ");
    const command = `stty cols ${cells} rows ${lines} -echo; exec ${words}`;
    // Nothing of what Node takes for a word on colours: NO_COLOR, FORCE_COLOR, CI.
    const { PATH = "", HOME = "" } = process.env;
    this.#child = spawn("script", ["-qefc", command, "/dev/null"], {
      stdio: ["pipe", "pipe", "inherit"],
      env: { PATH, HOME, TERM: "xterm-256color", SHELL: "/bin/sh", ...env },
    });
    this.#ended = once(this.#child, "close");
    this.#child.stdout?.setEncoding("utf8").on("data", (text: string) => {
      this.#text += text;
      for (const resolve of this.#changed.splice(0)) resolve();
    });
  }

  /** All that was written to the terminal. */
  get text(): string {
    return this.#text;
  }

  type(text: string): void {
    this.#child.stdin?.write(text);
  }

  /** Resolves when `words` have been written; rejects when the program ends without. */
  async until(words: string): Promise<void> {
    const over = this.#ended.then(() => "over");
    while (!this.#text.includes(words)) {
      const next = new Promise<void>((resolve) => this.#changed.push(resolve));
      if ((await Promise.race([next, over])) === "over" && !this.#text.includes(words))
        throw new Error(`ended without ${JSON.stringify(words)}: ${JSON.stringify(this.#text)}`);
    }
  }

  /** Resolves with its exit code. */
  async ended(): Promise<unknown> {
    return (await this.#ended)[0];
  }

  [Symbol.dispose](): void {
    this.#child.kill("SIGKILL");
  }
}

interface TerminalOptions {
  cells?: number;
  lines?: number;
  env?: Record<string, string>;
}
