import assert from "node:assert/strict";
import { connectOrchestrator } from "a2achan/client";

const { A2ACHAN_URL: url = "ws://127.0.0.1:7411/v1", A2ACHAN_TOKEN: token = "" } = process.env;

await using lead = await connectOrchestrator({ url, token });
for await (const seen of lead.workers({ live: true })) {
  if ("reason" in seen) throw new Error(seen.advice);
  if ("gone" in seen) continue;
  console.log(`lead: ${seen.row.worker_id} plans to ${seen.row.next_action?.summary}`);

  const receipt = await lead.correct(seen, "Keep the tokenizer; fix the off-by-one.");
  if (receipt.verdict === "DENY") {
    console.log(`lead: refused with ${receipt.reason}. ${receipt.advice}`);
    continue;
  }
  const stages: string[] = [];
  for await (const { stage } of receipt.stages()) {
    console.log(`lead: ${stage}`);
    stages.push(stage);
  }
  assert.deepEqual(stages, ["ADMITTED", "DELIVERED", "ACKED", "WITNESSED"]);
  break;
}
