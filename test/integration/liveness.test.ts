import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { TestBroker } from "../support/broker.js";
import { admit, correctionOf, publish, statusOf } from "../support/scenes.js";
import type { Frame, Wire } from "../support/wire.js";

let broker: TestBroker;
let watcher: Wire;

beforeEach(async () => {
  broker = await TestBroker.start();
  watcher = await broker.orchestrator("orch");
  await watcher.ask({ type: "watch" });
});
afterEach(() => broker.stop());

const liveness = (state: string) => (frame: Frame) => frame.type === "row" && frame["liveness"] === state;
const viewOf = async (): Promise<Frame> => watcher.ask({ type: "get", worker_id: "w-1" });

async function kindsOf(workerId: string): Promise<unknown[]> {
  const entries = await broker.entries();
  return entries.filter((entry) => entry["worker_id"] === workerId).map(({ kind }) => kind);
}

describe("a worker", () => {
  it("is not live by its hello, and live from its first status on [A2C-LIVE-10] [A2C-LIVE-02] [A2C-ROW-05]", async () => {
    const worker = await broker.worker("w-1", { lease_ms: 45_000 });
    expect(await viewOf()).toEqual({ type: "row", id: expect.any(String) });
    const digest = await publish(worker);
    expect(await watcher.push(liveness("live"))).toMatchObject({ status_digest: digest, lease_ms: 45_000 });
    const [opened] = (await broker.entries()).filter(({ kind }) => kind === "session_opened");
    expect(opened).toMatchObject({ worker_id: "w-1", session: worker.welcome["session"], lease_ms: 45_000 });
  });

  it("whose connection is lost is suspect, row and digest as they were, and corrections wait [A2C-LIVE-04] [A2C-LIVE-05]", async () => {
    const worker = await broker.worker("w-1");
    const digest = await publish(worker);
    worker.drop();
    const push = await watcher.push(liveness("suspect"));
    expect(push).toMatchObject({ status_digest: digest, row: { live: true, seq: 1 }, inbox: "closed" });
    const receipt = await watcher.ask(correctionOf("w-1", digest, "Wait for it."));
    expect(receipt).toMatchObject({ verdict: "ALLOW", deliverable: false });
    const again = await broker.worker("w-1");
    expect(await again.push(({ type }) => type === "correction")).toMatchObject({ attempt: 1, redelivered: false });
    expect(await watcher.push((frame) => liveness("live")(frame) && frame["pending"] === 1)).toMatchObject({
      status_digest: digest,
    });
  });

  it("whose lease lapses is dead, and its corrections wait [A2C-LIVE-07] [A2C-LIVE-08] [A2C-LIVE-11] [A2C-LIVE-12]", async () => {
    const worker = await broker.worker("w-1");
    const digest = await publish(worker);
    const [one, two, three] = [
      await admit(watcher, "w-1", digest, "one"),
      await admit(watcher, "w-1", digest, "two"),
      await admit(watcher, "w-1", digest, "three"),
    ];
    worker.drop();
    await watcher.push(liveness("suspect"));
    await broker.advance(60_000, watcher);
    expect(await watcher.push(liveness("dead"))).toMatchObject({ row: { live: false, seq: 2 }, pending: 3 });
    expect(await watcher.ask(correctionOf("w-1", digest, "four"))).toMatchObject({ detail: "NOT_LIVE" });

    const again = await broker.worker("w-1");
    const of = (correction_id: string): Record<string, unknown> => ({ correction_id, status_digest: digest });
    expect(await again.ask({ type: "receive", correction_id: one })).toMatchObject({ stage: "DELIVERED" });
    expect(await again.ask({ type: "ack", ...of(one), next_action: { summary: "go on" } })).toMatchObject({
      type: "refusal",
      reason: "UNWITNESSED",
      detail: "NOT_LIVE",
    });
    expect(await again.ask({ type: "ack", ...of(one) })).toMatchObject({ stage: "ACKED" });
    expect(await again.ask({ type: "decline", ...of(two), reason: "Not mine." })).toMatchObject({ stage: "DECLINED" });
    expect(again.pushes).toEqual([]);
    await publish(again);
    expect(await again.push(({ type }) => type === "correction")).toMatchObject({
      correction: { correction_id: three },
      stale_context: true,
    });
    expect(await viewOf()).toMatchObject({ liveness: "live", row: { seq: 3 } });
  });

  it("that answers pings for ten minutes stays live without a frame [A2C-LIVE-03]", async () => {
    const worker = await broker.worker("w-1", { lease_ms: 45_000 });
    await publish(worker);
    // One ping falls into each interval; its pong is on the wire before the watcher's round trip begins.
    for (let count = 1; count <= 40; count += 1) {
      broker.clock.advance(15_000);
      await worker.pinged(count);
      await watcher.barrier();
    }
    expect(await viewOf()).toMatchObject({ liveness: "live", row: { live: true, seq: 1 } });
  });

  it("loses its lease by no jump of the wall clock [A2C-LIVE-16] [A2C-LIVE-15]", async () => {
    const worker = await broker.worker("w-1", { lease_ms: 45_000 });
    await publish(worker);
    worker.pause();
    worker.drop();
    await watcher.push(liveness("suspect"));
    broker.clock.jump(86_400_000);
    await watcher.barrier();
    broker.clock.jump(-2 * 86_400_000);
    await broker.advance(44_999, watcher);
    expect(await viewOf()).toMatchObject({ liveness: "suspect" });
    await broker.advance(1, watcher);
    expect(await viewOf()).toMatchObject({ liveness: "dead" });
    const times = (await broker.entries()).map(({ at }) => at as number);
    expect(times).toEqual(times.toSorted((a, b) => a - b));
  });

  it("that answers no ping is lost within two of them [A2C-FRM-40]", async () => {
    const worker = await broker.worker("w-1");
    await publish(worker);
    worker.pause();
    await broker.advance(29_999, watcher);
    expect(await viewOf()).toMatchObject({ liveness: "live" });
    await broker.advance(15_001, watcher);
    expect(await watcher.push(liveness("suspect"))).toMatchObject({ row: { live: true } });
  });
});

