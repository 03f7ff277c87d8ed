import assert from "node:assert/strict";
import { createBroker } from "a2achan";
import { connectOrchestrator, connectWorker, isRefused } from "a2achan/client";

const signal = AbortSignal.timeout(30_000);

// The broker lives in this process: on a port of its own, with a log in memory, and with tokens made here.
const broker = await createBroker({ onFault: (error) => console.error("a connection failed:", error) });
void broker.faulted.then((error) => {
  console.error("the log cannot be written, so nothing is decided any more:", error);
  process.exit(1);
});
const ready = await fetch(`${broker.http}/readyz`, { signal });
console.log(`readyz says ${ready.status}`);
assert.equal(ready.status, 200);

// Each token says who its holder is, and where; what it does not name is denied.
const forCoder = await broker.addToken({ role: "worker", subject: "coder", issue: "2162", lane: "src/**" });
const forWriter = await broker.addToken({ role: "worker", subject: "writer", issue: "2162", lane: "docs/**" });
const forLead = await broker.addToken({
  role: "orchestrator",
  subject: "lead",
  worker: "*",
  issue: "2162",
  lane: "src/**",
  expiresInMs: 3_600_000,
});
const { url } = broker;
const coder = await connectWorker({ url, token: forCoder.token, workerId: "coder", signal });
const writer = await connectWorker({ url, token: forWriter.token, workerId: "writer", signal });
const lead = await connectOrchestrator({ url, token: forLead.token, signal });
await coder.status({ issue: 2162, lane: "src/parser", next_action: { summary: "rewrite the tokenizer" } });
await writer.status({ issue: 2162, lane: "docs/guide", next_action: { summary: "rewrite the guide" } });

// Lead sees its part of the work only.
const page = await lead.list();
if (isRefused(page)) throw new Error(page.advice);
const visible = page.rows.map(({ row }) => row.worker_id);
console.log(`lead sees ${visible.join(", ")}`);
assert.deepEqual(visible, ["coder"]);

const [seen] = page.rows;
assert(seen !== undefined);
const receipt = await lead.correct(seen, "Keep the tokenizer; fix the off-by-one.");
assert.equal(receipt.verdict, "ALLOW");
for await (const correction of coder.corrections({ signal })) {
  await correction.ack({ next_action: { summary: "fix the off-by-one", reflects: [correction.correction_id] } });
  break;
}
const outcome = await receipt.outcome;
console.log(`the correction ended ${outcome.stage}`);
assert.equal(outcome.stage, "WITNESSED");

// A token that is taken away ends its connections at once.
await broker.broker.revokeToken(forWriter.id);
await assert.rejects(writer.corrections({ signal }).next(), { code: "unauthenticated" });
console.log("writer's token is revoked, and its connection closed");

// Clients first, where one can: those of others are told that the broker drains, and come back when it is up again.
await Promise.all([coder.close(), lead.close()]);
await broker.stop();
await assert.rejects(fetch(`${broker.http}/readyz`, { signal }), TypeError);
console.log("the broker has stopped; nothing listens any more");
