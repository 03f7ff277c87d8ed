import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Correction } from "../../../src/client/correction.js";
import { A2achanError } from "../../../src/client/errors.js";
import { openWorker, type Worker, type WorkerOptions } from "../../../src/client/worker.js";
import { statusDigest } from "../../../src/protocol/index.js";
import { corr, correctionFrame, rowOf, rowReply, stageFrame } from "../../support/client-frames.js";
import { FIRST_RETRY_MS, ScriptedBroker, stillRuntime, type Script } from "../../support/scripted-broker.js";

let broker: ScriptedBroker;
let runtime: ReturnType<typeof stillRuntime>;
let worker: Worker;
let script: Script;

const SCOPE = { issue: "2162", lane: "src" };

beforeEach(async () => {
  broker = await ScriptedBroker.start();
  runtime = stillRuntime();
  await connect();
});

afterEach(async () => {
  await worker.close();
  await broker.stop();
});

async function connect(options: Partial<WorkerOptions> = {}): Promise<Record<string, unknown>> {
  const opening = openWorker({ url: broker.url, token: "t", workerId: "w-1", ...options }, runtime);
  script = await broker.accept();
  const hello = await script.welcome("worker");
  worker = await opening;
  return hello;
}

/** Breaks the connection and lets the client make the next one; `script` is then that one's. */
async function reconnect(retryMs = FIRST_RETRY_MS): Promise<Record<string, unknown>> {
  script.drop();
  await runtime.clock.fire(retryMs);
  script = await broker.accept();
  return script.welcome("worker");
}

/** Answers the client's next frame, which must be of this type, and resolves with it. */
async function answer(
  type: string,
  reply: (frame: Record<string, unknown>) => object,
): Promise<Record<string, unknown>> {
  const frame = await script.next();
  expect(frame.type).toBe(type);
  script.send({ id: frame["id"], ...reply(frame) });
  return frame;
}

async function published(fields: Record<string, unknown> = {}, seq = 1): Promise<void> {
  const call = worker.status({ ...SCOPE, ...fields });
  await answer("status", (frame) => rowReply(frame, seq));
  await call;
}

/** Takes the next correction, whose receipt is answered DELIVERED. */
async function taken(stream: AsyncIterator<Correction>, digit: number): Promise<Correction> {
  const next = stream.next();
  await answer("receive", () => stageFrame(digit, "DELIVERED", 11));
  const { value } = (await next) as IteratorResult<Correction, undefined>;
  if (value === undefined) throw new Error("the stream is over");
  return value;
}

/** Takes the first correction while its own plan is to think. */
async function takenWhileThinking(): Promise<Correction> {
  await published({ next_action: { summary: "think" } });
  script.send(correctionFrame(1));
  return taken(worker.corrections(), 1);
}

/** An ack of the first correction with a plan. */
const OBEY = { next_action: { summary: "obey", reflects: [corr(1)] } };

async function codeOf(work: Promise<unknown>): Promise<string> {
  return work.then(
    () => "resolved",
    (error: unknown) => (error instanceof A2achanError ? error.code : String(error)),
  );
}

describe("connectWorker", () => {
  it("says which worker it is, its lease and its inbox", async () => {
    await worker.close();
    expect(await connect({ leaseMs: 90_000, inbox: false })).toEqual({
      type: "hello",
      id: "hello",
      role: "worker",
      worker_id: "w-1",
      lease_ms: 90_000,
      inbox: false,
      client: "a2achan-sdk",
    });
  });

  it("says at a reconnect what the inbox is by then", async () => {
    const call = worker.inbox(false);
    expect(await answer("inbox", () => ({ type: "ok" }))).toEqual({ type: "inbox", id: "r1", open: false });
    expect(await call).toBeUndefined();
    expect(await reconnect()).toMatchObject({ inbox: false });
  });

  it("is fenced by a newer session", async () => {
    const next = codeOf(worker.corrections().next());
    script.close(4409, "fenced by a newer session");
    expect(await next).toBe("fenced");
    expect(await codeOf(worker.status(SCOPE))).toBe("fenced");
  });
});

