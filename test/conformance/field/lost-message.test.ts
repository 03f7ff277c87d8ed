import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { TestBroker } from "../../support/broker.js";
import { admit, correctionOf, publish, statusOf } from "../../support/scenes.js";
import type { Wire } from "../../support/wire.js";
import { ENDS, entriesOf, stepsIn, type Step } from "./support/log.js";
import { ack, deliveries, idIn, receive, shows, stageOf, told } from "./support/talk.js";
import { SENDERS, Traffic, anyMoves } from "./support/traffic.js";

let broker: TestBroker;
let worker: Wire;
let lead: Wire;
let digest: string;

beforeEach(async () => {
  broker = await TestBroker.start();
  worker = await broker.worker("w-1");
  lead = await broker.orchestrator("lead");
  digest = await publish(worker);
});
afterEach(() => broker.stop());

describe("lost_message", () => {
  it("L01: leaves a correction ADMITTED while its worker is busy, until the worker's own receipt", async () => {
    const id = await admit(lead, "w-1", digest, "Stay in your lane.");
    expect((await deliveries(worker)).map(idIn)).toEqual([id]);
    await broker.advance(20_000, worker);
    expect(await stageOf(lead, id)).toBe("ADMITTED");
    expect(await told(lead, id)).toEqual([]);

    await worker.ask(receive(id));
    expect(await stageOf(lead, id)).toBe("DELIVERED");
    expect(await told(lead, id)).toEqual(["DELIVERED"]);
  });

  it("L03: refuses a correction for a worker without a row, and keeps nothing for it but the refusal", async () => {
    const denied = await lead.ask(correctionOf("alice", digest, "Stay in your lane."));
    expect(denied).toMatchObject({ verdict: "DENY", reason: "UNWITNESSED", detail: "NO_ROW" });
    expect(await lead.ask({ type: "get", worker_id: "alice" })).not.toHaveProperty("row");
    const named = (await broker.entries()).filter((entry) => entry["worker_id"] === "alice");
    expect(named).toMatchObject([{ kind: "refused", verb: "correct", reason: "UNWITNESSED", detail: "NO_ROW" }]);

    const alice = await broker.worker("alice");
    expect(await alice.ask(statusOf("read the issue"))).toMatchObject({ row: { seq: 1 }, pending: 0 });
    expect(await deliveries(alice)).toEqual([]);
  });

  it("L04: delivers what two senders send at once, both of both", async () => {
    const other = await broker.orchestrator("other");
    const frame = correctionOf("w-1", digest, "Keep the public names.", { key: "x" });
    const receipts = await Promise.all([lead.ask(frame), other.ask(frame)]);
    expect(receipts).toMatchObject([
      { verdict: "ALLOW", stage: "ADMITTED" },
      { verdict: "ALLOW", stage: "ADMITTED" },
    ]);
    const ids = receipts.map((receipt) => String(receipt["correction_id"]));
    const delivered = (await deliveries(worker)).map(idIn);
    expect(delivered.toSorted()).toEqual(ids.toSorted());
    expect(new Set(delivered).size).toBe(2);
    for (const id of delivered) expect(await worker.ask(receive(id))).toMatchObject({ stage: "DELIVERED" });
    expect(await deliveries(worker)).toEqual([]);
  });

  it("L05: ends what a busy worker never takes as EXPIRED, and tells its sender", async () => {
    const id = await admit(lead, "w-1", digest, "Stay in your lane.");
    await broker.advance(599_999, worker, lead);
    expect(await stageOf(lead, id)).toBe("ADMITTED");
    await broker.advance(1, worker, lead);
    expect(await told(lead, id)).toEqual(["EXPIRED"]);
    expect(await stageOf(lead, id)).toBe("EXPIRED");
    expect(await entriesOf(broker, "expired")).toMatchObject([{ correction_id: id }]);
  });

  it("names the end of every correction and tells its sender, whoever ends it", async () => {
    const [gone, old] = [await admit(lead, "w-1", digest, "one"), await admit(lead, "w-1", digest, "two")];
    await lead.ask({ type: "withdraw", correction_id: gone });
    const replaced = await admit(lead, "w-1", digest, "three", { supersedes: old });
    const declined = await admit(lead, "w-1", digest, "four");
    const exact = await admit(lead, "w-1", digest, "five", { freshness: "exact" });
    const left = await admit(lead, "w-1", digest, "six");
    await worker.ask({ type: "decline", correction_id: declined, status_digest: digest, reason: "Not mine." });
    await worker.ask(statusOf("read the tests"));
    await worker.ask(ack(left, digest));
    await worker.ask(statusOf("read the tests", { next_action: { summary: "as planned" } }));
    await worker.ask({ type: "bye" });
    const ends = { gone, old, replaced, declined, exact, left };
    const stages = await Promise.all(Object.values(ends).map(async (id) => (await told(lead, id)).at(-1)));
    expect(stages).toEqual(["WITHDRAWN", "SUPERSEDED", "ORPHANED", "DECLINED", "STALE", "UNREFLECTED"]);
  });

  it("L07: hands a correction whose worker died behind the receipt to its next session, marked as a second attempt", async () => {
    const id = await admit(lead, "w-1", digest, "Stay in your lane.");
    await worker.ask(receive(id));
    worker.drop();
    const next = await broker.worker("w-1");
    expect(await stageOf(lead, id)).toBe("DELIVERED");
    expect(await deliveries(next)).toMatchObject([
      { correction: { correction_id: id }, redelivered: true, attempt: 2 },
    ]);
    await next.ask(receive(id));
    expect(await stageOf(lead, id)).toBe("DELIVERED");
    expect(await told(lead, id)).toEqual(["DELIVERED"]);
    expect(await entriesOf(broker, "delivered")).toMatchObject([
      { attempt: 1, redelivered: false },
      { attempt: 2, redelivered: true },
    ]);
  });

  it("L08: holds corrections of a run whose lease lapsed until it returns or their time ends them, and tells the sender", async () => {
    await lead.ask({ type: "watch" });
    const [short, long] = [
      await admit(lead, "w-1", digest, "Edit the right file first.", { ttl_ms: 120_000 }),
      await admit(lead, "w-1", digest, "Stay in your lane."),
    ];
    worker.drop();
    await lead.push(shows("suspect"));
    await broker.advance(60_000, lead);
    expect(await lead.push(shows("dead"))).toMatchObject({ row: { live: false, seq: 2 }, pending: 2 });
    const { row, status_digest } = await lead.ask({ type: "get", worker_id: "w-1" });
    expect(row).toMatchObject({ live: false });
    expect(await lead.ask(correctionOf("w-1", status_digest, "One more."))).toMatchObject({
      verdict: "DENY",
      reason: "UNWITNESSED",
      detail: "NOT_LIVE",
    });
    for (const id of [short, long]) expect(await stageOf(lead, id)).toBe("ADMITTED");

    await broker.advance(60_000, lead);
    expect(await told(lead, short)).toEqual(["EXPIRED"]);
    const back = await broker.worker("w-1");
    await publish(back);
    expect((await deliveries(back)).map(idIn)).toEqual([long]);
    await back.ask(receive(long));
    expect(await told(lead, long)).toEqual(["DELIVERED"]);
  });

  it.each([
    ["dead", "NOT_LIVE"],
    ["ended", "ENDED"],
  ])("L09: refuses a correction for a row that is %s when it is sent, though it cites it", async (how, detail) => {
    if (how === "ended") await worker.ask({ type: "bye" });
    else {
      worker.drop();
      await broker.advance(60_000, lead);
    }
    const view = await lead.ask({ type: "get", worker_id: "w-1" });
    expect(view).toMatchObject({ liveness: how, row: { live: false } });
    const denied = await lead.ask(correctionOf("w-1", view["status_digest"], "Stay in your lane."));
    expect(denied).toMatchObject({ verdict: "DENY", reason: "UNWITNESSED", detail });
    const known = await lead.ask({ type: "stage", correction_id: denied["correction_id"] });
    expect(known).toMatchObject({ type: "refusal", reason: "DEFAULT_DENY" });
    expect(await entriesOf(broker, "admitted")).toEqual([]);
  });

  it("L11: keeps a correction ADMITTED whose frame was on its way when the socket broke, and sends it again", async () => {
    worker.pause();
    const id = await admit(lead, "w-1", digest, "Stay in your lane.");
    worker.drop();
    expect(await stageOf(lead, id)).toBe("ADMITTED");
    const back = await broker.worker("w-1");
    expect(await deliveries(back)).toMatchObject([
      { correction: { correction_id: id }, redelivered: false, attempt: 1 },
    ]);
    expect(await stageOf(lead, id)).toBe("ADMITTED");
  });

  it.each([{ task_id: "t-2" }, { issue: "2163" }, { lane: "docs" }])(
    "L12: ends what is open as STALE when its worker moves to %o, and carries nothing over",
    async (elsewhere) => {
      const id = await admit(lead, "w-1", digest, "Stay in your lane.");
      expect(await deliveries(worker)).toHaveLength(1);
      const moved = await worker.ask(statusOf("took the next task", elsewhere));
      expect(moved).toMatchObject({ pending: 0, outcomes: [{ correction_id: id, stage: "STALE" }] });
      expect(await told(lead, id)).toEqual(["STALE"]);
      expect(lead.pushes).toMatchObject([{ type: "stage", correction_id: id, detail: "RUN_CHANGED" }]);
      expect(await deliveries(worker)).toEqual([]);
      expect(await deliveries(await broker.worker("w-1"))).toEqual([]);
    },
  );

  it("L13: brings every stage of a correction back to its own sender, and to nobody else", async () => {
    const other = await broker.orchestrator("other");
    const [mine, theirs] = [
      await admit(lead, "w-1", digest, "Edit the right file first."),
      await admit(other, "w-1", digest, "Keep the names."),
    ];
    await worker.ask(ack(mine, digest, { summary: "edit the right file first", reflects: [mine] }));
    expect(await told(lead, mine)).toEqual(["DELIVERED", "ACKED", "WITNESSED"]);
    expect(await told(other, mine)).toEqual([]);
    expect(await told(lead, theirs)).toEqual([]);
    expect(await lead.ask({ type: "stage", correction_id: theirs })).toMatchObject({ reason: "DEFAULT_DENY" });
  });
});

