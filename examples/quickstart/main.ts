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

async function endsWell(child: ChildProcess): Promise<void> {
  const [code] = (await once(child, "exit")) as [unknown];
  assert.equal(code, 0);
}

const broker = start("broker.ts", { PORT: "0" }, "pipe");
assert(broker.stdout !== null);
const commands: object[] = [];
for await (const line of createInterface({ input: broker.stdout })) {
  const settings = [...line.matchAll(/(A2ACHAN_\w+)=(\S+)/g)].map(([, name, value]) => [name, value]);
  if (settings.length > 0) commands.push(Object.fromEntries(settings));
  if (commands.length === 2) break;
}
const [forWorker = {}, forLead = {}] = commands;
const worker = start("worker.ts", forWorker, "inherit");
const lead = start("orchestrator.ts", forLead, "inherit");
await Promise.all([worker, lead].map(endsWell));

broker.kill("SIGTERM");
await endsWell(broker);
console.log("The three programs ended well: the correction was WITNESSED.");