describe("status and plan", () => {
  it("publishes a row, a number as issue included", async () => {
    const call = worker.status({ issue: 2162, lane: "src", last_action: "read the issue" });
    const frame = await answer("status", (status) => rowReply(status, 1));
    expect(frame).toEqual({ type: "status", id: "r1", issue: "2162", lane: "src", last_action: "read the issue" });
    expect(await call).toEqual({
      row: rowOf({ last_action: "read the issue" }),
      status_digest: statusDigest(rowOf({ last_action: "read the issue" })),
      changed: true,
      pending: 0,
      outcomes: [],
    });
  });

  it("plans with the fields that were published last", async () => {
    await published({ task_id: "t-1", last_action: "read", next_action: { summary: "think", via: "plan" } });
    const call = worker.plan("write the test", { reflects: [corr(1)], via: "declared" });
    const frame = await answer("status", (status) => rowReply(status, 2));
    await call;
    expect(frame).toEqual({
      type: "status",
      id: "r2",
      ...SCOPE,
      task_id: "t-1",
      last_action: "read",
      next_action: { summary: "write the test", reflects: [corr(1)], via: "declared" },
    });
  });

  it("refuses a plan before any status", async () => {
    expect(await codeOf(worker.plan("write the test"))).toBe("no_status");
  });

  it("sends one status at a time, in the order of the calls", async () => {
    const calls = [worker.status({ ...SCOPE, last_action: "one" }), worker.plan("two"), worker.plan("three")];
    const first = await script.next();
    await script.ping();
    expect(script.unread).toEqual([]);
    script.send(rowReply(first, 1));
    const second = await answer("status", (frame) => rowReply(frame, 2));
    expect(second).toMatchObject({ last_action: "one", next_action: { summary: "two" } });
    await answer("status", (frame) => rowReply(frame, 3));
    expect((await Promise.all(calls)).map((result) => "row" in result && result.row.seq)).toEqual([1, 2, 3]);
  });

  it("does not plan on a status that was refused", async () => {
    await published({ last_action: "one" });
    const refused = worker.status({ ...SCOPE, lane: "elsewhere" });
    await answer("status", () => ({ type: "refusal", reason: "DEFAULT_DENY", detail: "NO_GRANT" }));
    expect(await refused).toMatchObject({ refused: true, reason: "DEFAULT_DENY" });
    const call = worker.plan("two");
    expect(await answer("status", (frame) => rowReply(frame, 2))).toMatchObject({ lane: "src", last_action: "one" });
    await call;
  });

  it("says what its caller said at the time of the call", async () => {
    const first = worker.status(SCOPE);
    const reflects = [corr(1)];
    const fields = { ...SCOPE, last_action: "two", next_action: { summary: "think", reflects } };
    const second = worker.status(fields);
    fields.last_action = "changed";
    reflects.push(corr(2));
    await answer("status", (frame) => rowReply(frame, 1));
    const frame = await answer("status", (status) => rowReply(status, 2));
    expect(frame).toMatchObject({ last_action: "two", next_action: { reflects: [corr(1)] } });
    await Promise.all([first, second]);
  });

  it("sends nothing under a signal that has fired", async () => {
    expect(await codeOf(worker.status(SCOPE, { signal: AbortSignal.abort() }))).toBe("aborted");
    await script.ping();
    expect(script.unread).toEqual([]);
  });

  it("never sends a status that was given up before its turn", async () => {
    const first = worker.status({ ...SCOPE, last_action: "one" });
    const controller = new AbortController();
    const second = codeOf(worker.status({ ...SCOPE, last_action: "two" }, { signal: controller.signal }));
    const third = worker.status({ ...SCOPE, last_action: "three" });
    controller.abort();
    expect(await second).toBe("aborted");
    await answer("status", (frame) => rowReply(frame, 1));
    expect(await answer("status", (frame) => rowReply(frame, 2))).toMatchObject({ last_action: "three" });
    await Promise.all([first, third]);
  });
});

