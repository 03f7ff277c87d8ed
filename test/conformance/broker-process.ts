import { execFile, spawn, type ChildProcess } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, readdirSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Target } from "./runner.js";

const root = fileURLToPath(new URL("../..", import.meta.url));
const program = join(root, "dist", "cli", "main.js");

// A run that is cut short leaves no broker behind.
const running = new Set<ChildProcess>();
process.once("exit", () => {
  for (const child of running) child.kill("SIGKILL");
});

/** How a process ended, with what it wrote. */
export interface Ended {
  code: number | null;
  signal: NodeJS.Signals | null;
  stdout: string;
  stderr: string;
}

/** A broker that runs as a process of its own: the start/stop hook of the steps that need one. */
export class BrokerProcess {
  /** What it wrote as its one line. */
  readonly line: { url: string; pid: number };
  readonly data: string;
  readonly ended: Promise<Ended>;
  readonly #child: ChildProcess;

  private constructor(child: ChildProcess, line: { url: string; pid: number }, data: string, ended: Promise<Ended>) {
    this.#child = child;
    this.line = line;
    this.data = data;
    this.ended = ended;
  }

  /** Starts a broker on a data directory. Rejects with what it said when it ends before it listens. */
  static async start(data: string, ...flags: string[]): Promise<BrokerProcess> {
    const { child, ended, firstLine } = serve(data, flags);
    const line = await Promise.race([firstLine, ended]);
    if (typeof line !== "string") throw new Error(`the broker ended with ${line.code}: ${line.stderr}`);
    return new BrokerProcess(child, JSON.parse(line) as { url: string; pid: number }, data, ended);
  }

  get url(): string {
    return this.line.url;
  }

  signal(name: NodeJS.Signals): void {
    this.#child.kill(name);
  }

  /** Stops the broker in order. */
  stop(): Promise<Ended> {
    this.signal("SIGTERM");
    return this.ended;
  }

  /** Makes a token, as an operator would on the command line. */
  async token(...flags: string[]): Promise<{ id: string; token: string }> {
    return JSON.parse(await run("token", "add", "--data", this.data, "-o", "json", ...flags)) as {
      id: string;
      token: string;
    };
  }

  async tokenStates(): Promise<Map<string, string>> {
    const list = JSON.parse(await run("token", "list", "--data", this.data, "-o", "json")) as {
      id: string;
      state: string;
    }[];
    return new Map(list.map(({ id, state }) => [id, state]));
  }

  async revoke(id: string): Promise<void> {
    await run("token", "revoke", "--data", this.data, id);
  }

  /** The operator's token, as it stands in the data directory. */
  operatorToken(): string {
    return readFileSync(join(this.data, "operator.token"), "utf8").trim();
  }
}

interface Served {
  child: ChildProcess;
  ended: Promise<Ended>;
  firstLine: Promise<string>;
}

/** Starts a broker that is expected to end by itself. */
export function serveToTheEnd(data: string): Promise<Ended> {
  return serve(data, []).ended;
}

function serve(data: string, flags: readonly string[]): Served {
  requireBuild();
  const args = ["serve", "--data", data, "--port", "0", "-o", "json", "--log-level", "error", ...flags];
  const child = spawn(process.execPath, [program, ...args], { stdio: ["ignore", "pipe", "pipe"] });
  running.add(child);
  let stdout = "";
  let stderr = "";
  child.stderr.on("data", (chunk: Buffer) => (stderr += chunk.toString("utf8")));
  const firstLine = new Promise<string>((resolve) => {
    child.stdout.on("data", (chunk: Buffer) => {
      stdout += chunk.toString("utf8");
      if (stdout.includes("\n")) resolve(stdout.slice(0, stdout.indexOf("\n")));
    });
  });
  const ended = new Promise<Ended>((resolve) => {
    child.on("close", (code, signal) => {
      running.delete(child);
      resolve({ code, signal, stdout, stderr });
    });
  });
  return { child, ended, firstLine };
}

function run(...args: string[]): Promise<string> {
  requireBuild();
  return new Promise((resolve, reject) => {
    execFile(process.execPath, [program, ...args], { encoding: "utf8" }, (error, stdout, stderr) => {
      if (error === null) resolve(stdout);
      else reject(new Error(`a2achan ${args.slice(0, 2).join(" ")} failed: ${stderr}`));
    });
  });
}

