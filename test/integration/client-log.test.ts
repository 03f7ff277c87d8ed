import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import {
  checkpointFile,
  connectAuditor,
  connectOrchestrator,
  connectWorker,
  isRefused,
  type Auditor,
  type Covered,
} from "../../src/client/index.js";
import { MemoryStore } from "../../src/index.js";
import { TestBroker } from "../support/broker.js";
import { opened } from "../support/opened.js";
import { leaf, rootOf } from "../support/rfc6962.js";

const EVERYWHERE = { worker: "**", issue: "**", lane: "**" };
const keys = { idKey: new Uint8Array(32).fill(1), logKey: new Uint8Array(32).fill(2) };

let broker: TestBroker;
let folder: string;

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "a2achan-client-log-"));
  broker = await TestBroker.start({ ...keys, store: new MemoryStore() });
});
afterEach(async () => {
  await broker.stop();
  rmSync(folder, { recursive: true, force: true });
});

const trust = () => ({ url: broker.url, logKey: broker.running.broker.logKey });
const tokenOf = async (request: Parameters<typeof broker.running.addToken>[0]): Promise<string> =>
  (await broker.running.addToken(request)).token;

/** The verified lines up to the first checkpoint that covers the entry at `index`, and that checkpoint. */
async function verified(auditor: Auditor, index: number): Promise<[lines: string[], covered: Covered]> {
  const lines: string[] = [];
  for await (const item of auditor.verified()) {
    if ("line" in item) lines.push(item.line);
    else if ("covered" in item && item.covered > index) return [lines, item];
  }
  throw new Error("the log ended");
}

describe("clients of a real broker, with its log's key", () => {
  it("confirm a receipt and an outcome, and the auditor verifies every entry [A2C-PRV-04] [A2C-PRV-13]", async () => {
    const [worker, orchestrator, auditor] = await Promise.all([
      tokenOf({ role: "worker", subject: "w-1", issue: "**", lane: "**" }).then((token) =>
        connectWorker({ ...trust(), token, workerId: "w-1" }),
      ),
      tokenOf({ role: "orchestrator", subject: "lead", ...EVERYWHERE }).then((token) =>
        connectOrchestrator({ ...trust(), token }),
      ),
      tokenOf({ role: "auditor", subject: "eve" }).then((token) => connectAuditor({ ...trust(), token })),
    ]);
    const status = await worker.status({ issue: "7", lane: "src", next_action: { summary: "go" } });
    if (isRefused(status)) throw new Error("refused");
    const receipt = await orchestrator.correct(status, "Stop.");
    const denied = await orchestrator.correct(status, "Stop.", { digest: "sha256:0" });
    if (receipt.verdict !== "ALLOW") throw new Error("denied");
    const [correction] = await worker.take();
    const acked = await correction?.ack();
    await worker.plan("stop", { reflects: [receipt.correction_id] });
    const outcome = await receipt.outcome;
    expect(outcome.stage).toBe("WITNESSED");

    for (const answer of [receipt, denied, outcome]) {
      const proof = await orchestrator.confirm(answer);
      expect(proof).toMatchObject({ index: answer.index, entry: expect.any(String), signed: true });
    }
    if (acked === undefined || isRefused(acked)) throw new Error("not acked");
    expect(await worker.confirm(acked)).toMatchObject({ index: acked.index, signed: true });
    expect(await orchestrator.prove(0)).not.toHaveProperty("entry");
    expect(await auditor.prove(0)).toMatchObject({ entry: expect.stringContaining("log_opened") });
    expect(await auditor.prove(100_000)).toBeUndefined();
    // Many at once, while the log grows: answers overtake one another, and none is taken for a rollback.
    const many = Array.from({ length: 12 }, (_, at) =>
      Promise.all([orchestrator.prove(at), worker.status({ issue: "7", lane: "src", task_id: `t-${at}` })]),
    );
    expect((await Promise.all(many)).map(([proof]) => proof)).toEqual(
      Array.from({ length: 12 }, (_, index) => expect.objectContaining({ index })),
    );

    const [lines, covered] = await verified(auditor, outcome.index);
    expect(lines).toHaveLength(covered.covered);
    expect(opened(covered.checkpoint, broker.running.broker.logKey)).toEqual({
      size: covered.covered,
      root: rootOf(lines.map(leaf)),
    });
    await Promise.all([worker.close(), orchestrator.close(), auditor.close()]);
  });

  it("find a log that was restored from an older copy at their next start [A2C-PRV-12]", async () => {
    const token = await tokenOf({ role: "auditor", subject: "eve" });
    const path = join(folder, "checkpoint");
    const first = await connectAuditor({ ...trust(), token, checkpoints: checkpointFile(path) });
    await first.close();
    const kept = readFileSync(path, "utf8");
    await broker.stop();
    // The same keys and origin over a log that begins anew.
    broker = await TestBroker.start({ ...keys, origin: kept.split("\n")[0] ?? "" });
    const again = await tokenOf({ role: "auditor", subject: "eve" });
    await expect(connectAuditor({ ...trust(), token: again, checkpoints: checkpointFile(path) })).rejects.toMatchObject(
      { code: "log_forked", checkpoints: { kept, shown: expect.stringContaining("\n") } },
    );
    expect(readFileSync(path, "utf8")).toBe(kept);
  });
});
