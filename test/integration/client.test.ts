import { afterEach, beforeEach, describe, expect, it } from "vitest";
import {
  A2achanError,
  isRefused,
  type Admitted,
  type Auditor,
  type Correction,
  type Denied,
  type Orchestrator,
  type Receipt,
  type View,
  type Worker,
} from "../../src/client/index.js";
import { openAuditor } from "../../src/client/auditor.js";
import { openOrchestrator } from "../../src/client/orchestrator.js";
import { openWorker } from "../../src/client/worker.js";
import { MemoryTokenHashes } from "../../src/broker/tokens.js";
import { MemoryStore } from "../../src/storage/memory.js";
import { TestBroker } from "../support/broker.js";
import { FIRST_RETRY_MS, stillRuntime } from "../support/scripted-broker.js";
import { TcpProxy } from "../support/tcp-proxy.js";

/** A client on a line of its own, which the test can cut. */
interface Line<T> {
  client: T;
  proxy: TcpProxy;
  /** Cuts the line and lets the client connect again. */
  reconnect(): Promise<void>;
  clock: ReturnType<typeof stillRuntime>["clock"];
}

type Closeable = Worker | Orchestrator | Auditor;

const SCOPE = { issue: "2162", lane: "src" };
const EVERYWHERE = { worker: "**", issue: "**", lane: "**" };

let broker: TestBroker;
let codec: "json" | "msgpack";
let ends: (() => Promise<void>)[];

beforeEach(async () => {
  broker = await TestBroker.start();
  ends = [];
  codec = "json";
});

afterEach(async () => {
  for (const end of ends) await end();
  await broker.stop();
});

async function line<T extends Closeable>(
  open: (url: string, runtime: ReturnType<typeof stillRuntime>) => Promise<T>,
): Promise<Line<T>> {
  const proxy = await TcpProxy.start(broker.url);
  const runtime = stillRuntime();
  const client = await open(proxy.url, runtime);
  ends.push(async () => {
    await client.close();
    await proxy.stop();
  });
  const reconnect = async (): Promise<void> => {
    proxy.cut();
    await runtime.clock.fire(FIRST_RETRY_MS);
  };
  return { client, proxy, reconnect, clock: runtime.clock };
}

/** A broker in place of the first, whose log outlives it; what it gives starts it again on the same port. */
async function restartable(): Promise<() => Promise<void>> {
  const keys = { idKey: new Uint8Array(32), logKey: new Uint8Array(32) };
  const log = { store: new MemoryStore(), ...keys, hashes: new MemoryTokenHashes() };
  await broker.stop();
  broker = await TestBroker.start(log);
  return async () => {
    await broker.stop();
    broker = await TestBroker.start({ ...log, port: Number(new URL(broker.url).port) });
  };
}

async function workerLine(workerId = "w-1"): Promise<Line<Worker>> {
  const { token } = await broker.running.addToken({ role: "worker", subject: workerId, issue: "**", lane: "**" });
  return line((url, runtime) => openWorker({ url, token, workerId, codec }, runtime));
}

async function orchestratorLine(subject = "orch"): Promise<Line<Orchestrator>> {
  const { token } = await broker.running.addToken({ role: "orchestrator", subject, ...EVERYWHERE });
  return line((url, runtime) => openOrchestrator({ url, token, codec }, runtime));
}

async function viewOf(orchestrator: Orchestrator, workerId = "w-1"): Promise<View> {
  const view = await orchestrator.get(workerId);
  if (view === undefined || isRefused(view)) throw new Error("no view");
  return view;
}

function allowed(receipt: Receipt): Admitted {
  if (receipt.verdict === "DENY") throw new Error(`${receipt.reason}/${receipt.detail}: ${receipt.advice}`);
  return receipt;
}

async function nextOf<T>(stream: AsyncIterator<T, unknown>): Promise<T> {
  const result = await stream.next();
  if (result.done === true) throw new Error("the stream is over");
  return result.value;
}

async function stagesOf(receipt: Admitted): Promise<string[]> {
  const seen: string[] = [];
  for await (const { stage } of receipt.stages()) seen.push(stage);
  return seen;
}

async function codeOf(work: Promise<unknown>): Promise<string> {
  return work.then(
    () => "resolved",
    (error: unknown) => (error instanceof A2achanError ? error.code : String(error)),
  );
}

