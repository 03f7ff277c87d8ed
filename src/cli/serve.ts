import { readFileSync } from "node:fs";
import { isIP } from "node:net";
import { InvalidArgumentError, Option, type Command } from "commander";
import { destination, pino, type Logger } from "pino";
import { LIMITS } from "../protocol/index.js";
import { createBroker, waitingSockets, type RunningBroker } from "../server.js";
import { handleAdmin } from "./admin.js";
import { serveControl } from "./control.js";
import { DEFAULT_DATA, DataDir, reasonOf } from "./data-dir.js";
import { CliError, EXIT } from "./exit.js";
import { withTightHeap } from "./heap.js";
import { lockDirectory } from "./lock.js";
import { openLog, whyNot } from "./open-log.js";
import { formatOption, printRecord, type Format } from "./output.js";
import { VERSION } from "./version.js";

interface ServeOptions {
  data: string;
  host: string;
  port: number;
  output: Format;
  maxConnections: number;
  allowHost: string[];
  allowOrigin: string[];
  publicLog?: boolean;
  behindTlsProxy?: true;
  logLevel: string;
  memory?: true;
  head?: string;
}

/** Files that are kept for the log, the keys and the process itself, however many clients come. */
const OWN_FILES = 64;

/** Stopping in order takes at most so long. */
const STOP_MS = 5_000;

export function serveCommand(program: Command): void {
  program
    .command("serve")
    .description("run a broker until it is told to stop (SIGTERM or Ctrl-C)")
    .option("--data <dir>", "data directory", DEFAULT_DATA)
    .option("--host <address>", "address to listen on", "127.0.0.1")
    .option("--port <n>", "port to listen on; 0 picks a free one", parsePort, 7411)
    .option("--max-connections <n>", "connections at once", parseCount, LIMITS.connections)
    .addOption(
      new Option("--allow-host <name>", "another host name that clients use (repeatable)")
        .argParser(collect)
        .default([], "none"),
    )
    .option("--public-log", "let everybody read the log's tiles at /log; they hold no text")
    .addOption(
      new Option("--allow-origin <origin>", "a browser origin that may connect (repeatable)")
        .argParser(collectOrigin)
        .default([], "none"),
    )
    .option("--memory", "keep the log in memory: nothing lasts")
    .option("--head <file>", "where the durable head is kept, best on another disk; default: in the data directory")
    .option("--behind-tls-proxy", "listen beyond loopback without TLS, because a proxy in front has it")
    .addOption(
      new Option("--log-level <level>", "what to log on stderr")
        .choices(["silent", "error", "warn", "info", "debug"])
        .env("A2ACHAN_LOG_LEVEL")
        .default("info"),
    )
    .addOption(formatOption())
    .action((options: ServeOptions) => serve(options));
}

async function serve(options: ServeOptions): Promise<void> {
  if (!isLoopback(options.host) && options.behindTlsProxy !== true) {
    const sentence = `--host ${options.host} is not loopback: tokens would cross the network in the clear; put a TLS proxy in front and add --behind-tls-proxy`;
    throw new CliError(sentence, EXIT.CONFIG);
  }
  const log = pino({ level: options.logLevel, base: null }, destination({ fd: 2, sync: true }));
  process.on("uncaughtExceptionMonitor", ({ stack }) => log.fatal({ stack }, "a fault in the program"));
  const data = new DataDir(options.data, true);
  using _lock = await lockDirectory(data.path);
  let broker: RunningBroker | undefined;
  const control = await serveControl(data.controlSocket, (request) => {
    if (broker === undefined) throw new CliError("the broker is still starting; try again");
    return handleAdmin(broker.broker, request);
  });
  try {
    broker = await withTightHeap(() => start(options, data, log));
  } catch (error) {
    control.close();
    throw error;
  }
  const running = broker;
  // Before anybody is told that it listens: who stops it then must find it ready to drain.
  const told = signalled();
  data.announce({ pid: process.pid, url: running.url, http: running.http, version: VERSION, started: Date.now() });
  const lasting = options.memory === true ? "; the log is in memory: NOTHING LASTS beyond this process" : "";
  const sentence = `a2achan ${VERSION} listens at ${running.url}; data in ${data.path}${lasting}`;
  if (options.memory === true) log.warn("--memory: the log ends with this process, nothing lasts");
  printRecord(options.output, sentence, {
    url: running.url,
    http: running.http,
    version: VERSION,
    pid: process.pid,
    data: data.path,
  });
  log.info({ url: running.url, data: data.path }, "listening");

  const reason = await Promise.race([told, running.faulted.then((error) => ({ error }))]);
  log.info("error" in reason ? { error: reasonOf(reason.error) } : reason, "stopping");
  data.withdraw();
  control.close();
  // A disk that never answers must not keep the process: what it holds then is found out at the next start.
  setTimeout(() => process.exit(EXIT.FAILED), STOP_MS).unref();
  await running.stop();
  if ("error" in reason) process.stderr.write(`a2achan: the log could not be written: ${reasonOf(reason.error)}\n`);
  process.exit("error" in reason ? EXIT.FAILED : EXIT.OK);
}

