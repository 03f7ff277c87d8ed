import assert from "node:assert/strict";
import { createBroker } from "a2achan";
import { connectOrchestrator, connectWorker, isRefused, type Worker, type WorkerStatus } from "a2achan/client";
import { steer } from "./steer.js";

const signal = AbortSignal.timeout(30_000);
await using broker = await createBroker();
const grant = { issue: "2162", lane: "src/**" };
const forLead = await broker.addToken({ role: "orchestrator", subject: "lead", worker: "*", ...grant });
await using lead = await connectOrchestrator({ url: broker.url, token: forLead.token, signal });

/** A worker that is about to rewrite the tokenizer and, when told otherwise, fixes what is wrong. */
async function startWorker(workerId: string): Promise<Worker> {
  const { token } = await broker.addToken({ role: "worker", subject: workerId, ...grant });
  const worker = await connectWorker({ url: broker.url, token, workerId, signal });
  await worker.status({ issue: 2162, lane: "src/parser", next_action: { summary: "rewrite the tokenizer" } });
  return worker;
}

async function read(workerId: string): Promise<WorkerStatus> {
  const view = await lead.get(workerId);
  if (view === undefined || isRefused(view)) throw new Error(`${workerId} has no row to read`);
  return view.row;
}

// Both rows are read; then both workers move on before lead has spoken.
await using eager = await startWorker("eager");
await using wise = await startWorker("wise");
const seen = [await read("eager"), await read("wise")] as const;
await eager.plan("rewrite the tokenizer and the lexer");
await wise.plan("fix the off-by-one");

console.log("eager still needs it:");
const receipt = await steer(lead, seen[0], read);
assert.equal(receipt?.verdict, "ALLOW");
for await (const correction of eager.corrections({ signal })) {
  console.log(`  eager is told: ${correction.message}`);
  await correction.ack({ next_action: { summary: "fix the off-by-one", reflects: [correction.correction_id] } });
  break;
}
const outcome = await receipt.outcome;
console.log(`  ${outcome.stage}`);
assert.equal(outcome.stage, "WITNESSED");

console.log("wise has found out by itself:");
assert.equal(await steer(lead, seen[1], read), undefined);
assert.deepEqual(await wise.take(), []);
