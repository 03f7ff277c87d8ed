import { readFileSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { DataDir } from "../../src/cli/data-dir.js";
import { Journal } from "../../src/storage/journal/index.js";
import { Program } from "../support/program.js";
import { dataDirectory, serveProgram } from "../support/serve.js";
import { freshSeed, numberFlags } from "./flags.js";
import { generateLog } from "./generate.js";

const FULL = 1_000_000;
const STRETCHES = 10;
/** A start may take so many times as long as reading the lines and parsing them, and so much memory. */
const MOST_TIMES = 3;
const MOST_MIB = 200;

const { seed, entries } = numberFlags({ seed: freshSeed(), entries: FULL });
console.log(`million: a log of ${entries} entries, seed ${seed}`);
using directory = dataDirectory();
const log = await write(directory.path);
// Before and after, so that a machine that is busier at one time than at another says little about it.
const before = await readBare(log);
const { seconds, mib } = await startOn(directory.path);
const bare = (before + (await readBare(log))) / 2;
const times = seconds / bare;
console.log(`start-up: ${seconds.toFixed(1)} s, ${times.toFixed(2)} times reading and parsing (at most ${MOST_TIMES})`);
console.log(mib === undefined ? "memory: not known here" : `memory: ${mib} MiB at the most (at most ${MOST_MIB})`);
const met = times <= MOST_TIMES && (mib ?? 0) < MOST_MIB;
console.log(
  JSON.stringify({ seed, entries, bare_s: round(bare), start_s: round(seconds), times: round(times), mib, met }),
);
// A short log says nothing: starting a process takes longer than reading it.
process.exitCode = met || entries < FULL ? 0 : 1;

/** Writes the log and tells what appending cost on the way; returns where its segments lie. */
async function write(path: string): Promise<string> {
  const data = new DataDir(path, true);
  const keys = { idKey: data.idKey(), logKey: data.logKey() };
  const store = await Journal.open({ directory: data.log });
  const begun = performance.now();
  const stretch = Math.ceil(entries / STRETCHES);
  const tell = (size: number, ms: number): void => {
    console.log(`${size} entries: appends took ${((ms * 1_000) / stretch).toFixed(1)} us an entry`);
  };
  await generateLog(store, keys, { seed, entries, stretch, tell });
  await store.close();
  const bytes = readdirSync(data.log).reduce((sum, name) => sum + statSync(join(data.log, name)).size, 0);
  const seconds = (performance.now() - begun) / 1_000;
  console.log(`written in ${seconds.toFixed(1)} s, ${(bytes / 2 ** 20).toFixed(0)} MiB`);
  return data.log;
}

/** Seconds that it takes to read every line and parse it. */
async function readBare(path: string): Promise<number> {
  const program = new Program(["--import", "tsx", fileURLToPath(new URL("./read-lines.ts", import.meta.url)), path]);
  const { ms, lines } = JSON.parse(await program.line()) as { ms: number; lines: number };
  await program.ended;
  console.log(`reading and parsing ${lines} lines: ${(ms / 1_000).toFixed(1)} s`);
  return ms / 1_000;
}

/** Seconds from the spawn of `serve` until it listens, and the most memory that it had by then. */
async function startOn(path: string): Promise<{ seconds: number; mib?: number }> {
  const begun = performance.now();
  const program = serveProgram(path);
  await program.line();
  const seconds = (performance.now() - begun) / 1_000;
  const mib = peakMib(program.pid);
  program.signal("SIGTERM");
  await program.ended;
  return { seconds, ...(mib !== undefined && { mib }) };
}

function peakMib(pid: number): number | undefined {
  if (process.platform !== "linux") return undefined;
  const kib = /^VmHWM:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1];
  return kib === undefined ? undefined : Math.round(Number(kib) / 1_024);
}

function round(value: number): number {
  return Math.round(value * 100) / 100;
}
