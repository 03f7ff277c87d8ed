import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { createBroker } from "a2achan";
import { connectOrchestrator } from "a2achan/client";

const signal = AbortSignal.timeout(30_000);
await using broker = await createBroker();
const forWorker = await broker.addToken({ role: "worker", subject: "snake", issue: "2162", lane: "src/**" });
const forLead = await broker.addToken({ role: "orchestrator", subject: "lead", worker: "*", issue: "*", lane: "**" });
await using lead = await connectOrchestrator({ url: broker.url, token: forLead.token, signal });

const worker = spawn("python3", [fileURLToPath(new URL("worker.py", import.meta.url))], {
  env: { ...process.env, A2ACHAN_URL: broker.url, A2ACHAN_TOKEN: forWorker.token },
  stdio: ["ignore", "inherit", "inherit"],
  signal,
});

async function endsWell(): Promise<void> {
  const [code] = (await once(worker, "exit")) as [unknown];
  assert.equal(code, 0);
}

async function steer(): Promise<void> {
  for await (const seen of lead.workers({ live: true })) {
    if ("reason" in seen) throw new Error(seen.advice);
    if ("gone" in seen) continue;
    const receipt = await lead.correct(seen, "Keep the tokenizer; fix the off-by-one.");
    if (receipt.verdict === "DENY") throw new Error(receipt.advice);
    const stages: string[] = [];
    for await (const { stage } of receipt.stages()) stages.push(stage);
    console.log(`lead was told ${stages.join(", ")}`);
    assert.deepEqual(stages, ["ADMITTED", "DELIVERED", "ACKED", "WITNESSED"]);
    return;
  }
}

await Promise.all([endsWell(), steer()]);