// These tests are about what is shipped, so a build that is older than its sources would test something else.
function requireBuild(): void {
  const newest = Math.max(
    ...readdirSync(join(root, "src"), { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile() && entry.name.endsWith(".ts"))
      .map((entry) => statSync(join(entry.parentPath, entry.name)).mtimeMs),
  );
  if (!existsSync(program) || statSync(program).mtimeMs < newest) {
    throw new Error("dist is missing or older than src: run npm run build before these tests");
  }
}

const EVERYWHERE = ["--worker", "**", "--issue", "**", "--lane", "**"];
const WORKERS = 16;
const ORCHESTRATORS = 10;

/** The tokens that the scenarios need, by the names of README.md. */
async function provideTokens(broker: BrokerProcess): Promise<Target["tokens"]> {
  const tokens: Record<string, string> = { operator: broker.operatorToken() };
  const ids: Record<string, string> = {};
  const add = async (name: string, ...flags: string[]): Promise<void> => {
    const made = await broker.token("--subject", name, ...flags);
    tokens[name] = made.token;
    ids[name] = made.id;
  };
  await add("expired", "--role", "orchestrator", ...EVERYWHERE, "--expires", "1s");
  const wanted: (() => Promise<void>)[] = [
    ...numbered(WORKERS, (at) => add(`worker-${at}`, "--role", "worker", "--issue", "**", "--lane", "**")),
    ...numbered(ORCHESTRATORS, (at) => add(`orchestrator-${at}`, "--role", "orchestrator", ...EVERYWHERE)),
    ...["worker-silent", "worker-rate", "worker-a/b"].map(
      (name) => () => add(name, "--role", "worker", "--issue", "**", "--lane", "**"),
    ),
    () => add("worker-narrow", "--role", "worker", "--issue", "**", "--lane", "src/**"),
    ...["orchestrator-rate", "orchestrator-gap"].map(
      (name) => () => add(name, "--role", "orchestrator", ...EVERYWHERE),
    ),
    () => add("narrow", "--role", "orchestrator", "--worker", "**", "--issue", "**", "--lane", "src/*"),
    () => add("one-issue", "--role", "orchestrator", "--worker", "*", "--issue", "only/this", "--lane", "**"),
    () => add("observer", "--role", "orchestrator", "--watch-only", ...EVERYWHERE),
    () => add("auditor", "--role", "auditor"),
    () => add("auditor-text", "--role", "auditor", "--text"),
    () => add("revoked", "--role", "orchestrator", ...EVERYWHERE),
  ];
  await inPairs(wanted);
  await broker.revoke(ids["revoked"] as string);
  while ((await broker.tokenStates()).get(ids["expired"] as string) !== "expired");
  return tokens;
}

function numbered<T>(count: number, make: (at: number) => Promise<T>): (() => Promise<T>)[] {
  return Array.from({ length: count }, (_, at) => () => make(at + 1));
}

/** Two at a time: each is a process of its own. */
async function inPairs(jobs: (() => Promise<void>)[]): Promise<void> {
  const next = async (): Promise<void> => {
    for (let job = jobs.shift(); job !== undefined; job = jobs.shift()) await job();
  };
  await Promise.all([next(), next()]);
}

/** A directory of its own for a broker, and its removal. */
export function dataDirectory(): { path: string; remove: () => void } {
  const path = mkdtempSync(join(tmpdir(), "a2achan-"));
  return { path, remove: () => rmSync(path, { recursive: true, force: true }) };
}

/** The broker under test: the one that A2ACHAN_URL and A2ACHAN_TOKENS name, else one that is started for these tests. */
export async function provideTarget(
  provide: (broker: BrokerProcess) => Promise<Target["tokens"]> | Target["tokens"] = provideTokens,
): Promise<{ target: Target; release: () => Promise<void> }> {
  const { A2ACHAN_URL: url, A2ACHAN_TOKENS: tokens } = process.env;
  if (url !== undefined && tokens !== undefined) {
    const target = { url, tokens: JSON.parse(readFileSync(tokens, "utf8")) as Target["tokens"] };
    return { target, release: () => Promise.resolve() };
  }
  const directory = dataDirectory();
  const broker = await BrokerProcess.start(directory.path);
  const release = async (): Promise<void> => {
    await broker.stop();
    directory.remove();
  };
  return { target: { url: broker.url, tokens: await provide(broker) }, release };
}
