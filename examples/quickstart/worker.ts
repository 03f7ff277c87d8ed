import assert from "node:assert/strict";
import { connectWorker, isRefused } from "a2achan/client";

const { A2ACHAN_URL: url = "ws://127.0.0.1:7411/v1", A2ACHAN_TOKEN: token = "" } = process.env;

const worker = await connectWorker({ url, token, workerId: "coder" });
const published = await worker.status({
  issue: 2162,
  lane: "src/parser",
  last_action: "read the failing test",
  next_action: { summary: "rewrite the tokenizer" },
});
if (isRefused(published)) throw new Error(published.advice);
console.log("worker: plans to rewrite the tokenizer, and waits for corrections");

for await (const correction of worker.corrections()) {
  console.log(`worker: told "${correction.message}"`);
  // Your agent decides here. Naming the id in the next planned action is what makes the correction WITNESSED.
  const answer = await correction.ack({
    next_action: { summary: "fix the off-by-one", reflects: [correction.correction_id] },
  });
  if (isRefused(answer)) throw new Error(answer.advice);
  assert.equal(answer.stage, "WITNESSED");
  await worker.bye("completed");
}
