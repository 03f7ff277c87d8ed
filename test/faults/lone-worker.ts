import { connectWorker } from "../../src/client/index.js";

// A worker on its own: it publishes a row, says so, and stays until it is killed.
const { A2C_URL: url = "", A2C_TOKEN: token = "" } = process.env;
const worker = await connectWorker({ url, token, workerId: "w-1", leaseMs: 90_000 });
await worker.status({ issue: "2162", lane: "src/parser", last_action: "read the issue" });
console.log("live");
for await (const correction of worker.corrections()) {
  await correction.ack({ next_action: { summary: "take it up", reflects: [correction.correction_id] } });
}
