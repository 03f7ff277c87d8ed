import { spawn, type ChildProcess } from "node:child_process";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import ts from "typescript";

const root = fileURLToPath(new URL("../..", import.meta.url));

/**
 * A file of this folder as a process of its own, in plain JavaScript: a loader's rewriting would be measured with it.
 * The file imports nothing of this folder but types; it says `ready` first, then one answer for each question.
 */
export class PlainProcess {
  readonly #child: ChildProcess;
  readonly #waiting: { resolve: (answer: unknown) => void; reject: (error: Error) => void }[] = [];
  readonly #ended: Promise<void>;

  private constructor(child: ChildProcess, name: string) {
    this.#child = child;
    child.on("message", (answer) => this.#waiting.shift()?.resolve(answer));
    this.#ended = new Promise((resolve) => {
      child.once("exit", (code, signal) => {
        for (const { reject } of this.#waiting.splice(0)) reject(new Error(`${name} ended with ${code ?? signal}`));
        resolve();
      });
    });
  }

  /** Starts `name`.ts with options that JSON can hold; resolves with what it says when it is ready. */
  static async start<Ready>(
    name: string,
    options: object,
    nodeOptions: readonly string[] = [],
  ): Promise<{ process: PlainProcess; ready: Ready }> {
    const source = readFileSync(new URL(`${name}.ts`, import.meta.url), "utf8");
    const { outputText } = ts.transpileModule(source, {
      compilerOptions: {
        module: ts.ModuleKind.ESNext,
        target: ts.ScriptTarget.ES2022,
        verbatimModuleSyntax: true,
      },
    });
    const args = [...nodeOptions, "--input-type=module", "--eval", outputText, JSON.stringify(options)];
    const child = spawn(process.execPath, args, { cwd: root, stdio: ["ignore", "inherit", "inherit", "ipc"] });
    const started = new PlainProcess(child, name);
    return { process: started, ready: await started.#answer<Ready>() };
  }

  ask<Answer>(question: string): Promise<Answer> {
    this.#child.send(question);
    return this.#answer<Answer>();
  }

  /** Microseconds of CPU, user and system, that the process has used so far. */
  cpu(): Promise<number> {
    return this.ask<number>("cpu");
  }

  async stop(): Promise<void> {
    if (this.#child.connected) this.#child.disconnect();
    await this.#ended;
  }

  #answer<Answer>(): Promise<Answer> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ resolve: (answer) => resolve(answer as Answer), reject });
    });
  }
}
