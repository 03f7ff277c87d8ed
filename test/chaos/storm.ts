import {
  connectOrchestrator,
  connectWorker,
  isRefused,
  type Admitted,
  type Correction,
  type Orchestrator,
  type Worker,
} from "../../src/client/index.js";
import { AuditedLog } from "../crash/audit.js";
import { EVERYWHERE, Serve, dataDirectory, operatorToken } from "../support/serve.js";
import { SCOPE } from "./cast.js";

export interface StormFigures {
  workers: number;
  orchestrators: number;
  /** Corrections that were open when the broker was killed, and of them those that a worker had taken. */
  open: number;
  taken: number;
  /** Sessions of workers that were opened after the restart: one each, or more where one was lost again. */
  sessions: number;
  /** Milliseconds from the new broker's first word until every row was live again, and until all was witnessed. */
  backMs: number;
  doneMs: number;
  /** What was not as promised. */
  faults: string[];
}

/** What one principal may send in a second, to as many workers. */
const FLOCK = 20;
const AT_ONCE = 50;

interface Sheep {
  id: string;
  worker: Worker;
  corrections: AsyncIterator<Correction, unknown>;
  taken?: Correction;
}

/**
 * Connects workers to one broker, leaves each a correction, of which every other worker has taken its own, kills the
 * broker with -9 and starts it again: the clients have to come back by themselves and every correction be witnessed.
 */
export async function runStorm(count: number, tell: (line: string) => void): Promise<StormFigures> {
  using directory = dataDirectory();
  const flags = ["--max-connections", String(count + Math.ceil(count / FLOCK) + 64)];
  const first = await Serve.start(directory.path, ...flags);
  const ids = Array.from({ length: count }, (_, at) => `w-${at}`);
  const flock = await inGroups(ids, async (id): Promise<Sheep> => {
    const { token } = await first.token({ role: "worker", subject: id, issue: "**", lane: "**" });
    const worker = await connectWorker({ url: first.url, token, workerId: id, timeoutMs: 120_000 });
    await worker.status({ ...SCOPE, last_action: "read the issue" });
    return { id, worker, corrections: worker.corrections() };
  });
  tell(`${flock.length} workers are live`);
  const orchestrators: Orchestrator[] = [];
  const receipts: Admitted[] = [];
  for (let from = 0; from < count; from += FLOCK) {
    const { token } = await first.token({ role: "orchestrator", subject: `o-${from}`, ...EVERYWHERE });
    const orchestrator = await connectOrchestrator({ url: first.url, token });
    orchestrators.push(orchestrator);
    receipts.push(...(await Promise.all(ids.slice(from, from + FLOCK).map((id) => correct(orchestrator, id)))));
  }
  const takers = flock.filter((_, at) => at % 2 === 0);
  await Promise.all(takers.map(take));
  const token = operatorToken(directory.path);
  const observer = await connectOrchestrator({ url: first.url, token });
  const back = allBack(observer, count);
  const before = (await AuditedLog.read(first.url, token)).lines.length;
  tell(`${receipts.length} corrections are open, ${takers.length} of them taken; kill -9`);

  await first.kill();
  const again = await Serve.start(directory.path, "--port", new URL(first.url).port, ...flags);
  const begun = performance.now();
  await back;
  const backMs = Math.round(performance.now() - begun);
  tell(`every row is live again after ${backMs} ms`);
  await Promise.all(flock.map(witness));
  const outcomes = await Promise.all(receipts.map(({ outcome }) => outcome));
  const doneMs = Math.round(performance.now() - begun);

  const faults = outcomes.flatMap(({ correction_id, stage }) =>
    stage === "WITNESSED" ? [] : [`${correction_id} ended ${stage}`],
  );
  for (const { id, worker } of flock) {
    if ((await worker.take()).length > 0) faults.push(`${id} was handed a correction twice`);
  }
  const log = await AuditedLog.read(again.url, token);
  faults.push(...log.broken(), ...[...log.open().values()].flat().map((id) => `${id} reached no end`));
  const sessions = log.entries.slice(before).filter(({ kind }) => kind === "session_opened").length;
  await Promise.all([...orchestrators, observer, ...flock.map(({ worker }) => worker)].map((client) => client.close()));
  const ended = await again.stop();
  if (ended.code !== 0) faults.push(`the broker ended with ${ended.code}: ${ended.stderr}`);
  return {
    workers: count,
    orchestrators: orchestrators.length,
    open: receipts.length,
    taken: takers.length,
    sessions,
    backMs,
    doneMs,
    faults,
  };
}

async function correct(orchestrator: Orchestrator, workerId: string): Promise<Admitted> {
  const view = await orchestrator.get(workerId);
  if (view === undefined || isRefused(view)) throw new Error(`${workerId} cannot be seen`);
  const receipt = await orchestrator.correct(view, "Keep the names as they are.");
  if (receipt.verdict === "DENY") throw new Error(`${workerId} was not corrected: ${receipt.advice}`);
  return receipt;
}

async function take(sheep: Sheep): Promise<Correction> {
  const next = await sheep.corrections.next();
  if (next.done === true) throw new Error(`the corrections of ${sheep.id} are over`);
  return (sheep.taken = next.value);
}

/** Acks the one correction of a worker, whether it was taken before the storm or is to come. */
async function witness(sheep: Sheep): Promise<void> {
  const correction = sheep.taken ?? (await take(sheep));
  const next_action = { summary: "keep the names", reflects: [correction.correction_id] };
  const answer = await correction.ack({ next_action });
  if (isRefused(answer)) throw new Error(`${sheep.id} was refused: ${answer.advice}`);
}

/** Resolves when the rows of `count` workers are live again: the restart made each not live, in its second row. */
async function allBack(observer: Orchestrator, count: number): Promise<void> {
  const back = new Set<string>();
  for await (const change of observer.workers()) {
    if (isRefused(change) || "gone" in change) throw new Error("a row was withheld");
    if (change.liveness === "live" && change.row.seq === 3) back.add(change.row.worker_id);
    if (back.size === count) return;
  }
}

/** Maps some at a time, in order. */
async function inGroups<T, R>(items: readonly T[], map: (item: T) => Promise<R>): Promise<R[]> {
  const done: R[] = [];
  for (let from = 0; from < items.length; from += AT_ONCE) {
    done.push(...(await Promise.all(items.slice(from, from + AT_ONCE).map(map))));
  }
  return done;
}
