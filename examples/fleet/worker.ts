import { connectWorker, isRefused, type Worker, type WorkerOptions } from "a2achan/client";

/** Starts a worker in a lane. It moves to another one when it is told to, and says so in its next planned action. */
export async function startWorker(options: WorkerOptions, lane: string): Promise<Worker> {
  const worker = await connectWorker(options);
  await publish(worker, lane, []);
  void obey(worker);
  return worker;
}

async function obey(worker: Worker): Promise<void> {
  for await (const correction of worker.corrections()) {
    const lane = /your lane is (\S+)$/.exec(correction.message)?.[1];
    if (lane === undefined) {
      await correction.decline("it names no lane");
      continue;
    }
    await correction.ack();
    await publish(worker, lane, [correction.correction_id]);
  }
}

async function publish(worker: Worker, lane: string, reflects: string[]): Promise<void> {
  const published = await worker.status({ issue: 2162, lane, next_action: { summary: `work in ${lane}`, reflects } });
  if (isRefused(published)) throw new Error(published.advice);
}
