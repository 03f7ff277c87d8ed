import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { openAuditor, type Auditor } from "../../../src/client/auditor.js";
import type { CallOptions } from "../../../src/client/bounded.js";
import type { Correction } from "../../../src/client/correction.js";
import { A2achanError } from "../../../src/client/errors.js";
import { openOrchestrator, type Orchestrator } from "../../../src/client/orchestrator.js";
import type { Admitted } from "../../../src/client/receipt.js";
import { openWorker, type Worker } from "../../../src/client/worker.js";
import { corr, correctionFrame, rowOf, stageFrame } from "../../support/client-frames.js";
import { ScriptedBroker, stillRuntime, type Script } from "../../support/scripted-broker.js";

let broker: ScriptedBroker;
let runtime: ReturnType<typeof stillRuntime>;
let ends: AsyncDisposable[];

beforeEach(async () => {
  broker = await ScriptedBroker.start();
  runtime = stillRuntime();
  ends = [];
});

afterEach(async () => {
  for (const end of ends) await end[Symbol.asyncDispose]();
  await broker.stop();
});

interface Client<T> {
  client: T;
  script: Script;
}

async function connected<T extends AsyncDisposable>(role: string, opening: Promise<T>): Promise<Client<T>> {
  const script = await broker.accept();
  await script.welcome(role);
  const client = await opening;
  ends.push(client);
  return { client, script };
}

const worker = (signal?: AbortSignal): Promise<Client<Worker>> => {
  const options = { url: broker.url, token: "t", workerId: "w-1", ...(signal !== undefined && { signal }) };
  return connected("worker", openWorker(options, runtime));
};
const orchestrator = (signal?: AbortSignal): Promise<Client<Orchestrator>> =>
  connected(
    "orchestrator",
    openOrchestrator({ url: broker.url, token: "t", ...(signal !== undefined && { signal }) }, runtime),
  );
const auditor = (signal?: AbortSignal): Promise<Client<Auditor>> =>
  connected("auditor", openAuditor({ url: broker.url, token: "t", ...(signal !== undefined && { signal }) }, runtime));

async function held(): Promise<Client<Correction>> {
  const { client, script } = await worker();
  script.send(correctionFrame(1));
  const next = client.corrections().next();
  script.send(stageFrame(1, "DELIVERED", 11, { id: (await script.next())["id"] }));
  return { client: (await next).value as Correction, script };
}

async function admitted(): Promise<Client<Admitted>> {
  const { client, script } = await orchestrator();
  const call = client.correct(rowOf(), "Stay.");
  const { id } = await script.next();
  const fields = { correction_id: corr(1), stage: "ADMITTED", index: 11, expires_at: 600_000, deliverable: true };
  script.send({ type: "receipt", id, verdict: "ALLOW", ...fields });
  return { client: (await call) as Admitted, script };
}

type Use = (options: CallOptions) => Promise<unknown>;
type Case = [what: string, make: () => Promise<{ use: Use; script: Script }>];

function on<T>(what: string, make: () => Promise<Client<T>>, use: (client: T, options: CallOptions) => unknown): Case {
  const made = async (): Promise<{ use: Use; script: Script }> => {
    const { client, script } = await make();
    return { script, use: (options) => Promise.resolve(use(client, options)) };
  };
  return [what, made];
}

const SCOPE = { issue: "2162", lane: "src" };

const CALLS: Case[] = [
  on("worker.status", worker, (client, options) => client.status(SCOPE, options)),
  on("worker.plan", worker, (client, options) => client.plan("think", options)),
  on("worker.inbox", worker, (client, options) => client.inbox(false, options)),
  on("worker.bye", worker, (client, options) => client.bye("completed", options)),
  on("correction.ack", held, (client, options) => client.ack({}, options)),
  on("correction.decline", held, (client, options) => client.decline("no", options)),
  on("orchestrator.list", orchestrator, (client, options) => client.list({}, options)),
  on("orchestrator.get", orchestrator, (client, options) => client.get("w-1", options)),
  on("orchestrator.correct", orchestrator, (client, options) => client.correct(rowOf(), "Stay.", options)),
  on("orchestrator.withdraw", orchestrator, (client, options) => client.withdraw(corr(1), options)),
  on("orchestrator.stage", orchestrator, (client, options) => client.stage(corr(1), options)),
  on("auditor.log", auditor, (client, options) => client.log(options)),
];
const STREAMS: Case[] = [
  on("worker.corrections", worker, (client, options) => client.corrections(options).next()),
  on("orchestrator.stages", orchestrator, (client, options) => client.stages(options).next()),
  on("receipt.stages", admitted, async (client, options) => {
    const stages = client.stages(options);
    await stages.next();
    return stages.next();
  }),
];
const ASKING_STREAMS: Case[] = [
  on("orchestrator.workers", orchestrator, (client, options) => client.workers({}, options).next()),
  on("auditor.follow", auditor, (client, options) => client.follow(options).next()),
];

const REASON = new Error("the user left");

