import { connectWorker } from "../../../../src/client/index.js";

// A worker as a process of its own, to be frozen and killed: it takes up whatever it is told, and says each step in a line.
const [url = "", token = "", workerId = ""] = process.argv.slice(2);
const worker = await connectWorker({ url, token, workerId });
await worker.status({ issue: "2162", lane: "src/parser", next_action: { summary: "rewrite the parser" } });
console.log("published");
for await (const correction of worker.corrections()) {
  const { correction_id, message } = correction;
  console.log(`took ${correction_id}`);
  await correction.ack({ next_action: { summary: message, reflects: [correction_id] } });
}