describe.each(["json", "msgpack"] as const)("a correction through the SDK over %s", (named) => {
  beforeEach(() => {
    codec = named;
  });

  it("goes from the row in hand to WITNESSED", async () => {
    const { client: worker } = await workerLine();
    const { client: orchestrator } = await orchestratorLine();
    await worker.status({ ...SCOPE, next_action: { summary: "rewrite the parser" } });

    const receipt = allowed(await orchestrator.correct(await viewOf(orchestrator), "Keep the parser."));
    expect(receipt).toMatchObject({ sent: true, stage: "ADMITTED", deliverable: true, replayed: false });
    const stages = stagesOf(receipt);

    const correction = await nextOf<Correction>(worker.corrections());
    expect(correction).toMatchObject({
      message: "Keep the parser.",
      orchestrator_id: "orch",
      attempt: 1,
      redelivered: false,
      stale_context: false,
      written_at_seq: 1,
    });
    const plan = { summary: "keep the parser", reflects: [correction.correction_id] };
    expect(await correction.ack({ next_action: plan })).toMatchObject({
      stage: "WITNESSED",
      seq: 2,
      outcomes: [{ correction_id: receipt.correction_id, stage: "WITNESSED" }],
    });
    expect(await receipt.outcome).toMatchObject({ correction_id: receipt.correction_id, stage: "WITNESSED" });
    expect(await stages).toEqual(["ADMITTED", "DELIVERED", "ACKED", "WITNESSED"]);
    expect((await viewOf(orchestrator)).row).toMatchObject({ seq: 2, next_action: plan });
  });

  it("is refused DIGEST with what moved since the row was read", async () => {
    const { client: worker } = await workerLine();
    const { client: orchestrator } = await orchestratorLine();
    await worker.status({ ...SCOPE, last_action: "read the issue" });
    const held = await viewOf(orchestrator);
    await worker.status({ ...SCOPE, last_action: "wrote a test", next_action: { summary: "run it" } });
    const receipt = await orchestrator.correct(held, "Stay.");
    expect(receipt).toMatchObject({
      verdict: "DENY",
      sent: false,
      reason: "UNWITNESSED",
      detail: "DIGEST",
      moved: [
        { field: "seq", cited: 1, current: 2 },
        { field: "last_action", cited: "read the issue", current: "wrote a test" },
        { field: "next_action", cited: undefined, current: { summary: "run it", reflects: [] } },
      ],
    });
    expect(allowed(await orchestrator.correct(await viewOf(orchestrator), "Stay.")).sent).toBe(true);
  });

  it("is refused at rest with a value for each mistake of its text", async () => {
    const { client: worker } = await workerLine();
    const { client: orchestrator } = await orchestratorLine();
    await worker.status(SCOPE);
    const view = await viewOf(orchestrator);
    expect(await orchestrator.correct(view, " ")).toMatchObject({ reason: "MALFORMED", detail: "TEXT_BLANK" });
    expect(await orchestrator.correct(view, "x".repeat(1_025))).toMatchObject({ reason: "OVERSIZE", bytes: 1_025 });
    expect(await orchestrator.correct(view, "x", { ttl_ms: Number.NaN })).toMatchObject({ detail: "SHAPE" });
  });

  it("is declined, withdrawn, superseded and expired, each told as its outcome", async () => {
    const { client: worker } = await workerLine();
    const { client: orchestrator } = await orchestratorLine();
    await worker.status(SCOPE);
    const view = await viewOf(orchestrator);
    const corrections = worker.corrections();

    const declined = allowed(await orchestrator.correct(view, "one"));
    expect(await (await nextOf(corrections)).decline("not mine")).toMatchObject({ stage: "DECLINED" });
    expect(await declined.outcome).toMatchObject({ stage: "DECLINED" });

    const withdrawn = allowed(await orchestrator.correct(view, "two"));
    expect(await orchestrator.withdraw(withdrawn.correction_id)).toMatchObject({ stage: "WITHDRAWN" });
    expect(await withdrawn.outcome).toMatchObject({ stage: "WITHDRAWN" });

    const superseded = allowed(await orchestrator.correct(view, "three"));
    const expired = allowed(
      await orchestrator.correct(view, "four", { supersedes: superseded.correction_id, ttl_ms: 5_000 }),
    );
    expect(await superseded.outcome).toMatchObject({ stage: "SUPERSEDED" });
    broker.clock.advance(5_000);
    expect(await expired.outcome).toMatchObject({ stage: "EXPIRED" });
    expect(await worker.take()).toEqual([]);
  });

  it("is drained with take, halts first, and planned for with plan", async () => {
    const { client: worker } = await workerLine();
    const { client: orchestrator } = await orchestratorLine();
    await worker.status(SCOPE);
    const view = await viewOf(orchestrator);
    const [normal, halt] = [
      allowed(await orchestrator.correct(view, "normal")),
      allowed(await orchestrator.correct(view, "halt", { priority: "halt" })),
    ];
    // The answer to a request comes behind the pushes that were decided before it.
    await worker.inbox(true);
    const taken = await worker.take();
    expect(taken.map(({ message }) => message)).toEqual(["halt", "normal"]);
    for (const correction of taken) expect(await correction.ack()).toMatchObject({ stage: "ACKED" });
    await worker.plan("stop", { reflects: [halt.correction_id] });
    expect(await halt.outcome).toMatchObject({ stage: "WITNESSED" });
    expect(await normal.outcome).toMatchObject({ stage: "UNREFLECTED" });
  });
});