describe("a reconnect", () => {
  it("publishes the last status again, without expect_seq and without via", async () => {
    await published({ next_action: { summary: "think", reflects: [corr(1)], via: "plan" } });
    await reconnect();
    const again = await answer("status", (frame) => rowReply(frame, 3));
    expect(again).toEqual({
      type: "status",
      id: "r2",
      ...SCOPE,
      next_action: { summary: "think", reflects: [corr(1)] },
    });
    const call = worker.status({ ...SCOPE, last_action: "two" });
    await answer("status", (frame) => rowReply(frame, 4));
    expect(await call).toMatchObject({ row: { seq: 4 } });
  });

  it("publishes what was said meanwhile instead of the last status", async () => {
    await published({ last_action: "one" });
    script.drop();
    await runtime.clock.armed(FIRST_RETRY_MS);
    const call = worker.status({ ...SCOPE, last_action: "two" });
    runtime.clock.advance(FIRST_RETRY_MS);
    script = await broker.accept();
    await script.welcome("worker");
    expect(await answer("status", (frame) => rowReply(frame, 3))).toMatchObject({ last_action: "two" });
    await call;
    await script.ping();
    expect(script.unread).toEqual([]);
  });

  it("publishes the last status after one that was said meanwhile and refused", async () => {
    await published({ last_action: "one" });
    script.drop();
    await runtime.clock.armed(FIRST_RETRY_MS);
    const call = worker.status({ ...SCOPE, lane: "elsewhere" });
    runtime.clock.advance(FIRST_RETRY_MS);
    script = await broker.accept();
    await script.welcome("worker");
    await answer("status", () => ({ type: "refusal", reason: "DEFAULT_DENY", detail: "NO_GRANT" }));
    expect(await call).toMatchObject({ refused: true });
    expect(await answer("status", (frame) => rowReply(frame, 3))).toMatchObject({ lane: "src", last_action: "one" });
  });

  it("publishes nothing when nothing was published", async () => {
    await reconnect();
    await script.ping();
    expect(script.unread).toEqual([]);
  });

  it("settles a status that was in doubt and does not publish an older one over it", async () => {
    await published({ last_action: "one" });
    const call = worker.status({ ...SCOPE, last_action: "two" });
    const sent = await script.next();
    await reconnect();
    const resent = await answer("status", (frame) => rowReply(frame, 2, { changed: false }));
    expect(resent).toEqual(sent);
    expect(await call).toMatchObject({ changed: false });
    await script.ping();
    expect(script.unread).toEqual([]);
    await reconnect(250);
    expect(await answer("status", (frame) => rowReply(frame, 2))).toMatchObject({ last_action: "two" });
  });

  it("settles a status in doubt even after its caller has given up", async () => {
    await published({ last_action: "one" });
    const controller = new AbortController();
    const call = codeOf(worker.status({ ...SCOPE, last_action: "two" }, { signal: controller.signal }));
    const sent = await script.next();
    controller.abort();
    expect(await call).toBe("aborted");
    await reconnect();
    expect(await script.next()).toEqual(sent);
  });

  it("takes the plan of an ack that was in doubt into what it publishes again [A2C-LIVE-21]", async () => {
    const correction = await takenWhileThinking();
    const call = correction.ack(OBEY);
    const { id: _id, ...sent } = await script.next();
    await reconnect();
    expect(await answer("receive", () => stageFrame(1, "WITNESSED", 14))).toMatchObject({ correction_id: corr(1) });
    expect(await answer("ack", () => stageFrame(1, "WITNESSED", 14))).toMatchObject(sent);
    expect(await call).toMatchObject({ stage: "WITNESSED", index: 14 });
    const again = await answer("status", (frame) => rowReply(frame, 2, { changed: false }));
    expect(again).toMatchObject({ next_action: { summary: "obey", reflects: [corr(1)] } });
    await script.ping();
    expect(script.unread).toEqual([]);
  });

  it("publishes the row before it repeats an ack with a plan that was in doubt and not taken [A2C-LIVE-21]", async () => {
    const correction = await takenWhileThinking();
    const call = correction.ack(OBEY);
    await script.next();
    await reconnect();
    await answer("receive", () => stageFrame(1, "DELIVERED", 11));
    expect(await answer("status", (frame) => rowReply(frame, 3))).toMatchObject({ next_action: { summary: "think" } });
    await answer("ack", () => stageFrame(1, "WITNESSED", 15, { seq: 4 }));
    expect(await call).toMatchObject({ stage: "WITNESSED", index: 15, seq: 4 });
    await script.ping();
    expect(script.unread).toEqual([]);
  });

  it("asks anew what became of an ack with a plan whose connection breaks again", async () => {
    const correction = await takenWhileThinking();
    const call = correction.ack(OBEY);
    await script.next();
    await reconnect();
    await answer("receive", () => stageFrame(1, "DELIVERED", 11));
    await answer("status", (frame) => rowReply(frame, 3));
    expect(await script.next()).toMatchObject({ type: "ack" });
    await reconnect(250);
    await answer("receive", () => stageFrame(1, "WITNESSED", 15));
    await answer("ack", () => stageFrame(1, "WITNESSED", 15));
    expect(await call).toMatchObject({ stage: "WITNESSED", index: 15 });
  });

  it("publishes the row once, and first, when an ack with a plan is made while there is no connection [A2C-LIVE-21]", async () => {
    const correction = await takenWhileThinking();
    script.drop();
    await runtime.clock.armed(FIRST_RETRY_MS);
    const call = correction.ack(OBEY);
    runtime.clock.advance(FIRST_RETRY_MS);
    script = await broker.accept();
    await script.welcome("worker");
    expect(await answer("status", (frame) => rowReply(frame, 3))).toMatchObject({ next_action: { summary: "think" } });
    await answer("ack", () => stageFrame(1, "WITNESSED", 15, { seq: 4 }));
    expect(await call).toMatchObject({ stage: "WITNESSED", seq: 4 });
    await script.ping();
    expect(script.unread).toEqual([]);
  });

  it("sends an ack without a plan that was in doubt again, byte for byte", async () => {
    await published();
    script.send(correctionFrame(1));
    const correction = await taken(worker.corrections(), 1);
    const call = correction.ack();
    const sent = await script.next();
    await reconnect();
    expect(await answer("ack", () => stageFrame(1, "ACKED", 14))).toEqual(sent);
    expect(await call).toMatchObject({ stage: "ACKED" });
  });

  it("hands on the refusal of the receipt by which it asks what became of an ack", async () => {
    const correction = await takenWhileThinking();
    const call = correction.ack(OBEY);
    await script.next();
    await reconnect();
    await answer("receive", () => ({ type: "refusal", reason: "TRUST_VIOLATION", detail: "CORRECTION" }));
    expect(await call).toMatchObject({ refused: true, detail: "CORRECTION" });
  });

  it("publishes again and repeats the ack when its plan needs a live row", async () => {
    const correction = await takenWhileThinking();
    const call = correction.ack(OBEY);
    await answer("ack", () => ({ type: "refusal", reason: "UNWITNESSED", detail: "NOT_LIVE" }));
    expect(await answer("status", (frame) => rowReply(frame, 3))).toMatchObject({ next_action: { summary: "think" } });
    await answer("ack", () => stageFrame(1, "WITNESSED", 15, { seq: 4 }));
    expect(await call).toMatchObject({ stage: "WITNESSED", index: 15, seq: 4 });
    await script.ping();
    expect(script.unread).toEqual([]);
  });

  it("publishes again once more when the row is published too often", async () => {
    await published();
    await reconnect();
    await answer("status", () => ({ type: "refusal", reason: "RATE_LIMITED", detail: "RATE" }));
    await runtime.clock.fire(1_000);
    expect(await answer("status", (frame) => rowReply(frame, 2))).toMatchObject({ type: "status" });
  });

  it("never publishes again after bye", async () => {
    await published();
    const call = worker.bye("completed");
    expect(await script.next()).toEqual({ type: "bye", id: "r2", outcome: "completed" });
    await reconnect();
    await answer("bye", () => ({ type: "ok" }));
    expect(await call).toBeUndefined();
    expect(await script.closed).toBe(1000);
    expect(script.unread).toEqual([]);
    expect(await worker.corrections().next()).toEqual({ done: true, value: undefined });
    expect(await codeOf(worker.status(SCOPE))).toBe("closed");
  });
});

