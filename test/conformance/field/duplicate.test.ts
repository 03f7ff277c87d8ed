import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { connectWorker, type Correction } from "../../../src/client/index.js";
import { TestBroker } from "../../support/broker.js";
import { admit, correctionOf, publish, statusOf } from "../../support/scenes.js";
import { HeldStore } from "../../support/stores.js";
import { TcpProxy } from "../../support/tcp-proxy.js";
import { Wire, type Frame } from "../../support/wire.js";
import { entriesOf } from "./support/log.js";
import { ack, deliveries, idIn, isDelivery, receive, stageOf } from "./support/talk.js";
import { Traffic, anyMoves } from "./support/traffic.js";

let store: HeldStore;
let broker: TestBroker;
let worker: Wire;
let lead: Wire;
let digest: string;

beforeEach(async () => {
  store = new HeldStore();
  broker = await TestBroker.start({ store });
  worker = await broker.worker("w-1");
  lead = await broker.orchestrator("lead");
  digest = await publish(worker);
});
afterEach(() => broker.stop());

/** The worker is taken over and, not told of it yet, sends a frame. */
async function crossing(frame: Frame): Promise<{ late: Promise<Frame>; taking: Promise<Wire> }> {
  const { token } = await broker.running.addToken({ role: "worker", subject: "w-1", issue: "**", lane: "**" });
  store.hold();
  const taking = broker.worker("w-1", {}, token);
  await store.arrived();
  const late = worker.ask(frame);
  // By the time a later connection is open, the frame has been read.
  await broker.open();
  store.release();
  return { late, taking };
}

