import assert from "node:assert/strict";
import { createBroker } from "a2achan";
import { connectOrchestrator, type Worker } from "a2achan/client";
import { liveTable } from "./table.js";
import { startWorker } from "./worker.js";

const signal = AbortSignal.timeout(60_000);
await using broker = await createBroker();
const grant = { issue: "2162", lane: "pkg/*" };
const forLead = await broker.addToken({ role: "orchestrator", subject: "lead", worker: "*", ...grant });
await using lead = await connectOrchestrator({ url: broker.url, token: forLead.token, signal });

// Worker n belongs in lane pkg/(n mod 4); those that are astray start in the lane beside it.
const laneOf = (n: number): string => `pkg/${n % 4}`;
const ids = Array.from({ length: 50 }, (_, n) => `w${String(n).padStart(2, "0")}`);
const assigned = new Map(ids.map((workerId, n) => [workerId, laneOf(n)]));
const astray = ["w03", "w10", "w17", "w24", "w31", "w38", "w45"];

async function startFleet(): Promise<Worker[]> {
  const workers: Worker[] = [];
  for (const [n, workerId] of ids.entries()) {
    const { token } = await broker.addToken({ role: "worker", subject: workerId, ...grant });
    const lane = laneOf(astray.includes(workerId) ? n + 1 : n);
    workers.push(await startWorker({ url: broker.url, token, workerId }, lane));
  }
  return workers;
}

/** Watches the fleet until everybody is in the lane that is theirs. Returns how each correction ended, by worker. */
async function steerFleet(): Promise<Map<string, string>> {
  const show = liveTable();
  const outcomes = new Map<string, Promise<string>>();
  const inPlace = new Set<string>();
  for await (const seen of lead.workers({ live: true })) {
    if ("reason" in seen) throw new Error(seen.advice);
    if ("gone" in seen) continue;
    const { worker_id, lane } = seen.row;
    const own = assigned.get(worker_id) ?? "";
    show(worker_id, { lane });
    if (lane === own) {
      inPlace.add(worker_id);
      if (inPlace.size === ids.length) break;
    } else if (!outcomes.has(worker_id)) {
      const receipt = await lead.correct(seen, `You are in ${lane}; your lane is ${own}`);
      if (receipt.verdict === "ALLOW") {
        show(worker_id, { mark: "told" });
        const ended = receipt.outcome.then(({ stage }) => {
          show(worker_id, { mark: stage });
          return stage;
        });
        outcomes.set(worker_id, ended);
      } else if (receipt.detail !== "DIGEST") throw new Error(receipt.advice);
      // A row that has moved meanwhile comes again, and is judged again.
    }
  }
  const ends = new Map<string, string>();
  for (const [workerId, outcome] of outcomes) ends.set(workerId, await outcome);
  return ends;
}

const [workers, ends] = await Promise.all([startFleet(), steerFleet()]);
await Promise.all(workers.map((worker) => worker.bye("completed")));
console.log(`${workers.length} workers; those told to move: ${[...ends.keys()].sort().join(" ")}`);
assert.deepEqual(ends, new Map(astray.map((workerId) => [workerId, "WITNESSED"])));