async function start(options: ServeOptions, data: DataDir, log: Logger): Promise<RunningBroker> {
  const wanted = options.maxConnections;
  const connections = roomFor(wanted, openFiles() - OWN_FILES);
  if (connections < wanted)
    log.warn({ wanted, connections }, "fewer connections than asked: raise the open-files limit");
  const { memory, head } = options;
  const opened = await openLog(data, { ...(memory && { memory }), ...(head !== undefined && { head }) });
  const { torn } = opened.store;
  if (torn !== undefined) log.warn(torn, "the log had a tail that was never durable; it was set aside");
  let broker: RunningBroker | undefined;
  try {
    broker = await createBroker({
      ...opened,
      host: options.host,
      port: options.port,
      limits: { connections },
      allowedHosts: [...options.allowHost, options.host],
      allowedOrigins: options.allowOrigin,
      publicLog: options.publicLog === true,
      version: VERSION,
      onFault: (error) => log.error({ error: reasonOf(error) }, "a handler failed; its connection was closed"),
    });
    const grants = broker.broker.grants();
    const revoked = new Set(grants.flatMap((grant) => (grant.revoked ? [grant.token] : [])));
    const operator = data.operator((id) => revoked.has(id));
    if (!broker.broker.isGranted(operator.id) || !broker.broker.isKnown(operator.id))
      await broker.adoptOperator(operator);
    return broker;
  } catch (error) {
    await (broker === undefined ? opened.store.close() : broker.stop());
    if ((error as NodeJS.ErrnoException).code === "EADDRNOTAVAIL")
      throw new CliError(`--host ${options.host} is no address of this machine`, EXIT.CONFIG);
    if ((error as NodeJS.ErrnoException).code === "EADDRINUSE") {
      throw new CliError(`port ${options.port} is in use; choose another with --port, or --port 0 for a free one`);
    }
    return whyNot(error, data);
  }
}

/** Resolves at the first SIGTERM or SIGINT; the second ends the process at once. */
function signalled(): Promise<{ signal: string }> {
  return new Promise((resolve) => {
    let seen = 0;
    for (const signal of ["SIGTERM", "SIGINT"] as const) {
      process.on(signal, () => {
        seen += 1;
        if (seen > 1) process.exit(EXIT.FAILED);
        resolve({ signal });
      });
    }
  });
}

function isLoopback(host: string): boolean {
  return host === "localhost" || host === "::1" || (isIP(host) === 4 && host.startsWith("127."));
}

/** The most connections, of those wanted, that fit into so many files with the sockets that wait to become one. */
function roomFor(wanted: number, files: number): number {
  let connections = Math.min(wanted, files);
  while (connections > 1 && connections + waitingSockets(connections) > files) connections -= 1;
  return connections;
}

/** Files that this process may have open; a guess where the system does not say. */
function openFiles(): number {
  try {
    const limit = /^Max open files\s+(\d+)/m.exec(readFileSync("/proc/self/limits", "utf8"))?.[1];
    return limit === undefined ? 65_536 : Number(limit);
  } catch {
    return 65_536;
  }
}

function collectOrigin(value: string, before: string[]): string[] {
  if (!/^[a-z][a-z0-9+.-]*:\/\/[^\s/?#]+$/.test(value))
    throw new InvalidArgumentError("an origin is scheme, host and port, such as https://board.example.");
  return [...before, value];
}

function collect(value: string, list: string[]): string[] {
  return [...list, value];
}

function parsePort(value: string): number {
  const port = Number(value);
  if (!/^\d+$/.test(value) || port > 65_535) throw new InvalidArgumentError("a port is a number from 0 to 65535.");
  return port;
}

function parseCount(value: string): number {
  if (!/^[1-9]\d{0,6}$/.test(value)) throw new InvalidArgumentError("it takes a whole number from 1 on.");
  return Number(value);
}