async function failureOf(work: Promise<unknown>): Promise<unknown> {
  return work.then(
    () => "resolved",
    (error: unknown) => (error instanceof A2achanError ? { code: error.code, cause: error.cause } : error),
  );
}

describe("a signal of the caller", () => {
  it.each([...CALLS, ...STREAMS, ...ASKING_STREAMS])(
    "ends %s at once when it has fired before",
    async (_what, make) => {
      const { use } = await make();
      expect(await failureOf(use({ signal: AbortSignal.abort(REASON) }))).toEqual({ code: "aborted", cause: REASON });
    },
  );

  it.each([...CALLS, ...STREAMS])("lets %s send nothing when it has fired before", async (_what, make) => {
    const { use, script } = await make();
    await failureOf(use({ signal: AbortSignal.abort() }));
    await script.ping();
    expect(script.unread).toEqual([]);
  });

  it.each([...CALLS.filter(([what]) => what !== "worker.plan"), ...STREAMS, ...ASKING_STREAMS])(
    "ends %s while it waits, and leaves no timer",
    async (_what, make) => {
      const { use, script } = await make();
      await script.ping();
      const timers = runtime.clock.pending;
      const controller = new AbortController();
      const listening = counted(controller.signal);
      const failure = failureOf(use({ signal: controller.signal }));
      await script.ping();
      expect(listening()).toBe(1);
      controller.abort(REASON);
      expect(await failure).toEqual({ code: "aborted", cause: REASON });
      expect(runtime.clock.pending).toBe(timers);
    },
  );

  it("keeps take from receiving anything when it has fired before, and what waits goes on waiting", async () => {
    const { client, script } = await worker();
    script.send(correctionFrame(1));
    await script.ping();
    expect(await failureOf(client.take({ signal: AbortSignal.abort(REASON) }))).toEqual({
      code: "aborted",
      cause: REASON,
    });
    const aborted = client.corrections({ signal: AbortSignal.abort(REASON) });
    expect(await failureOf(aborted.next())).toEqual({ code: "aborted", cause: REASON });
    expect(await aborted.next()).toEqual({ done: true, value: undefined });
    await script.ping();
    expect(script.unread).toEqual([]);
    const taking = client.take();
    script.send(stageFrame(1, "DELIVERED", 11, { id: (await script.next())["id"] }));
    expect(await taking).toHaveLength(1);
  });

  it("gives no more of a stream once it has fired, even what is at hand", async () => {
    const { client, script } = await orchestrator();
    const controller = new AbortController();
    const stages = client.stages({ signal: controller.signal });
    script.send(stageFrame(1, "ADMITTED", 11));
    script.send(stageFrame(1, "DELIVERED", 12));
    await script.ping();
    expect((await stages.next()).value).toMatchObject({ stage: "ADMITTED" });
    controller.abort(REASON);
    expect(await failureOf(stages.next())).toEqual({ code: "aborted", cause: REASON });
    expect(await stages.next()).toEqual({ done: true, value: undefined });
  });

  it.each<[string, (signal: AbortSignal) => Promise<Client<AsyncDisposable>>]>([
    ["worker", worker],
    ["orchestrator", orchestrator],
    ["auditor", auditor],
  ])("that was given at connect closes the %s", async (_role, connect) => {
    const controller = new AbortController();
    const { script } = await connect(controller.signal);
    controller.abort();
    expect(await script.closed).toBe(1000);
  });
});

describe("disposal", () => {
  it.each<[string, () => Promise<Client<AsyncDisposable>>]>([
    ["worker", worker],
    ["orchestrator", orchestrator],
    ["auditor", auditor],
  ])("closes the %s, says goodbye, leaves no timer, and may be repeated", async (_role, connect) => {
    const { client, script } = await connect();
    await client[Symbol.asyncDispose]();
    expect(await script.closed).toBe(1000);
    expect(runtime.clock.pending).toBe(0);
    await client[Symbol.asyncDispose]();
  });

  it("ends every stream quietly and fails what waits with closed", async () => {
    const { client, script } = await orchestrator();
    const streams = [client.stages().next(), client.workers().next()];
    const call = failureOf(client.get("w-1"));
    await script.next();
    await client[Symbol.asyncDispose]();
    expect(await Promise.all(streams)).toEqual([
      { done: true, value: undefined },
      { done: true, value: undefined },
    ]);
    expect(await call).toEqual({ code: "closed", cause: undefined });
  });

  it("cuts a broker that does not answer the goodbye after 2 s", async () => {
    const { client, script } = await auditor();
    script.pause();
    const closed = client.close();
    runtime.clock.advance(2_000);
    await closed;
    expect(runtime.clock.pending).toBe(0);
  });
});

/** Counts the listeners that are added to a signal. */
function counted(signal: AbortSignal): () => number {
  let listeners = 0;
  const add = signal.addEventListener.bind(signal);
  const remove = signal.removeEventListener.bind(signal);
  signal.addEventListener = (...args: Parameters<typeof add>) => {
    listeners += 1;
    add(...args);
  };
  signal.removeEventListener = (...args: Parameters<typeof remove>) => {
    listeners -= 1;
    remove(...args);
  };
  return () => listeners;
}
