import assert from "node:assert/strict";
import { fork } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { cpSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { text } from "node:stream/consumers";
import { createBroker, Journal, type RunningBroker } from "a2achan";
import { connectOrchestrator, connectWorker, isRefused } from "a2achan/client";

const signal = AbortSignal.timeout(60_000);
const folder = mkdtempSync(join(tmpdir(), "a2achan-auditor-"));
process.once("exit", () => rmSync(folder, { recursive: true, force: true }));
const [data, older] = [join(folder, "data"), join(folder, "older")];

// What `a2achan serve` keeps beside the log: its keys, and the hashes of its tokens.
const hashes = new Map<string, string>();
const secrets = {
  idKey: randomBytes(32),
  logKey: randomBytes(32),
  hashes: {
    get: (id: string) => hashes.get(id),
    set: (id: string, hash: string) => Promise.resolve(void hashes.set(id, hash)),
  },
};

async function startBroker(port: number): Promise<RunningBroker & { store: Journal }> {
  const store = await Journal.open({ directory: join(data, "log") });
  return { ...(await createBroker({ port, store, ...secrets })), store };
}

let broker = await startBroker(0);
const { url } = broker;
const port = Number(new URL(url).port);
const logKey = broker.broker.logKey;
const grant = { issue: "2162", lane: "src/**" };
const forCoder = await broker.addToken({ role: "worker", subject: "coder", ...grant });
const forLead = await broker.addToken({ role: "orchestrator", subject: "lead", worker: "coder", ...grant });
const forAuditor = await broker.addToken({ role: "auditor", subject: "eve" });

/** One correction, from the row to WITNESSED; resolves with the number of entries that the log has then. */
async function correct(message: string): Promise<number> {
  await using coder = await connectWorker({ url, token: forCoder.token, workerId: "coder", signal });
  await using lead = await connectOrchestrator({ url, token: forLead.token, signal });
  await coder.status({ issue: 2162, lane: "src/parser", next_action: { summary: "rewrite the tokenizer" } });
  const seen = await lead.get("coder");
  if (seen === undefined || isRefused(seen)) throw new Error("coder has no row to read");
  const receipt = await lead.correct(seen, message);
  if (receipt.verdict === "DENY") throw new Error(receipt.advice);
  for await (const correction of coder.corrections({ signal })) {
    await correction.ack({ next_action: { summary: correction.message, reflects: [correction.correction_id] } });
    break;
  }
  const { stage } = await receipt.outcome;
  assert.equal(stage, "WITNESSED");
  await coder.bye("completed");
  return broker.store.size();
}

/** The auditor, in a process of its own. */
function startAuditor(checkpoint: string) {
  const child = fork(new URL("auditor.ts", import.meta.url), {
    env: {
      ...process.env,
      A2ACHAN_URL: url,
      A2ACHAN_TOKEN: forAuditor.token,
      A2ACHAN_LOG_KEY: logKey,
      A2ACHAN_CHECKPOINT: checkpoint,
    },
    stdio: ["ignore", "pipe", "pipe", "ipc"],
    signal,
  });
  process.once("exit", () => child.kill());
  assert(child.stdout !== null && child.stderr !== null);
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const [stderr, exit] = [text(child.stderr), once(child, "exit")];
  return {
    /** Resolves when it has said that all is well with so many entries. */
    async verified(entries: number): Promise<void> {
      for (;;) {
        const { value, done } = await lines.next();
        if (done === true) throw new Error(`the auditor ended too early: ${await stderr}`);
        if (value === `all is well: ${entries} entries, as signed`) return console.log(`  auditor: ${value}`);
      }
    },
    /** Resolves with the evidence when it has raised the alarm and ended. */
    async alarm(why: RegExp): Promise<string> {
      const [[code], said] = await Promise.all([exit, stderr]);
      console.log(`  auditor: ${said.split("\n")[0]}`);
      assert.match(said, why);
      assert.equal(code, 7);
      return said;
    },
  };
}

const kept = join(folder, "kept");
console.log("A correction is WITNESSED:");
const auditor = startAuditor(kept);
await auditor.verified(await correct("Keep the tokenizer; fix the off-by-one."));

console.log("The broker starts again with its log, and goes on:");
await broker.stop();
cpSync(data, older, { recursive: true });
broker = await startBroker(port);
await auditor.verified(await correct("Add a test for it."));

console.log("It starts again with a copy of the log from before that:");
await broker.stop();
rmSync(data, { recursive: true });
cpSync(older, data, { recursive: true });
broker = await startBroker(port);
const evidence = await auditor.alarm(/^ALARM: The log has \d+ entries and had \d+: it was rolled back\./);
const note = readFileSync(kept, "utf8");
assert(evidence.includes(`\nkept:\n${note}\nshown:\n`));

console.log("It goes on with another history, until that is the longer one:");
const before = Number(note.split("\n")[1]);
while ((await correct("Rewrite it all.")) <= before);
await startAuditor(kept).alarm(/^ALARM: The log does not prove that it still begins with the \d+ entries it had\./);

console.log("It shows entries that are not those it signed, to an auditor who has never seen the log:");
const read = broker.store.read.bind(broker.store);
broker.store.read = async (from, limit) => {
  const { entries, texts } = await read(from, limit);
  return { entries: entries.map((line) => line.replace('"subject":"lead"', '"subject":"mallory"')), texts };
};
await startAuditor(join(folder, "new")).alarm(
  /^ALARM: The first \d+ entries do not make the root of their checkpoint\./,
);
await broker.stop();
console.log("Each lie was found.");
