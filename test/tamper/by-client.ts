import { openAuditor, type Auditor } from "../../src/client/auditor.js";
import type { ConnectOptions } from "../../src/client/connect-options.js";
import { A2achanError } from "../../src/client/errors.js";
import { openOrchestrator } from "../../src/client/orchestrator.js";
import { openWorker } from "../../src/client/worker.js";
import { LyingLog } from "../support/lying-log.js";
import type { Random } from "../support/random.js";
import { FIRST_RETRY_MS, ScriptedBroker, stillRuntime } from "../support/scripted-broker.js";
import { Tally } from "./tally.js";

const ROLES = ["worker", "orchestrator", "auditor"] as const;
const PROOFS = ["the honest one", "its own", "none"] as const;
/** How far a fork may have grown past what the client saw. */
const MOST_GROWN = 40;

/** One client that saw a log of n entries, and the log that its next connection shows. */
interface Sample {
  role: (typeof ROLES)[number];
  n: number;
  k: number;
  /** Size of the fork; absent for a rollback. */
  forked?: number;
  proof: (typeof PROOFS)[number];
}

/**
 * Clients of every role that saw a checkpoint of n <= most entries, lost their connection, and come back to a log that was
 * rolled back to k or forked there. Found: all that the client does ends with `log_forked`. Placed: with both checkpoints.
 */
export async function byClient(
  lines: readonly string[],
  most: number,
  samples: number,
  random: Random,
): Promise<Tally[]> {
  const rollback = new Tally("rollback n -> k, client");
  const fork = new Tally("fork at k, client");
  const others = lines.map((line) => `${line} `);
  const broker = await ScriptedBroker.start();
  try {
    for (let at = 0; at < samples; at += 1) {
      const sample = drawn(random, most, lines.length);
      const { n, k, forked } = sample;
      const log = new LyingLog(lines.slice(0, forked ?? n));
      const lie = new LyingLog([...lines.slice(0, k), ...others.slice(k, forked ?? k)]);
      const [kept, shown] = [log.checkpoint(n), lie.checkpoint()];
      const failure = await comesBack(broker, sample, log, lie);
      const found = failure?.code === "log_forked";
      const both = failure?.checkpoints?.kept === kept && failure.checkpoints.shown === shown;
      (forked === undefined ? rollback : fork).count(found, () => JSON.stringify(sample), found && both);
    }
  } finally {
    await broker.stop();
  }
  return [rollback, fork];
}

function drawn(random: Random, most: number, end: number): Sample {
  const role = ROLES[random(ROLES.length)] ?? "worker";
  const proof = PROOFS[random(PROOFS.length)] ?? "none";
  const n = 1 + random(most);
  const k = random(n);
  const grown = Math.min(end, n + random(MOST_GROWN));
  return { role, n, k, proof, ...(random(2) === 1 && { forked: grown }) };
}

/** What ends the client; undefined if it goes on and believes the log. */
async function comesBack(
  broker: ScriptedBroker,
  { role, n, proof }: Sample,
  log: LyingLog,
  lie: LyingLog,
): Promise<A2achanError | undefined> {
  const runtime = stillRuntime();
  const opening = opened(role, { url: broker.url, token: "t", logKey: log.logKey }, runtime);
  const before = await broker.accept();
  await before.welcome(role, { log: log.checkpoint(n) });
  const client = await opening;
  before.drop();
  // A call that waits for the connection: it may leave only once the log has proved that it grew.
  const waiting = client.prove(0).then(
    () => undefined,
    (error: A2achanError) => error,
  );
  await runtime.clock.fire(FIRST_RETRY_MS);
  const script = await broker.accept();
  await script.welcome(role, { log: lie.checkpoint() });
  const asked = script.next();
  const first = await Promise.race([waiting, asked]);
  let failure = first instanceof A2achanError ? first : undefined;
  if (failure === undefined && first !== undefined && "from_size" in first) {
    const hashes = proof === "none" ? [] : (proof === "its own" ? lie : log).consistency(n)["hashes"];
    script.send({ type: "proof", id: first["id"], from_size: n, checkpoint: lie.checkpoint(), hashes });
    failure = await Promise.race([waiting, script.next().then(() => undefined)]);
  }
  script.drop();
  await client.close();
  return failure;
}

function opened(
  role: Sample["role"],
  options: ConnectOptions,
  runtime: ReturnType<typeof stillRuntime>,
): Promise<Pick<Auditor, "prove" | "close">> {
  if (role === "worker") return openWorker({ ...options, workerId: "w" }, runtime);
  return role === "auditor" ? openAuditor(options, runtime) : openOrchestrator(options, runtime);
}