describe("corrections", () => {
  it("sends receive when the application takes one, and yields it on DELIVERED [A2C-LIFE-11]", async () => {
    script.send(
      correctionFrame(1, { task_id: "t-1" }, { attempt: 2, redelivered: true, stale_context: true, backlog: 3 }),
    );
    await script.ping();
    expect(script.unread).toEqual([]);
    const next = worker.corrections().next();
    const receive = await answer("receive", () => stageFrame(1, "DELIVERED", 11));
    expect(receive).toEqual({ type: "receive", id: "r1", correction_id: corr(1) });
    expect((await next).value).toMatchObject({
      correction_id: corr(1),
      message: "message 1",
      task_id: "t-1",
      attempt: 2,
      redelivered: true,
      stale_context: true,
      written_at_seq: 1,
      age_ms: 5,
      backlog: 0,
    });
  });

  it("counts what waits behind each when it is taken, not when it was pushed [A2C-LIFE-56]", async () => {
    for (const n of [1, 2, 3]) script.send(correctionFrame(n, {}, { backlog: 0 }));
    await script.ping();
    const next = worker.corrections().next();
    await answer("receive", () => stageFrame(1, "DELIVERED", 11));
    expect((await next).value).toMatchObject({ correction_id: corr(1), backlog: 2 });
    const rest = worker.take();
    await answer("receive", () => stageFrame(2, "DELIVERED", 12));
    await answer("receive", () => stageFrame(3, "DELIVERED", 13));
    expect((await rest).map(({ backlog }) => backlog)).toEqual([1, 0]);
  });

  it.each(["EXPIRED", "WITHDRAWN", "ACKED"])("passes over one whose receipt is answered %s", async (stage) => {
    script.send(correctionFrame(1));
    script.send(correctionFrame(2));
    const next = worker.corrections().next();
    await answer("receive", () => stageFrame(1, stage, 11));
    await answer("receive", () => stageFrame(2, "DELIVERED", 12));
    expect((await next).value).toMatchObject({ correction_id: corr(2) });
  });

  it("passes over one whose receipt is refused", async () => {
    script.send(correctionFrame(1));
    script.send(correctionFrame(2));
    const next = worker.corrections().next();
    await answer("receive", () => ({ type: "refusal", reason: "TRUST_VIOLATION", detail: "CORRECTION" }));
    await answer("receive", () => stageFrame(2, "DELIVERED", 12));
    expect((await next).value).toMatchObject({ correction_id: corr(2) });
  });

  it("drops one that a stage push ended before it was taken", async () => {
    script.send(correctionFrame(1));
    script.send(correctionFrame(2));
    script.send(stageFrame(1, "WITHDRAWN", 12));
    await script.ping();
    expect(await taken(worker.corrections(), 2)).toMatchObject({ correction_id: corr(2) });
  });

  it("drops one that is ended in the same breath as its receipt", async () => {
    script.send(correctionFrame(1));
    script.send(correctionFrame(2));
    const next = worker.corrections().next();
    const { id } = await script.next();
    script.sendAtOnce(stageFrame(1, "DELIVERED", 11, { id }), stageFrame(1, "EXPIRED", 12));
    await answer("receive", () => stageFrame(2, "DELIVERED", 13));
    expect((await next).value).toMatchObject({ correction_id: corr(2) });
  });

  it("yields halts first", async () => {
    script.send(correctionFrame(1));
    script.send(correctionFrame(2));
    script.send(correctionFrame(3, { priority: "halt" }));
    script.send(correctionFrame(4, { priority: "halt" }));
    await script.ping();
    const stream = worker.corrections();
    const order = [];
    for (const digit of [3, 4, 1, 2]) order.push((await taken(stream, digit)).correction_id);
    expect(order).toEqual([corr(3), corr(4), corr(1), corr(2)]);
  });

  it("yields each id once, however often it is pushed [A2C-LIFE-54]", async () => {
    const stream = worker.corrections();
    script.send(correctionFrame(1));
    script.send(correctionFrame(1));
    await taken(stream, 1);
    await reconnect();
    script.send(correctionFrame(1, {}, { attempt: 2, redelivered: true }));
    script.send(correctionFrame(2));
    expect(await taken(stream, 2)).toMatchObject({ correction_id: corr(2) });
  });

  it("forgets what was pushed to an earlier session and not taken", async () => {
    script.send(correctionFrame(1));
    await script.ping();
    await reconnect();
    script.send(correctionFrame(2));
    expect(await taken(worker.corrections(), 2)).toMatchObject({ correction_id: corr(2) });
  });

  it("sends a receipt in doubt again and yields the newer push", async () => {
    script.send(correctionFrame(1));
    const next = worker.corrections().next();
    const sent = await script.next();
    await reconnect();
    script.send(correctionFrame(1, {}, { attempt: 2, redelivered: true }));
    expect(await answer("receive", () => stageFrame(1, "DELIVERED", 11))).toEqual(sent);
    expect((await next).value).toMatchObject({ correction_id: corr(1), attempt: 2, redelivered: true });
  });

  it("yields no push of an earlier session whose receipt was in doubt, but the one of this session [A2C-LIFE-54]", async () => {
    script.send(correctionFrame(1));
    const next = worker.corrections().next();
    await script.next();
    await reconnect();
    // Another process of the worker was handed it meanwhile; the row is not live yet, so nothing is pushed.
    await answer("receive", () => stageFrame(1, "DELIVERED", 11));
    await script.ping();
    script.send(correctionFrame(1, {}, { attempt: 3, redelivered: true }));
    await answer("receive", () => stageFrame(1, "DELIVERED", 11));
    expect((await next).value).toMatchObject({ correction_id: corr(1), attempt: 3, redelivered: true });
  });

  it("keeps one whose taker gave up while its receipt was on its way", async () => {
    script.send(correctionFrame(1));
    const controller = new AbortController();
    const next = codeOf(worker.corrections({ signal: controller.signal }).next());
    const { id } = await script.next();
    controller.abort();
    expect(await next).toBe("aborted");
    script.send(stageFrame(1, "DELIVERED", 11, { id }));
    await script.ping();
    expect((await worker.corrections().next()).value).toMatchObject({ correction_id: corr(1) });
    expect(script.unread).toEqual([]);
  });

  it("ends when its consumer leaves it while it waits", async () => {
    const stream = worker.corrections();
    const next = stream.next();
    await stream.return?.();
    expect(await next).toEqual({ done: true, value: undefined });
  });

  it("ends quietly when the worker is closed", async () => {
    const next = worker.corrections().next();
    await worker.close();
    expect(await next).toEqual({ done: true, value: undefined });
  });

  it("ends quietly when the worker is closed while a receipt is on its way", async () => {
    script.send(correctionFrame(1));
    const next = worker.corrections().next();
    await script.next();
    await worker.close();
    expect(await next).toEqual({ done: true, value: undefined });
  });
});

