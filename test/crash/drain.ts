import { connectWorker, isRefused, type Refused } from "../../src/client/index.js";
import { SCOPE, type Cast } from "./load.js";

/** Runs every worker until none of its corrections is open: acks what waits, and plans for what was acked before. */
export async function drain(url: string, cast: Cast, open: ReadonlyMap<string, readonly string[]>): Promise<void> {
  await Promise.all(cast.workers.map(({ id, token }) => drainWorker(url, id, token, open.get(id) ?? [])));
}

async function drainWorker(url: string, workerId: string, token: string, open: readonly string[]): Promise<void> {
  await using worker = await connectWorker({ url, token, workerId });
  await taken(() => worker.status({ ...SCOPE, last_action: "came back" }));
  const { pending } = await taken(() => worker.plan("go through what waits", { reflects: open.slice(0, 9) }));
  if (pending === 0) return;
  let left = pending;
  for await (const correction of worker.corrections()) {
    const { correction_id } = correction;
    await taken(() =>
      correction.ack({ next_action: { summary: `take up ${correction_id}`, reflects: [correction_id] } }),
    );
    left -= 1;
    if (left === 0) return;
  }
}

/** Asks until it is not refused: a worker may have used up its new digests of this second. */
async function taken<T>(ask: () => Promise<T | Refused>): Promise<T> {
  for (;;) {
    const answer = await ask();
    if (!isRefused(answer)) return answer;
    if (answer.reason !== "RATE_LIMITED") throw new Error(`refused: ${answer.reason}/${answer.detail ?? ""}`);
  }
}