describe("a text with a lone surrogate", () => {
  it.each(["json", "msgpack"] as const)(
    "is refused as a value over %s, and the client goes on [A2C-FRM-46] [A2C-FRM-32]",
    async (named) => {
      codec = named;
      const { client: worker } = await workerLine();
      const { client: orchestrator } = await orchestratorLine();
      await worker.status({ ...SCOPE, last_action: "\ud83d\ude00" });
      const view = await viewOf(orchestrator);
      const id = allowed(await orchestrator.correct(view, "Stay.")).correction_id;
      const correction = await nextOf(worker.corrections());
      const half = "\ud800";
      const encoding = { reason: "MALFORMED", detail: "TEXT_ENCODING" };
      const refused = (path: string): object => ({
        refused: true,
        ...encoding,
        path,
        advice: `The text holds half of a surrogate pair; send the whole character. (${path})`,
      });
      const { refused: _, ...denied } = refused("message") as { refused: true };
      const verdict = { verdict: "DENY", sent: false, moved: [] };
      const { index: _index, ...unkeyed } = (await orchestrator.correct(view, half)) as Denied;
      expect(unkeyed).toEqual({ ...verdict, ...denied });
      expect(await orchestrator.correct(view, "fine", { key: half })).toMatchObject({
        ...verdict,
        bytes: 4,
        path: "key",
      });
      expect(await orchestrator.get(half)).toEqual(refused("worker_id"));
      expect(await nextOf(orchestrator.workers({ lane: half }))).toEqual(refused("filter"));
      expect(await worker.status({ ...SCOPE, last_action: half })).toEqual(refused("last_action"));
      const next_action = { summary: half, reflects: [id] };
      expect(await correction.ack({ next_action })).toEqual(refused("next_action"));
      expect(await correction.decline(half)).toEqual(refused("reason"));
      expect(await correction.ack()).toMatchObject({ stage: "ACKED" });
      // What was not sent is in no log.
      const logged = (await broker.entries()).filter(({ kind }) => kind === "refused");
      expect(logged).toHaveLength(named === "json" ? 7 : 0);
    },
  );

  it("rejects the connecting over msgpack with bad_frame", async () => {
    const { token } = await broker.running.addToken({ role: "worker", subject: "w-1", issue: "**", lane: "**" });
    const named = openWorker({ url: broker.url, token, workerId: "\ud800", codec: "msgpack" }, stillRuntime());
    expect(await codeOf(named)).toBe("bad_frame");
  });
});

