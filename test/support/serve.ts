import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { askControl, type ControlRequest } from "../../src/cli/control.js";
import type { NewToken, TokenRequest } from "../../src/broker/index.js";
import { a2achan, type Ended, type Program } from "./program.js";

/** Patterns that cover everything. */
export const EVERYWHERE = { worker: "**", issue: "**", lane: "**" };

/** A real broker process on a data directory, as its one line of output describes it. */
export class Serve {
  readonly data: string;
  readonly url: string;
  readonly http: string;
  readonly program: Program;

  private constructor(program: Program, data: string, line: { url: string; http: string }) {
    this.program = program;
    this.data = data;
    this.url = line.url;
    this.http = line.http;
  }

  /** Starts `a2achan serve` on a free port and resolves when it listens. */
  static start(data: string, ...flags: string[]): Promise<Serve> {
    return Serve.of(serveProgram(data, ...flags), data);
  }

  /** Takes a process for a broker once it has printed its line; rejects with what it said when it ends before. */
  static async of(program: Program, data: string): Promise<Serve> {
    return new Serve(program, data, JSON.parse(await program.line()) as { url: string; http: string });
  }

  /** Makes a token through the control socket, as `a2achan token add` does. */
  async token(request: TokenRequest): Promise<NewToken> {
    return (await this.ask({ command: "token_add", request })) as NewToken;
  }

  async ask(request: ControlRequest): Promise<unknown> {
    const reply = await askControl(join(this.data, "control.sock"), request);
    if (reply === undefined) throw new Error("the broker does not answer on its control socket");
    return reply.result;
  }

  kill(): Promise<Ended> {
    return this.program.kill();
  }

  /** Stops it in order. */
  stop(): Promise<Ended> {
    this.program.signal("SIGTERM");
    return this.program.ended;
  }
}

/** `a2achan serve` on a free port, whether it comes to listen or not. */
export function serveProgram(data: string, ...flags: string[]): Program {
  return a2achan("serve", "--data", data, "--port", "0", "-o", "json", "--log-level", "warn", ...flags);
}

/** The token that lies in a data directory; it audits, texts too, and corrects. */
export function operatorToken(data: string): string {
  return readFileSync(join(data, "operator.token"), "utf8").trim();
}

/** A data directory of its own, to be made by the first start, and its removal. */
export function dataDirectory(): Disposable & { path: string } {
  const folder = mkdtempSync(join(tmpdir(), "a2achan-test-"));
  return { path: join(folder, "data"), [Symbol.dispose]: () => rmSync(folder, { recursive: true, force: true }) };
}
