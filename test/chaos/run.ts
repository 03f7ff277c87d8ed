import { fileURLToPath } from "node:url";
import { A2achanError, type StageNotice } from "../../src/client/index.js";
import { openOrchestrator } from "../../src/client/orchestrator.js";
import { systemRuntime, type Runtime } from "../../src/client/runtime.js";
import { openWorker } from "../../src/client/worker.js";
import { AuditedLog } from "../crash/audit.js";
import { Program } from "../support/program.js";
import { randomFrom, type Random } from "../support/random.js";
import { EVERYWHERE, Serve, dataDirectory, operatorToken } from "../support/serve.js";
import { Agent, SCOPE, Sight, steer, type Sent } from "./cast.js";
import { judge } from "./judge.js";
import { ChaosProxy } from "./proxy.js";

export interface ChaosFigures {
  rounds: number;
  connections: number;
  /** Connections that were made twice, and those that were split to single bytes. */
  twins: number;
  split: number;
  /** How often connections broke, by how. */
  breaks: Record<string, number>;
  corrections: number;
  /** Of them, those whose receipt was read only when the request was sent again. */
  replayed: number;
  /** Corrections that were handed to an application, and how the others ended. */
  yielded: number;
  ends: Record<string, number>;
  /** What was not as promised: empty, or the SDK or the broker has a fault. */
  faults: string[];
}

/** Who takes part in one round. */
const WORKERS = ["w-0", "w-1", "w-2"];
const ORCHESTRATORS = ["o-0", "o-1"];
/** Corrections that one orchestrator has open with one worker at once, and sends it one behind the other. */
const LANES = 2;
const CORRECTIONS = 6;
/** Connections of each client that break. */
const FAULTS = 25;
/** A client's time runs so many times faster than ours, so that it waits as long as it would, in less of our time. */
const HASTE = 30;
const BROKER = fileURLToPath(new URL("../crash/broker.ts", import.meta.url));

const hasty: Runtime = {
  ...systemRuntime,
  random: () => 0,
  clock: {
    monotonic: () => systemRuntime.clock.monotonic() * HASTE,
    at: (ms, fn) => systemRuntime.clock.at(ms / HASTE, fn),
  },
};

/** Two minutes for a call, in the client's time: one that takes longer hangs. */
const timeoutMs = 120_000 * HASTE;

/** Lets orchestrators steer workers over lines that break, `rounds` times, each with a broker of its own. */
export async function runChaos(seed: number, rounds: number, tell: (line: string) => void): Promise<ChaosFigures> {
  const figures: ChaosFigures = {
    rounds: 0,
    connections: 0,
    twins: 0,
    split: 0,
    breaks: {},
    corrections: 0,
    replayed: 0,
    yielded: 0,
    ends: {},
    faults: [],
  };
  const random = randomFrom(seed);
  while (figures.rounds < rounds && figures.faults.length === 0) {
    await round(random, figures);
    figures.rounds += 1;
    tell(`${figures.rounds} rounds, ${figures.connections} connections, ${figures.faults.length} faults`);
  }
  return figures;
}

async function round(random: Random, figures: ChaosFigures): Promise<void> {
  using directory = dataDirectory();
  using program = new Program(["--import", "tsx", BROKER, directory.path]);
  const broker = await Serve.of(program, directory.path);
  const proxies: ChaosProxy[] = [];
  // Each line and each actor draws from a seed of its own: how their turns fall changes nothing in what they draw.
  const own = (): Random => randomFrom(random(0x1_0000_0000));
  const line = async (twins: boolean): Promise<string> => {
    const proxy = await ChaosProxy.start(broker.url, own(), { twins, faults: FAULTS });
    proxies.push(proxy);
    return proxy.url;
  };
  const codec = (): "json" | "msgpack" => (random(2) === 0 ? "json" : "msgpack");

  const agents = new Map<string, { agent: Agent; ran: Promise<void>; close: () => Promise<void> }>();
  for (const workerId of WORKERS) {
    const { token } = await broker.token({ role: "worker", subject: workerId, issue: "**", lane: "**" });
    const options = { url: await line(false), token, workerId, codec: codec(), timeoutMs };
    const worker = await opened(() => openWorker(options, hasty));
    await worker.status({ ...SCOPE, last_action: "read the issue" });
    const agent = new Agent(worker, own());
    agents.set(workerId, { agent, ran: agent.run(), close: () => worker.close() });
  }
  const heard: StageNotice[] = [];
  const orchestrators = await Promise.all(
    ORCHESTRATORS.map(async (subject) => {
      const { token } = await broker.token({ role: "orchestrator", subject, ...EVERYWHERE });
      const options = { url: await line(true), token, codec: codec(), timeoutMs };
      return opened(() => openOrchestrator(options, hasty));
    }),
  );
  const reading = orchestrators.map(async (orchestrator) => {
    for await (const notice of orchestrator.stages()) heard.push(notice);
  });
  const lanes: Promise<Sent[]>[] = [];
  for (const orchestrator of orchestrators) {
    const sight = new Sight();
    reading.push(sight.run(orchestrator));
    for (const workerId of WORKERS) {
      for (let lane = 0; lane < LANES; lane += 1) {
        lanes.push(steer(orchestrator, sight, workerId, CORRECTIONS, own()));
      }
    }
  }
  const ran = [...agents.values()].map((one) => one.ran);
  // An actor that fails must not leave the others waiting.
  const sent = (await Promise.race([Promise.all(lanes), failureOf([...ran, ...reading])])).flat();
  for (const client of [...orchestrators, ...agents.values()]) await client.close();
  await Promise.all([...ran, ...reading]);
  for (const proxy of proxies) await proxy.stop();

  const log = await AuditedLog.read(broker.url, operatorToken(directory.path));
  const yielded = new Map([...agents].map(([id, { agent }]) => [id, agent.yielded]));
  figures.faults.push(...judge(log, sent, heard, yielded));
  note(figures, proxies, sent, [...yielded.values()].flat().length);
  const ended = await broker.stop();
  if (ended.code !== 0) figures.faults.push(`the broker ended with ${ended.code}: ${ended.stderr}`);
}

/** A first attempt that fails is the caller's to repeat. */
async function opened<T>(open: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await open();
    } catch (error) {
      if (!(error instanceof A2achanError) || error.code !== "unreachable") throw error;
    }
  }
}

/** Rejects when one of them does; never resolves. */
function failureOf(work: readonly Promise<unknown>[]): Promise<never> {
  return new Promise((_resolve, reject) => {
    for (const one of work) one.catch(reject);
  });
}

function note(figures: ChaosFigures, proxies: readonly ChaosProxy[], sent: readonly Sent[], yielded: number): void {
  for (const { figures: line } of proxies) {
    figures.connections += line.connections;
    figures.twins += line.twins;
    figures.split += line.split;
    for (const [kind, count] of Object.entries(line.breaks)) figures.breaks[kind] = (figures.breaks[kind] ?? 0) + count;
  }
  figures.corrections += sent.length;
  figures.replayed += sent.filter(({ replayed }) => replayed).length;
  figures.yielded += yielded;
  for (const { end } of sent) figures.ends[end] = (figures.ends[end] ?? 0) + 1;
}