describe("a broken line", () => {
  it("lets a correction whose receipt was lost be resent and replayed, its stages told once and in order", async () => {
    const { client: worker } = await workerLine();
    const line1 = await orchestratorLine();
    await worker.status(SCOPE);
    const view = await viewOf(line1.client);
    const all = line1.client.stages();

    line1.proxy.hold();
    const call = line1.client.correct(view, "Stay.");
    const correction = await nextOf(worker.corrections());
    await correction.ack({ next_action: { summary: "stay", reflects: [correction.correction_id] } });
    await line1.reconnect();

    const receipt = allowed(await call);
    expect(receipt).toMatchObject({ sent: true, replayed: true, stage: "WITNESSED" });
    expect(await stagesOf(receipt)).toEqual(["ADMITTED", "DELIVERED", "ACKED", "WITNESSED"]);
    const seen = [];
    for (let n = 0; n < 4; n += 1) seen.push((await nextOf(all)).stage);
    expect(seen).toEqual(["ADMITTED", "DELIVERED", "ACKED", "WITNESSED"]);
    const admissions = (await broker.entries()).filter(({ kind }) => kind === "admitted");
    expect(admissions).toHaveLength(1);
  });

  it("lets stages that were missed be resumed once and in order", async () => {
    const { client: worker } = await workerLine();
    const line1 = await orchestratorLine();
    await worker.status(SCOPE);
    const receipt = allowed(await line1.client.correct(await viewOf(line1.client), "Stay."));
    const corrections = worker.corrections();
    const correction = await nextOf(corrections);
    line1.proxy.hold();
    await correction.ack();
    await worker.plan("go on");
    await line1.reconnect();
    expect(await stagesOf(receipt)).toEqual(["ADMITTED", "DELIVERED", "ACKED", "UNREFLECTED"]);
  });

  it("lets an ack in doubt be settled, and its plan stand", async () => {
    const line1 = await workerLine();
    const { client: orchestrator } = await orchestratorLine();
    await line1.client.status({ ...SCOPE, next_action: { summary: "rewrite" } });
    const receipt = allowed(await orchestrator.correct(await viewOf(orchestrator), "Stay."));
    const correction = await nextOf(line1.client.corrections());
    line1.proxy.hold();
    const acked = correction.ack({ next_action: { summary: "stay", reflects: [correction.correction_id] } });
    expect(await receipt.outcome).toMatchObject({ stage: "WITNESSED" });
    await line1.reconnect();
    expect(await acked).toMatchObject({ stage: "WITNESSED" });
    await line1.client.inbox(true);
    const view = await viewOf(orchestrator);
    expect(view).toMatchObject({ liveness: "live", row: { seq: 2, next_action: { summary: "stay" } } });
  });

  it("makes the row live again after its lease lapsed, and hands out a redelivery once", async () => {
    const line1 = await workerLine();
    const { client: orchestrator } = await orchestratorLine();
    await line1.client.status(SCOPE);
    const workers = orchestrator.workers({ worker_id: "w-1" });
    expect(await nextOf(workers)).toMatchObject({ liveness: "live", row: { seq: 1, live: true } });
    const first = allowed(await orchestrator.correct(await viewOf(orchestrator), "one"));
    const corrections = line1.client.corrections();
    const correction = await nextOf(corrections);

    line1.proxy.cut();
    await until(workers, ({ liveness }) => liveness === "suspect");
    for (let ms = 0; ms < 60_000; ms += 5_000) {
      broker.clock.advance(5_000);
      await orchestrator.get("w-1");
    }
    await until(workers, ({ liveness }) => liveness === "dead");
    await line1.clock.fire(FIRST_RETRY_MS);
    const again = await until(workers, ({ liveness }) => liveness === "live");
    expect(again.row).toMatchObject({ live: true, seq: 3 });
    expect(allowed(await orchestrator.correct(again, "two"))).toMatchObject({ deliverable: true });
    expect(await nextOf(corrections)).toMatchObject({ message: "two" });
    expect(await correction.ack()).toMatchObject({ stage: "ACKED" });
    expect(await orchestrator.stage(first.correction_id)).toMatchObject({ stage: "ACKED" });
  });

  it("lives through a restart of the broker: the row is published again, nothing is refused, and the outcome still comes", async () => {
    const restart = await restartable();
    const [line1, line2] = [await workerLine(), await orchestratorLine()];
    await line1.client.status({ ...SCOPE, next_action: { summary: "think" } });
    const receipt = allowed(await line2.client.correct(await viewOf(line2.client), "Stay."));
    const correction = await nextOf(line1.client.corrections());

    await restart();
    const acked = correction.ack({ next_action: { summary: "stay", reflects: [correction.correction_id] } });
    await Promise.all([line1.clock.fire(FIRST_RETRY_MS), line2.clock.fire(FIRST_RETRY_MS)]);
    expect(await acked).toMatchObject({ stage: "WITNESSED", seq: 4 });
    expect(await receipt.outcome).toMatchObject({ stage: "WITNESSED" });
    expect(await stagesOf(receipt)).toEqual(["ADMITTED", "DELIVERED", "ACKED", "WITNESSED"]);
    expect((await broker.entries()).filter(({ kind }) => kind === "refused")).toEqual([]);
  });

  it("lives through a restart of the broker that leaves an ack in doubt: no older plan is published over that of the ack", async () => {
    const restart = await restartable();
    const [line1, { client: orchestrator }] = [await workerLine(), await orchestratorLine()];
    await line1.client.status({ ...SCOPE, next_action: { summary: "think" } });
    const receipt = allowed(await orchestrator.correct(await viewOf(orchestrator), "Stay."));
    const correction = await nextOf(line1.client.corrections());
    line1.proxy.hold();
    const acked = correction.ack({ next_action: { summary: "stay", reflects: [correction.correction_id] } });
    expect(await receipt.outcome).toMatchObject({ stage: "WITNESSED" });

    line1.proxy.cut();
    await restart();
    await line1.clock.fire(FIRST_RETRY_MS);
    expect(await acked).toMatchObject({ stage: "WITNESSED" });
    await line1.client.inbox(true);
    const entries = await broker.entries();
    expect(entries.filter(({ kind }) => kind === "planned")).toHaveLength(2);
    expect(entries.filter(({ kind }) => kind === "refused")).toEqual([]);
  });

  it("lets a watch go on with what changed meanwhile", async () => {
    const { client: worker } = await workerLine();
    const line1 = await orchestratorLine();
    await worker.status(SCOPE);
    const workers = line1.client.workers({ lane: "src" });
    expect(await nextOf(workers)).toMatchObject({ row: { seq: 1 } });
    line1.proxy.hold();
    await worker.status({ ...SCOPE, last_action: "two" });
    await line1.reconnect();
    expect(await nextOf(workers)).toMatchObject({ row: { seq: 2, last_action: "two" } });
    await worker.status({ issue: "2162", lane: "docs" });
    expect(await nextOf(workers)).toEqual({ worker_id: "w-1", gone: true });
  });

  it("lets an auditor follow the log without a gap or a repeat", async () => {
    const { client: worker } = await workerLine();
    const { token } = await broker.running.addToken({ role: "auditor", subject: "aud", text: true });
    const line1 = await line((url, runtime) => openAuditor({ url, token }, runtime));
    const entries = line1.client.follow();
    await worker.status({ ...SCOPE, last_action: "one" });
    const seen: unknown[] = [];
    const read = async (summary: string): Promise<void> => {
      for (;;) {
        const entry = await nextOf(entries);
        if (isRefused(entry)) throw new Error(entry.advice);
        expect(entry.index).toBe(seen.length);
        seen.push(entry.line);
        if (entry.texts.some(({ utf8 }) => utf8 === summary)) return;
      }
    };
    await read("one");
    line1.proxy.hold();
    await worker.status({ ...SCOPE, last_action: "two" });
    await line1.reconnect();
    await read("two");
    const page = await line1.client.log({ after: 0 });
    expect(isRefused(page) ? [] : page.entries.slice(0, seen.length)).toEqual(seen);
  });
});