describe("duplicate", () => {
  it("D01: refuses the late ack of a session that was taken over, and takes that of the one that holds the delivery", async () => {
    const id = await admit(lead, "w-1", digest, "Edit the right file first.");
    await worker.ask(receive(id));
    const plan = { summary: "edit the right file first", reflects: [id] };
    const { late, taking } = await crossing(ack(id, digest, plan));
    expect(await late).toMatchObject({ type: "refusal", reason: "LEASE_HELD", detail: "SESSION" });
    expect(await worker.closed).toEqual({ code: 4409, reason: "fenced by a newer session" });
    const next = await taking;
    expect(await stageOf(lead, id)).toBe("DELIVERED");
    expect(await entriesOf(broker, "acked")).toEqual([]);
    expect(await entriesOf(broker, "planned")).toEqual([]);
    expect(await deliveries(next)).toMatchObject([{ correction: { correction_id: id }, attempt: 2 }]);
    const taken = await next.ask(ack(id, digest, plan));
    expect(taken).toMatchObject({ type: "stage", stage: "WITNESSED" });
  });

  it.each(["receive", "decline", "status", "inbox", "bye", "ping"])(
    "refuses a late %s of a session that was taken over, and does nothing of it",
    async (type) => {
      const id = await admit(lead, "w-1", digest, "Edit the right file first.");
      const cited = { correction_id: id, status_digest: digest };
      const frames: Record<string, Frame> = {
        receive: receive(id),
        decline: { type, ...cited, reason: "Not mine." },
        status: statusOf("went on"),
        inbox: { type, open: false },
        bye: { type },
        ping: { type },
      };
      const { late, taking } = await crossing(frames[type] as Frame);
      expect(await late).toMatchObject({ type: "refusal", reason: "LEASE_HELD", detail: "SESSION" });
      expect(await stageOf(lead, id)).toBe("ADMITTED");
      const view = await lead.ask({ type: "get", worker_id: "w-1" });
      expect(view).toMatchObject({ liveness: "live", inbox: "open", status_digest: digest });
      expect((await deliveries(await taking)).map(idIn)).toEqual([id]);
    },
  );

  it("D02: admits and delivers a request that is sent four times once, and says so", async () => {
    const frame = correctionOf("w-1", digest, "Keep the names.", { key: "k" });
    const first = await lead.ask(frame);
    expect(first).toMatchObject({ verdict: "ALLOW", stage: "ADMITTED" });
    expect(first).not.toHaveProperty("replayed");
    const { correction_id, index } = first;
    const same = { verdict: "ALLOW", correction_id, index, replayed: true };
    expect(await lead.ask(frame)).toMatchObject({ ...same, stage: "ADMITTED" });
    await worker.ask(receive(String(correction_id)));
    expect(await lead.ask(frame)).toMatchObject({ ...same, stage: "DELIVERED" });
    await worker.ask(ack(String(correction_id), digest));
    expect(await lead.ask(frame)).toMatchObject({ ...same, stage: "ACKED" });
    expect((await deliveries(worker)).map(idIn)).toEqual([correction_id]);
    expect(await entriesOf(broker, "admitted")).toMatchObject([{ correction_id, index }]);
  });

  it("D03: answers a request whose answer was lost with the stored receipt and the stage of now, the row moved or not", async () => {
    const proxy = await TcpProxy.start(broker.url);
    const everywhere = { worker: "**", issue: "**", lane: "**" };
    const { token } = await broker.running.addToken({ role: "orchestrator", subject: "far", ...everywhere });
    const far = await Wire.hello(proxy.url, token, { role: "orchestrator" });
    const frame = correctionOf("w-1", digest, "Keep the names.", { key: "k" });
    proxy.hold();
    void far.ask(frame);
    const id = idIn(await worker.push(isDelivery));
    await worker.ask(receive(id));
    await worker.ask(statusOf("read the tests"));
    proxy.cut();

    const again = await Wire.hello(proxy.url, token, { role: "orchestrator" });
    const [entry] = await entriesOf(broker, "admitted");
    const receipt = await again.ask(frame);
    expect(receipt).toMatchObject({ verdict: "ALLOW", replayed: true, correction_id: id, stage: "DELIVERED" });
    expect(receipt["index"]).toBe(entry?.["index"]);
    expect(receipt["expires_at"]).toBe(entry?.["expires_at"]);
    expect(await deliveries(worker)).toEqual([]);
    expect(await entriesOf(broker, "admitted")).toHaveLength(1);
    // Other words under the same key are another correction: it cites a row that is gone.
    const other = await again.ask({ ...frame, message: "Keep the files." });
    expect(other).toMatchObject({ verdict: "DENY", reason: "UNWITNESSED", detail: "DIGEST" });
    again.drop();
    await proxy.stop();
  });

  it("D05: delivers nothing of what was acked to later sessions, whether its plan has come or not", async () => {
    const [bare, planned] = [await admit(lead, "w-1", digest, "one"), await admit(lead, "w-1", digest, "two")];
    await worker.ask(ack(planned, digest, { summary: "do as told", reflects: [planned] }));
    await worker.ask(ack(bare, digest));
    let session = worker;
    for (let count = 0; count < 3; count += 1) {
      session.drop();
      session = await broker.worker("w-1");
      await session.ask(
        statusOf("back from the compaction", { next_action: { summary: "do as told", reflects: [planned] } }),
      );
      await session.ask({ type: "inbox", open: false });
      await session.ask({ type: "inbox", open: true });
      expect(await deliveries(session)).toEqual([]);
    }
    expect(await stageOf(lead, planned)).toBe("WITNESSED");
    expect(await stageOf(lead, bare)).toBe("ACKED");
  });

  it("D06: tells the worker behind a crash that it gets a correction for the second time, and the third", async () => {
    const { token } = await broker.running.addToken({ role: "worker", subject: "w-1", issue: "**", lane: "**" });
    await admit(lead, "w-1", digest, "Delete the old table.");
    const attempts: Pick<Correction, "attempt" | "redelivered">[] = [];
    for (let run = 1; run <= 3; run += 1) {
      const client = await connectWorker({ url: broker.url, token, workerId: "w-1" });
      for await (const { attempt, redelivered } of client.corrections()) {
        attempts.push({ attempt, redelivered });
        break;
      }
      await client.close();
    }
    expect(attempts).toEqual([
      { attempt: 1, redelivered: false },
      { attempt: 2, redelivered: true },
      { attempt: 3, redelivered: true },
    ]);
  });

  it("D09: delivers nothing again while its worker beats, however long it works them off", async () => {
    const ids = [await admit(lead, "w-1", digest, "A"), await admit(lead, "w-1", digest, "B")];
    expect((await deliveries(worker)).map(idIn)).toEqual(ids);
    for (const id of ids) await worker.ask(receive(id));
    for (let count = 0; count < 20; count += 1) {
      await broker.advance(29_000, worker, lead);
      expect(await deliveries(worker)).toEqual([]);
    }
    for (const id of ids.toReversed()) expect(await worker.ask(ack(id, digest))).toMatchObject({ stage: "ACKED" });
    const attempts = (await entriesOf(broker, "delivered")).map(({ attempt }) => attempt);
    expect(attempts).toEqual([1, 1]);
  });
});

describe("law: a resend is the same correction", () => {
  it("is admitted once, known ever after, and pushed once to a session, whatever comes between the resends", async () => {
    await fc.assert(
      fc.asyncProperty(anyMoves, (moves) =>
        Traffic.judge(moves, async (traffic) => {
          const entries = await traffic.entries();
          const admissions = entries.filter(({ kind }) => kind === "admitted");
          expect(admissions.map(({ correction_id }) => correction_id)).toEqual(traffic.admitted.map(({ id }) => id));
          for (const { receipts } of traffic.sent) {
            const from = receipts.findIndex(({ verdict }) => verdict === "ALLOW");
            if (from === -1) continue;
            const [first, ...again] = receipts.slice(from);
            expect(first).not.toHaveProperty("replayed");
            const { correction_id, index, expires_at } = first as Frame;
            const same = { verdict: "ALLOW", replayed: true, correction_id, index, expires_at };
            expect(again).toMatchObject(again.map(() => same));
            expect(entries[Number(index)]).toMatchObject({ kind: "admitted", correction_id, expires_at });
          }
          for (const session of traffic.workers) {
            const pushed = session.pushes.filter(isDelivery).map(idIn);
            expect(pushed).toEqual([...new Set(pushed)]);
          }
        }),
      ),
      { numRuns: 40 },
    );
  });
});
