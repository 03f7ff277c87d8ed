import { afterEach, describe, expect, it } from "vitest";
import { MemoryTokenHashes } from "../../src/broker/tokens.js";
import { MemoryStore } from "../../src/index.js";
import { TestBroker } from "../support/broker.js";
import { until } from "../support/local.js";
import { admit, correctionOf, publish } from "../support/scenes.js";
import { Wire, type Frame } from "../support/wire.js";

const TOO_MANY = { code: 4429, reason: "too many connections or frames" };
const FENCED = { code: 4409, reason: "fenced by a newer session" };

let stop: () => Promise<void> = () => Promise.resolve();
afterEach(() => stop());

async function start(options: Parameters<typeof TestBroker.start>[0] = {}): Promise<TestBroker> {
  const broker = await TestBroker.start(options);
  stop = () => broker.stop();
  return broker;
}

const corrections = ({ type }: Frame): boolean => type === "correction";
const idOf = (push: Frame): unknown => (push["correction"] as Frame)["correction_id"];

describe("a second session of a worker", () => {
  it("closes the first with 4409 and takes its deliveries over, the row staying live [A2C-LIVE-13] [A2C-LIVE-14] [A2C-LIFE-13] [A2C-LIFE-15] [A2C-LIFE-16]", async () => {
    const broker = await start();
    const token = await broker.running.addToken({ role: "worker", subject: "w-1", issue: "**", lane: "**" });
    const first = await broker.worker("w-1", {}, token.token);
    const orch = await broker.orchestrator("orch");
    const digest = await publish(first);
    const ids: string[] = [];
    for (const message of ["received", "acked", "pushed only"]) ids.push(await admit(orch, "w-1", digest, message));
    const [received, acked, pushed] = ids as [string, string, string];
    await first.ask({ type: "receive", correction_id: received });
    await first.ask({ type: "ack", correction_id: acked, status_digest: digest });

    const second = await broker.worker("w-1", {}, token.token);
    expect(await first.closed).toEqual(FENCED);
    expect(await second.push(corrections)).toMatchObject({
      correction: { correction_id: received },
      attempt: 2,
      redelivered: true,
      backlog: 1,
    });
    expect(await second.push(corrections)).toMatchObject({
      correction: { correction_id: pushed },
      attempt: 1,
      redelivered: false,
    });
    await second.ask({ type: "receive", correction_id: received });
    await second.ask({ type: "receive", correction_id: received });
    expect(second.pushes).toEqual([]);
    expect(await orch.ask({ type: "get", worker_id: "w-1" })).toMatchObject({
      liveness: "live",
      status_digest: digest,
    });
    // The sender is told of each first receipt only.
    expect(orch.pushes.map(({ stage }) => stage)).toEqual(["DELIVERED", "DELIVERED", "ACKED"]);
    const delivered = (await broker.entries()).filter(({ kind }) => kind === "delivered");
    expect(delivered).toMatchObject([
      { correction_id: received, attempt: 1, session: first.welcome["session"] },
      { correction_id: acked, attempt: 1 },
      { correction_id: received, attempt: 2, redelivered: true, session: second.welcome["session"] },
    ]);
  });

  it("is the one that counts when both come at once, and a chain of them leaves one", async () => {
    const broker = await start();
    const { token } = await broker.running.addToken({ role: "worker", subject: "w-1", issue: "**", lane: "**" });
    const wires = await Promise.all(Array.from({ length: 8 }, () => broker.open(token)));
    const welcomes = wires.map((wire) => wire.ask({ type: "hello", role: "worker", worker_id: "w-1" }));
    await Promise.all(welcomes);
    const orch = await broker.orchestrator("orch");
    // Seven are fenced; which one is last the network decides.
    const codes: number[] = [];
    for (const wire of wires) void wire.closed.then(({ code }) => codes.push(code));
    await until(() => codes.length === 7);
    await orch.barrier();
    expect(codes).toEqual([4409, 4409, 4409, 4409, 4409, 4409, 4409]);
    expect(broker.running.broker.stats().sessions).toBe(2);
  });
});