async function until(workers: AsyncIterator<unknown>, wanted: (view: View) => boolean): Promise<View> {
  for (;;) {
    const view = (await nextOf(workers)) as View;
    if (wanted(view)) return view;
  }
}

describe("clients of one broker", () => {
  it("are told apart: a second session of a worker fences the first", async () => {
    const { token } = await broker.running.addToken({ role: "worker", subject: "w-1", issue: "**", lane: "**" });
    const open = (): Promise<Line<Worker>> =>
      line((url, runtime) => openWorker({ url, token, workerId: "w-1" }, runtime));
    const { client: first } = await open();
    const waiting = codeOf(first.corrections().next());
    await first.status(SCOPE);
    const { client: second } = await open();
    expect(await waiting).toBe("fenced");
    expect(await codeOf(first.status(SCOPE))).toBe("fenced");
    expect(await second.status(SCOPE)).toMatchObject({ changed: false });
  });

  it("share a worker: two orchestrators hear of their own corrections only", async () => {
    const { client: worker } = await workerLine();
    const [one, two] = [(await orchestratorLine("one")).client, (await orchestratorLine("two")).client];
    await worker.status(SCOPE);
    const [hears1, hears2] = [one.stages(), two.stages()];
    const first = allowed(await one.correct(await viewOf(one), "from one"));
    const second = allowed(await two.correct(await viewOf(two), "from two"));
    const corrections = worker.corrections();
    for (let n = 0; n < 2; n += 1) await (await nextOf(corrections)).decline("no");
    expect((await Promise.all([first.outcome, second.outcome])).map(({ stage }) => stage)).toEqual([
      "DECLINED",
      "DECLINED",
    ]);
    const heard = async (stream: AsyncIterator<{ correction_id: string }>): Promise<string[]> => {
      const ids: string[] = [];
      for (let n = 0; n < 3; n += 1) ids.push((await nextOf(stream)).correction_id);
      return [...new Set(ids)];
    };
    expect(await heard(hears1)).toEqual([first.correction_id]);
    expect(await heard(hears2)).toEqual([second.correction_id]);
    expect(await one.stage(second.correction_id)).toMatchObject({ refused: true, reason: "DEFAULT_DENY" });
  });

  it("may make more calls at once than the frame budget holds", async () => {
    const { client: worker } = await workerLine();
    const { client: orchestrator, clock } = await orchestratorLine();
    await worker.status(SCOPE);
    const calls = Array.from({ length: 100 }, () => orchestrator.get("w-1"));
    await Promise.all(calls.slice(0, 80));
    for (let n = 80; n < 100; n += 1) {
      for (const each of [broker.clock, clock]) each.advance(25);
      await calls[n];
    }
    expect(await Promise.all(calls)).toHaveLength(100);
  });

  it("fail with unauthenticated, role_not_granted, aborted and bad_frame where they should", async () => {
    const { token } = await broker.running.addToken({ role: "orchestrator", subject: "orch", ...EVERYWHERE });
    const { url } = broker;
    const runtime = stillRuntime();
    const strange = `a2t_abcdefgh_${"A".repeat(43)}`;
    expect(await codeOf(openOrchestrator({ url, token: strange }, runtime))).toBe("unauthenticated");
    expect(await codeOf(openAuditor({ url, token }, runtime))).toBe("role_not_granted");
    expect(await codeOf(openWorker({ url, token, workerId: "w-1" }, runtime))).toBe("role_not_granted");
    const { token: own } = await broker.running.addToken({ role: "worker", subject: "w-1", issue: "**", lane: "**" });
    const short = openWorker({ url, token: own, workerId: "w-1", leaseMs: 1 }, runtime);
    await expect(short).rejects.toMatchObject({
      code: "bad_frame",
      message: "The broker refused hello (MALFORMED/SHAPE at lease_ms); correct that option.",
    });
    const controller = new AbortController();
    const { client } = await line((near, still) =>
      openOrchestrator({ url: near, token, signal: controller.signal }, still),
    );
    const stages = codeOf(client.stages().next());
    controller.abort();
    expect(await stages).toBe("aborted");
    expect(runtime.clock.pending).toBe(0);
  });

  it("end when their token is revoked", async () => {
    const { id, token } = await broker.running.addToken({ role: "orchestrator", subject: "orch", ...EVERYWHERE });
    const { client } = await line((url, runtime) => openOrchestrator({ url, token }, runtime));
    const next = codeOf(client.workers().next());
    await broker.running.broker.revokeToken(id);
    expect(await next).toBe("unauthenticated");
  });

  it("are told that a worker has said bye", async () => {
    const { client: worker } = await workerLine();
    const { client: orchestrator } = await orchestratorLine();
    await worker.status(SCOPE);
    const receipt = allowed(await orchestrator.correct(await viewOf(orchestrator), "Stay."));
    expect(await worker.bye("completed")).toBeUndefined();
    expect(await receipt.outcome).toMatchObject({ stage: "ORPHANED" });
    expect(await viewOf(orchestrator)).toMatchObject({ liveness: "ended", row: { live: false } });
  });
});