describe("take", () => {
  it("drains what waits, halts first, and does not wait for more", async () => {
    expect(await worker.take()).toEqual([]);
    script.send(correctionFrame(1));
    script.send(correctionFrame(2));
    script.send(correctionFrame(3, { priority: "halt" }));
    await script.ping();
    const taking = worker.take();
    await answer("receive", () => stageFrame(3, "DELIVERED", 11));
    await answer("receive", () => stageFrame(1, "EXPIRED", 12));
    await answer("receive", () => stageFrame(2, "DELIVERED", 13));
    expect((await taking).map(({ correction_id }) => correction_id)).toEqual([corr(3), corr(2)]);
    expect(await worker.take()).toEqual([]);
  });

  it("keeps the order of what it gave up", async () => {
    for (const digit of [1, 2]) script.send(correctionFrame(digit));
    await script.ping();
    const controller = new AbortController();
    const taking = codeOf(worker.take({ signal: controller.signal }));
    const ids = [(await script.next())["id"], (await script.next())["id"]];
    controller.abort();
    expect(await taking).toBe("aborted");
    for (const digit of [1, 2]) script.send(stageFrame(digit, "DELIVERED", 10 + digit, { id: ids[digit - 1] }));
    await script.ping();
    expect((await worker.take()).map(({ correction_id }) => correction_id)).toEqual([corr(1), corr(2)]);
  });
});