describe("bye", () => {
  it("is ok, closes with 1000, orphans what is open and ends the row [A2C-LIVE-17] [A2C-LIVE-18] [A2C-LIFE-47]", async () => {
    const worker = await broker.worker("w-1");
    const digest = await publish(worker);
    const id = await admit(watcher, "w-1", digest, "Too late.");
    expect(await worker.ask({ type: "bye", outcome: "completed" })).toEqual({ type: "ok", id: expect.any(String) });
    expect(await worker.closed).toEqual({ code: 1000, reason: "done" });
    expect(await watcher.push(liveness("ended"))).toMatchObject({ row: { live: false, seq: 2 }, pending: 0 });
    expect(await watcher.ask({ type: "stage", correction_id: id })).toMatchObject({ stage: "ORPHANED" });
    const ended = (await broker.entries()).filter(({ cause }) => cause === "ended");
    expect(ended).toMatchObject([{ kind: "status", outcome: "completed", row: { live: false } }]);
    expect(await watcher.ask(correctionOf("w-1", digest, "More."))).toMatchObject({ detail: "ENDED" });
  });

  it("of a worker without a row, or that has ended, is ok and leaves no entry [A2C-LIVE-19]", async () => {
    const fresh = await broker.worker("w-2");
    expect(await fresh.ask({ type: "bye" })).toMatchObject({ type: "ok" });
    expect(await fresh.closed).toMatchObject({ code: 1000 });
    expect(await kindsOf("w-2")).toEqual(["session_opened"]);

    const worker = await broker.worker("w-1");
    await publish(worker);
    await worker.ask({ type: "bye" });
    const again = await broker.worker("w-1");
    await again.ask({ type: "bye" });
    expect(await again.closed).toMatchObject({ code: 1000 });
    expect(await kindsOf("w-1")).toEqual(["session_opened", "status", "status", "session_opened"]);
  });

  it("is taken back by a status of a new session [A2C-LIVE-10]", async () => {
    const worker = await broker.worker("w-1");
    await publish(worker);
    await worker.ask({ type: "bye" });
    const again = await broker.worker("w-1");
    expect(await again.ask(statusOf("read the issue"))).toMatchObject({ row: { live: true, seq: 3 }, changed: true });
    expect(await viewOf()).toMatchObject({ liveness: "live" });
  });
});

describe("an inbox", () => {
  const corrections = ({ type }: Frame): boolean => type === "correction";

  it("that is closed holds corrections back until it opens [A2C-LIVE-06] [A2C-LIFE-08]", async () => {
    const worker = await broker.worker("w-1", { inbox: false });
    const digest = await publish(worker);
    expect(await viewOf()).toMatchObject({ inbox: "closed", liveness: "live" });
    const ids = [];
    for (const message of ["one", "two"]) {
      const receipt = await watcher.ask(correctionOf("w-1", digest, message));
      expect(receipt).toMatchObject({ verdict: "ALLOW", deliverable: false });
      ids.push(receipt["correction_id"]);
    }
    await worker.barrier();
    expect(worker.pushes).toEqual([]);
    await worker.ask({ type: "inbox", open: true });
    for (const correction_id of ids)
      expect(await worker.push(corrections)).toMatchObject({ correction: { correction_id } });
    expect(await watcher.push((frame) => frame["inbox"] === "open")).toMatchObject({ pending: 2 });
  });

  it("that closes and opens again is not pushed the same twice [A2C-LIVE-06]", async () => {
    const worker = await broker.worker("w-1");
    const digest = await publish(worker);
    await admit(watcher, "w-1", digest, "one");
    await worker.push(corrections);
    await worker.ask({ type: "inbox", open: false });
    const two = await admit(watcher, "w-1", digest, "two");
    await worker.barrier();
    expect(worker.pushes).toEqual([]);
    await worker.ask({ type: "inbox", open: true });
    expect(await worker.push(corrections)).toMatchObject({ correction: { correction_id: two } });
    await worker.barrier();
    expect(worker.pushes).toEqual([]);
  });

  it("is not delivered what ended while it was closed [A2C-LIFE-42]", async () => {
    const worker = await broker.worker("w-1", { inbox: false });
    const digest = await publish(worker);
    const one = await admit(watcher, "w-1", digest, "one");
    const two = await admit(watcher, "w-1", digest, "two");
    await watcher.ask({ type: "withdraw", correction_id: one });
    await worker.ask({ type: "inbox", open: true });
    expect(await worker.push(corrections)).toMatchObject({ correction: { correction_id: two }, backlog: 0 });
    await worker.barrier();
    expect(worker.pushes).toEqual([]);
  });
});