describe("a broker that starts again on its log", () => {
  it("writes live rows not live, delivers again, and keeps seq and replays [A2C-LIVE-09] [A2C-ROW-08] [A2C-LIFE-13] [A2C-VER-03]", async () => {
    const keys = { idKey: new Uint8Array(32).fill(1), logKey: new Uint8Array(32).fill(2) };
    const kept = { store: new MemoryStore(), ...keys, hashes: new MemoryTokenHashes() };
    const before = await start(kept);
    const [w, o] = [
      await before.running.addToken({ role: "worker", subject: "w-1", issue: "**", lane: "**" }),
      await before.running.addToken({ role: "orchestrator", subject: "orch", worker: "**", issue: "**", lane: "**" }),
    ];
    const worker = await before.worker("w-1", {}, w.token);
    const orch = await Wire.hello(before.url, o.token, { role: "orchestrator" });
    const digest = await publish(worker);
    const frame = correctionOf("w-1", digest, "Keep the names.", { key: "k1" });
    const receipt = await orch.ask(frame);
    await worker.ask({ type: "receive", correction_id: receipt["correction_id"] });
    orch.drop();
    await before.stop();

    const after = await start({ ...kept, clock: before.clock });
    const sender = await Wire.hello(after.url, o.token, { role: "orchestrator" });
    expect(await sender.ask({ type: "get", worker_id: "w-1" })).toMatchObject({
      liveness: "dead",
      row: { live: false, seq: 2 },
      pending: 1,
    });
    expect(await sender.ask(frame)).toMatchObject({
      verdict: "ALLOW",
      replayed: true,
      stage: "DELIVERED",
      correction_id: receipt["correction_id"],
      deliverable: false,
    });
    const again = await after.worker("w-1", {}, w.token);
    await publish(again);
    const push = await again.push(corrections);
    expect([idOf(push), push["attempt"], push["redelivered"]]).toEqual([receipt["correction_id"], 2, true]);
    sender.drop();
    const started = (await after.entries()).filter(({ kind }) => kind === "broker_started");
    expect(started).toHaveLength(2);
    expect(started[1]).toMatchObject({ rules: 1, text_policy: 1, limits: { open_per_worker: 8 } });
  });
});

describe("the budgets of connections and frames", () => {
  it("close a connection that sends more than 100 frames at once with 4429 [A2C-FRM-39]", async () => {
    const broker = await start();
    const orch = await broker.orchestrator("orch");
    const other = await broker.orchestrator("other");
    // hello was the first of the burst.
    for (let count = 1; count < 100; count += 1) void orch.ask({ type: "ping" });
    await other.barrier();
    void orch.ask({ type: "ping" });
    expect(await orch.closed).toEqual(TOO_MANY);
    await other.barrier();
  });

  it("fill up again with 50 frames a second [A2C-FRM-39]", async () => {
    const broker = await start();
    const orch = await broker.orchestrator("orch");
    for (let count = 1; count < 100; count += 1) await orch.barrier();
    for (let second = 0; second < 10; second += 1) {
      broker.clock.advance(1_000);
      for (let count = 0; count < 50; count += 1) await orch.barrier();
    }
    broker.clock.advance(19);
    void orch.ask({ type: "ping" });
    expect(await orch.closed).toEqual(TOO_MANY);
  });

  it("close a connection beyond the limit of connections with 4429 [A2C-LIM-08]", async () => {
    const broker = await start({ limits: { connections: 3 } });
    const worker = await broker.worker("w-1");
    const [one, two] = [await broker.orchestrator("one"), await broker.orchestrator("two")];
    const { token } = await broker.running.addToken({ role: "auditor", subject: "auditor" });
    expect(await (await broker.open(token)).closed).toEqual(TOO_MANY);
    await two.close();
    await until(() => broker.running.broker.stats().connections === 2);
    await one.barrier();
    const next = await broker.open(token);
    expect(await next.ask({ type: "hello", role: "auditor" })).toMatchObject({ type: "welcome" });
    await worker.barrier();
  });

  it("close an unknown connection beyond 32 of them with 4429, and none that shows a token [A2C-LIM-08]", async () => {
    const broker = await start();
    const strangers = [];
    for (let count = 0; count < 32; count += 1) strangers.push(await broker.open());
    expect(await (await broker.open()).closed).toEqual(TOO_MANY);
    const worker = await broker.worker("w-1");
    await worker.barrier();
    // One of them makes itself known, and there is room for one more.
    const { token } = await broker.running.addToken({ role: "auditor", subject: "auditor" });
    await strangers[0]?.ask({ type: "hello", role: "auditor", token });
    const next = await broker.open();
    expect(await next.ask({ type: "hello", role: "auditor", token })).toMatchObject({ type: "welcome" });
  });
});