describe("a correction", () => {
  it("is acked with the digest that it cited, and with a plan", async () => {
    script.send(correctionFrame(1));
    const correction = await taken(worker.corrections(), 1);
    const call = correction.ack(OBEY);
    const outcomes = [{ correction_id: corr(1), stage: "WITNESSED", index: 13 }];
    const frame = await answer("ack", () => stageFrame(1, "WITNESSED", 13, { seq: 2, outcomes }));
    expect(frame).toEqual({
      type: "ack",
      id: "r2",
      correction_id: corr(1),
      status_digest: statusDigest(rowOf()),
      next_action: { summary: "obey", reflects: [corr(1)] },
    });
    expect(await call).toEqual({
      correction_id: corr(1),
      worker_id: "w-1",
      stage: "WITNESSED",
      index: 13,
      at: 1_013,
      seq: 2,
      outcomes,
    });
  });

  it("is acked without a plan and planned for later", async () => {
    await published();
    script.send(correctionFrame(1));
    const correction = await taken(worker.corrections(), 1);
    const calls = [correction.ack(), worker.plan("obey", { reflects: [corr(1)] })];
    expect(await answer("ack", () => stageFrame(1, "ACKED", 12))).not.toHaveProperty("next_action");
    await answer("status", (frame) => rowReply(frame, 2));
    await Promise.all(calls);
    expect(await calls[0]).toMatchObject({ stage: "ACKED" });
  });

  it("leaves the row's plan alone when it is acked a second time", async () => {
    const correction = await takenWhileThinking();
    const first = correction.ack();
    await answer("ack", () => stageFrame(1, "ACKED", 12));
    await first;
    const second = correction.ack({ next_action: { summary: "inert", reflects: [corr(1)] } });
    await answer("ack", () => stageFrame(1, "ACKED", 12));
    await second;
    await reconnect();
    expect(await script.next()).toMatchObject({ type: "status", next_action: { summary: "think" } });
  });

  it("is declined with a reason", async () => {
    script.send(correctionFrame(1));
    const correction = await taken(worker.corrections(), 1);
    const call = correction.decline("not mine");
    expect(await answer("decline", () => stageFrame(1, "DECLINED", 12))).toEqual({
      type: "decline",
      id: "r2",
      correction_id: corr(1),
      status_digest: statusDigest(rowOf()),
      reason: "not mine",
    });
    expect(await call).toMatchObject({ stage: "DECLINED" });
  });
});
