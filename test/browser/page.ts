import {
  A2achanError,
  connectOrchestrator,
  connectWorker,
  isRefused,
  renderForModel,
  statusDigest,
} from "a2achan/client";

/** What the page is told by who serves it. */
export interface PageConfig {
  url: string;
  workerToken: string;
  orchestratorToken: string;
}

/** What the page saw. */
export interface PageResult {
  verdict: string;
  stages: string[];
  end: string;
  /** Whether the digest that was computed here is the broker's. */
  digestAgrees: boolean;
  rendered: boolean;
  /** The code of the error that a token which nobody made gives. */
  strangeToken: string;
  hasProcess: boolean;
}

/** A worker and an orchestrator of one page: a correction goes from the row in hand to its end. */
export async function run({ url, workerToken, orchestratorToken }: PageConfig): Promise<PageResult> {
  const worker = await connectWorker({ url, token: workerToken, workerId: "w-page" });
  const orchestrator = await connectOrchestrator({ url, token: orchestratorToken });
  try {
    await worker.status({ issue: "2162", lane: "src", next_action: { summary: "rewrite the caf\u00e9 parser" } });
    const view = await orchestrator.get("w-page");
    if (view === undefined || isRefused(view)) throw new Error("the page's worker has no row");
    const receipt = await orchestrator.correct(view, "Keep the parser. \u{1F680}");
    if (receipt.verdict === "DENY") throw new Error(receipt.advice);
    const stages: string[] = [];
    const told = (async () => {
      for await (const { stage } of receipt.stages()) stages.push(stage);
    })();
    let rendered = false;
    for await (const correction of worker.corrections()) {
      rendered = renderForModel(correction).includes("Keep the parser. \u{1F680}");
      await correction.ack({
        next_action: { summary: "keep the parser", reflects: [correction.correction_id], via: "declared" },
      });
      break;
    }
    const { stage: end } = await receipt.outcome;
    await told;
    return {
      verdict: receipt.verdict,
      stages,
      end,
      digestAgrees: statusDigest(view.row) === view.status_digest,
      rendered,
      strangeToken: await codeOf(connectOrchestrator({ url, token: `a2t_abcdefgh_${"A".repeat(43)}` })),
      hasProcess: "process" in globalThis,
    };
  } finally {
    await Promise.all([worker.close(), orchestrator.close()]);
  }
}

async function codeOf(work: Promise<unknown>): Promise<string> {
  return work.then(
    () => "resolved",
    (error: unknown) => (error instanceof A2achanError ? error.code : String(error)),
  );
}
