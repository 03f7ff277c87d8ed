import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { checkpointFile, connectOrchestrator, connectWorker, isRefused } from "a2achan/client";
import { tamperings } from "./tamperings.js";

const signal = AbortSignal.timeout(60_000);
const folder = mkdtempSync(join(tmpdir(), "a2achan-python-audit-"));
process.once("exit", () => rmSync(folder, { recursive: true, force: true }));
const [data, log, kept] = [join(folder, "data"), join(folder, "out.jsonl"), join(folder, "kept")];
const program = fileURLToPath(new URL("cli/main.js", import.meta.resolve("a2achan")));
const script = fileURLToPath(new URL("check.py", import.meta.url));

function a2achan(...args: string[]): string {
  const { status, stdout, stderr } = spawnSync(process.execPath, [program, ...args], { cwd: folder, encoding: "utf8" });
  assert.equal(status, 0, stderr);
  return stdout.trim();
}

/** Runs check.py over a log, its checkpoint and the one that lead has kept. */
function check(text: string, checkpoint: string, vkey: string): { status: number | null; said: string } {
  writeFileSync(join(folder, "log"), text);
  writeFileSync(join(folder, "checkpoint"), checkpoint);
  const args = [script, "log", "checkpoint", "kept", "--vkey", vkey];
  const { status, stdout, stderr, error } = spawnSync("python3", args, { cwd: folder, encoding: "utf8" });
  if (error !== undefined) throw error;
  return { status, said: `${stdout}${stderr}`.trim() };
}

// A broker in a process of its own, whose log lies in a data directory.
const broker = spawn(process.execPath, [program, "serve", "--data", data, "--port", "0", "--log-level", "error"], {
  stdio: ["ignore", "pipe", "inherit"],
  signal,
});
process.once("exit", () => broker.kill());
const [line] = (await once(createInterface({ input: broker.stdout }), "line", { signal })) as [string];
const url = /ws:\S+\/v1/.exec(line)?.[0] ?? "";
const addToken = (...args: string[]): string =>
  a2achan("token", "add", "--data", data, "--issue", "*", "--lane", "**", ...args);

// A secret comes into a plan and into the correction of it, which is WITNESSED. Lead keeps a checkpoint from then.
const forCoder = addToken("--role", "worker", "--subject", "coder");
const forLead = addToken("--role", "orchestrator", "--subject", "lead", "--worker", "coder");
const coder = await connectWorker({ url, token: forCoder, workerId: "coder", signal });
const lead = await connectOrchestrator({ url, token: forLead, checkpoints: checkpointFile(kept), signal });
const row = { issue: 2162, lane: "src/parser", last_action: "read the “failing” test\n" };
await coder.status({ ...row, next_action: { summary: "log in with hunter2" } });
const seen = await lead.get("coder");
if (seen === undefined || isRefused(seen)) throw new Error("coder has no row to read");
const receipt = await lead.correct(seen, "Fix the off-by-one; hunter2 is not yours.");
if (receipt.verdict === "DENY") throw new Error(receipt.advice);
for await (const correction of coder.corrections({ signal })) {
  await correction.ack({ next_action: { summary: "fix the off-by-one", reflects: [correction.correction_id] } });
  break;
}
const outcome = await receipt.outcome;
assert.equal(outcome.stage, "WITNESSED");
await lead.confirm(outcome);
await lead.close();
await coder.bye("completed");

// It is redacted; then the log is exported, with a checkpoint over all of it.
const segment = readFileSync(join(data, "log", "00000000.jsonl"), "utf8");
const published = segment.split("\n").find((entry) => entry.includes('"kind":"status"')) ?? "";
const { index } = JSON.parse(published) as { index: number };
a2achan("redact", "--index", String(index), "--field", "summary", "--data", data);
a2achan("redact", receipt.correction_id, "--data", data);
broker.kill("SIGTERM");
await once(broker, "exit");
a2achan("export", log, "--data", data);

const text = readFileSync(log, "utf8");
const checkpoint = readFileSync(`${log}.checkpoint`, "utf8");
assert(!text.includes("hunter2"));
const { log_key } = JSON.parse(text.slice(0, text.indexOf("\n"))) as { log_key: string };
const whole = check(text, checkpoint, log_key);
console.log(whole.said);
assert.equal(whole.status, 0);
assert.match(whole.said, /^texts: 3 match, 2 redacted, 0 not in this export$/m);

const older = Number(readFileSync(kept, "utf8").split("\n")[1]);
for (const { name, says, ...changed } of tamperings({ text, checkpoint, log_key }, older)) {
  const { status, said } = check(changed.text, changed.checkpoint, changed.log_key);
  console.log(`${name.padEnd(27)} ${said}`);
  assert(said.startsWith(says), says);
  assert.equal(status, 7);
}
