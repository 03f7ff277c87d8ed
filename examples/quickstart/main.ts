// The three terminals in one: starts the broker, then the other two as the broker says, and checks how each ends.
import assert from "node:assert/strict";
import { fork, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";

const signal = AbortSignal.timeout(60_000);

function start(file: string, env: object, stdout: "pipe" | "inherit"): ChildProcess {
  const child = fork(new URL(file, import.meta.url), {
    env: { ...process.env, ...env },
    stdio: ["ignore", stdout, "inherit", "ipc"],
    signal,
  });
  process.once("exit", () => child.kill());
  return child;
}

async function exitCode(child: ChildProcess): Promise<unknown> {
  const [code] = (await once(child, "exit")) as [unknown];
  return code;
}

const broker = start("broker.ts", { PORT: "0" }, "pipe");
assert(broker.stdout !== null);
const commands: object[] = [];
for await (const line of createInterface({ input: broker.stdout })) {
  const settings = line.matchAll(/(A2ACHAN_\w+)=(\S+)/g);
  if (line.startsWith("A2ACHAN_"))
    commands.push(Object.fromEntries([...settings].map(([, name, value]) => [name, value])));
  if (commands.length === 2) break;
}
const [forWorker = {}, forLead = {}] = commands;
const worker = start("worker.ts", forWorker, "inherit");
const lead = start("orchestrator.ts", forLead, "inherit");
assert.deepEqual(await Promise.all([worker, lead].map(exitCode)), [0, 0]);

broker.kill("SIGTERM");
assert.equal(await exitCode(broker), 0);
console.log("The three programs ended well: the correction was WITNESSED.");
