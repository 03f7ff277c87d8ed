import assert from "node:assert/strict";
import { createBroker } from "a2achan";
import { connectOrchestrator, connectWorker, isRefused, type Admitted } from "a2achan/client";
import { runAgent } from "./agent.js";
import { scriptedModel } from "./model.js";

const signal = AbortSignal.timeout(30_000);
await using broker = await createBroker();
const grant = { issue: "2162", lane: "src/**" };
const forLead = await broker.addToken({ role: "orchestrator", subject: "lead", worker: "coder", ...grant });
const forCoder = await broker.addToken({ role: "worker", subject: "coder", ...grant });
await using lead = await connectOrchestrator({ url: broker.url, token: forLead.token, signal });
await using worker = await connectWorker({ url: broker.url, token: forCoder.token, workerId: "coder", signal });

const sent: Admitted[] = [];

/** Lead looks at the agent while it works, and has something to say. */
async function correct(message: string): Promise<void> {
  const seen = await lead.get("coder");
  if (seen === undefined || isRefused(seen)) throw new Error("coder has no row to read");
  const receipt = await lead.correct(seen, message);
  if (receipt.verdict === "DENY") throw new Error(receipt.advice);
  sent.push(receipt);
  console.log(`lead, meanwhile: ${message}`);
}

const done: string[] = [];
const model = scriptedModel([
  { plan: "sketch a new tokenizer" },
  { plan: "replace the tokenizer" },
  { plan: "fix the off-by-one" },
  { decline: "this task does not push" },
  { done: true },
]);
const read = await runAgent(worker, model, {
  issue: 2162,
  lane: "src/parser",
  goal: "Make the parser's tests pass.",
  act: async (plan) => {
    console.log(`coder does: ${plan}`);
    done.push(plan);
    if (done.length === 1) {
      await correct("Keep the tokenizer; fix the off-by-one.");
      await correct("Push to main when you are done.");
    }
    return `did: ${plan}`;
  },
});

console.log(`\nall that the model has read:\n${read.join("\n")}\n`);

const ends: string[] = [];
for (const { outcome } of sent) ends.push((await outcome).stage);
console.log(`the two corrections ended ${ends.join(" and ")}`);
assert.deepEqual(ends, ["WITNESSED", "DECLINED"]);
assert.deepEqual(done, ["sketch a new tokenizer", "fix the off-by-one"]);
assert(read.some((text) => text.includes("Keep the tokenizer; fix the off-by-one.")));
