import type { Admitted, Orchestrator, WorkerStatus } from "a2achan/client";

/** What the worker must be told, looking at its row; undefined when there is nothing to say (any more). */
function decide({ next_action }: WorkerStatus): string | undefined {
  const plan = next_action?.summary ?? "";
  if (!plan.startsWith("rewrite")) return undefined;
  return plan.includes("lexer")
    ? "Leave the tokenizer and the lexer; fix the off-by-one."
    : "Leave the tokenizer; fix the off-by-one.";
}

/**
 * Corrects a worker for the row that was seen. If the row has moved meanwhile, the broker refuses: then read again,
 * decide again, and only if it is still needed, send again, citing the new row.
 */
export async function steer(
  lead: Orchestrator,
  seen: WorkerStatus,
  read: (workerId: string) => Promise<WorkerStatus>,
): Promise<Admitted | undefined> {
  for (let row = seen; ; row = await read(row.worker_id)) {
    const message = decide(row);
    if (message === undefined) {
      console.log("  not needed any more: nothing is sent");
      return undefined;
    }
    const receipt = await lead.correct(row, message);
    if (receipt.verdict === "ALLOW") {
      console.log(`  admitted, citing seq ${row.seq}`);
      return receipt;
    }
    if (receipt.detail !== "DIGEST") throw new Error(receipt.advice);
    console.log(`  refused with ${receipt.reason}/${receipt.detail}; since seq ${row.seq} moved:`);
    for (const { field, cited, current } of receipt.moved) {
      console.log(`    ${field}: ${JSON.stringify(cited)} -> ${JSON.stringify(current)}`);
    }
  }
}