describe("law: conservation", () => {
  it("delivers what was admitted, neither more nor less, however up to 8 senders' requests fall", async () => {
    const sends = fc.array(fc.nat({ max: 7 }), { minLength: 1, maxLength: 12 });
    await fc.assert(
      fc.asyncProperty(sends, async (senders) => {
        const busy = await TestBroker.start();
        const taker = await busy.worker("w-1");
        const cited = await publish(taker);
        const wires = await Promise.all([...new Set(senders)].map((at) => busy.orchestrator(`sender-${at}`)));
        const order = [...new Set(senders)];
        const receipts = await Promise.all(
          senders.map((at, count) =>
            (wires[order.indexOf(at)] as Wire).ask(correctionOf("w-1", cited, `correction ${count}`)),
          ),
        );
        const ids = receipts
          .filter(({ verdict }) => verdict === "ALLOW")
          .map((receipt) => String(receipt["correction_id"]));
        expect(ids).toHaveLength(Math.min(8, senders.length));
        expect((await deliveries(taker)).map(idIn).toSorted()).toEqual(ids.toSorted());
        await busy.stop();
      }),
      { numRuns: 25 },
    );
  });

  it("brings every admitted correction to exactly one end, by steps forward, and tells its sender each", async () => {
    await fc.assert(
      fc.asyncProperty(anyMoves, (moves) =>
        Traffic.judge(moves, async (traffic) => {
          await traffic.settle();
          const steps = stepsIn(await traffic.entries());
          for (const sender of SENDERS) {
            const own = traffic.admitted.filter((one) => one.sender === sender).map(({ id }) => id);
            const heard = await traffic.heard(sender);
            expect(heard.map(({ correction_id, stage, index }) => ({ correction_id, stage, index }))).toEqual(
              steps.filter(({ correction_id }) => own.includes(correction_id)),
            );
          }
          expect(steps.filter(({ stage }) => stage === "ADMITTED").map(({ correction_id }) => correction_id)).toEqual(
            traffic.admitted.map(({ id }) => id),
          );
          for (const { id } of traffic.admitted) expectWhole(steps.filter((step) => step.correction_id === id));
        }),
      ),
      { numRuns: 40 },
    );
  });
});

/** ADMITTED, perhaps DELIVERED, perhaps ACKED behind that, and one end. */
function expectWhole(steps: readonly Step[]): void {
  const stages = steps.map(({ stage }) => stage);
  expect(stages.slice(0, -1)).toEqual(["ADMITTED", "DELIVERED", "ACKED"].slice(0, stages.length - 1));
  expect(ENDS).toContain(stages.at(-1));
}
