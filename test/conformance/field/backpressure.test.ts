import fc from "fast-check";
import { afterEach, describe, expect, it } from "vitest";
import { TestBroker } from "../../support/broker.js";
import { admit, correctionOf, publish } from "../../support/scenes.js";
import { Wire, type Frame } from "../../support/wire.js";
import { entriesOf, stepsIn } from "./support/log.js";
import { deliveries, idIn, receive, stageOf, stagePushes } from "./support/talk.js";

/** Nothing in the way of a test that sends a lot at once. */
const ROOMY = {
  admitted_per_window: 100_000,
  citing_per_digest: 100_000,
  open_per_worker: 100_000,
  open_per_worker_halt: 100_000,
  frames_per_second: 100_000,
  frames_burst: 100_000,
};
const FULL = { verdict: "DENY", reason: "RATE_LIMITED", detail: "INBOX_FULL" };
const TOO_FAST = { verdict: "DENY", reason: "RATE_LIMITED", detail: "RATE" };

let broker: TestBroker;
afterEach(() => broker.stop());

describe("backpressure", () => {
  it("P02: refuses the ninth correction at once, evicts none of the eight, and has room when one has ended", async () => {
    broker = await TestBroker.start();
    const [worker, lead] = [await broker.worker("w-1"), await broker.orchestrator("lead")];
    const digest = await publish(worker);
    const ids: string[] = [];
    for (let count = 1; count <= 8; count += 1) ids.push(await admit(lead, "w-1", digest, `correction ${count}`));
    expect(await lead.ask(correctionOf("w-1", digest, "ninth"))).toMatchObject(FULL);
    const halt = await admit(lead, "w-1", digest, "STOP.", { priority: "halt" });
    expect(await lead.ask(correctionOf("w-1", digest, "STOP!", { priority: "halt" }))).toMatchObject(FULL);

    // What is being delivered is not dropped either.
    for (const id of ids) expect(await worker.ask(receive(id))).toMatchObject({ stage: "DELIVERED" });
    expect(await lead.ask(correctionOf("w-1", digest, "ninth, again"))).toMatchObject(FULL);
    expect((await deliveries(worker)).map(idIn)).toEqual([...ids, halt]);
    for (const id of ids) expect(await stageOf(lead, id)).toBe("DELIVERED");
    const [first, second] = ids as [string, string];
    for (const id of [first, second]) {
      await worker.ask({ type: "decline", correction_id: id, status_digest: digest, reason: "Not mine." });
    }
    expect(await lead.ask(correctionOf("w-1", digest, "ninth, at last"))).toMatchObject({ verdict: "ALLOW" });
    expect(stepsIn(await broker.entries()).filter(({ stage }) => stage === "DECLINED")).toHaveLength(2);
  });

  it("P03: cuts a subscriber that stops reading at a bound of bytes, its cursor good for the rest, and nobody else notices", async () => {
    broker = await TestBroker.start({ limits: ROOMY });
    const workerId = "w".repeat(128);
    const [worker, other] = [await broker.worker(workerId, { inbox: false }), await broker.orchestrator("other")];
    const digest = await publish(worker);
    const { token } = await broker.running.addToken({ role: "orchestrator", subject: "lead", ...EVERYWHERE });
    const [lead, stalled] = [await asLead(token), await asLead(token)];
    const before = sessions();
    stalled.pause();
    const ids: unknown[] = [];
    while (sessions() === before) {
      const batch = Array.from({ length: 1_000 }, (_, at) => `correction ${ids.length + at}`);
      const receipts = await Promise.all(batch.map((message) => lead.ask(correctionOf(workerId, digest, message))));
      ids.push(...receipts.map(({ correction_id }) => correction_id));
      await worker.barrier();
    }
    stalled.resume();
    expect(await stalled.closed).toEqual({ code: 4430, reason: "slow consumer" });

    const had = stagePushes(stalled);
    const back = await asLead(token, { resume_from: had.at(-1)?.["cursor"] });
    expect(back.welcome).toMatchObject({ gap: false });
    back.pushes.push(await back.push(({ correction_id }) => correction_id === ids.at(-1)));
    expect(had.length).toBeLessThan(ids.length);
    const told = [...had, ...stagePushes(back)];
    expect(told.map(({ correction_id }) => correction_id)).toEqual(ids);
    expect(await worker.ask(receive(String(ids.at(-1))))).toMatchObject({ stage: "DELIVERED" });
    expect(await other.ask({ type: "get", worker_id: workerId })).toMatchObject({ pending: ids.length });
    for (const session of [lead, back]) session.drop();
  });

  it("P05: answers a principal over its rate with RATE, on all its sessions, and starves nobody else", async () => {
    broker = await TestBroker.start();
    const [lead, second, other] = [
      await broker.orchestrator("lead"),
      await broker.orchestrator("lead"),
      await broker.orchestrator("other"),
    ];
    const digests = new Map<string, string>();
    for (const id of ["w-1", "w-2", "w-3"]) digests.set(id, await publish(await broker.worker(id)));
    const send = (from: Wire, count: number): Promise<Frame> => {
      const id = `w-${1 + (count % 3)}`;
      return from.ask(correctionOf(id, digests.get(id), `correction ${count}`));
    };
    const receipts = await Promise.all(Array.from({ length: 20 }, (_, count) => send(lead, count)));
    expect(receipts).toMatchObject(receipts.map(() => ({ verdict: "ALLOW" })));
    expect(await send(lead, 20)).toMatchObject(TOO_FAST);
    expect(await send(second, 20)).toMatchObject(TOO_FAST);
    expect(await send(other, 20)).toMatchObject({ verdict: "ALLOW" });
    expect(await entriesOf(broker, "refused")).toMatchObject([{ detail: "RATE" }, { detail: "RATE" }]);
    broker.clock.advance(999);
    expect(await send(lead, 20)).toMatchObject(TOO_FAST);
    broker.clock.advance(1);
    expect(await send(lead, 20)).toMatchObject({ verdict: "ALLOW" });
  });
});

const EVERYWHERE = { worker: "**", issue: "**", lane: "**" };

function asLead(token: string, hello: Record<string, unknown> = {}): Promise<Wire & { welcome: Frame }> {
  return Wire.hello(broker.url, token, { role: "orchestrator", ...hello });
}

/** Sessions that the broker has: a paused client cannot see that it was cut. */
function sessions(): number {
  return broker.running.broker.stats().sessions;
}

describe("law: nothing that was admitted is evicted", () => {
  it("delivers every admitted correction that nobody ended, whatever comes in how fast, and keeps the bounds", async () => {
    const burst = fc.record({
      sends: fc.array(fc.record({ sender: fc.nat({ max: 2 }), worker: fc.nat({ max: 1 }), halt: fc.boolean() }), {
        maxLength: 30,
      }),
      next: fc.constantFrom("receive", "decline", "withdraw", "pass"),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(burst, { minLength: 1, maxLength: 4 }), async (bursts) => {
        broker = await TestBroker.start({ limits: { frames_per_second: 10_000, frames_burst: 10_000 } });
        const workers = [await broker.worker("w-0"), await broker.worker("w-1")];
        const senders = [
          await broker.orchestrator("a"),
          await broker.orchestrator("b"),
          await broker.orchestrator("c"),
        ];
        const digests = [await publish(workers[0] as Wire), await publish(workers[1] as Wire)];
        let count = 0;
        const refused: unknown[] = [];
        const standing: { id: string; worker: number; sender: number }[] = [];
        for (const { sends, next } of bursts) {
          const sent = sends.map(async ({ sender, worker, halt }) => {
            const fields = halt ? { priority: "halt" } : {};
            const frame = correctionOf(`w-${worker}`, digests[worker], `correction ${(count += 1)}`, fields);
            return { worker, sender, receipt: await (senders[sender] as Wire).ask(frame) };
          });
          for (const { worker, sender, receipt } of await Promise.all(sent)) {
            if (receipt["verdict"] === "ALLOW") standing.push({ id: String(receipt["correction_id"]), worker, sender });
            else refused.push(reasonOf(receipt));
          }
          if (next === "pass") broker.clock.advance(1_000);
          const [first] = standing;
          if (first === undefined || next === "pass") continue;
          const { id, worker, sender } = first;
          const frames: Record<string, Frame> = {
            receive: receive(id),
            withdraw: { type: "withdraw", correction_id: id },
            decline: { type: "decline", correction_id: id, status_digest: digests[worker], reason: "No." },
          };
          const asker = next === "withdraw" ? senders[sender] : workers[worker];
          await asker?.ask(frames[next] as Frame);
          if (next !== "receive") standing.shift();
        }
        for (const reason of refused) expect([FULL, TOO_FAST]).toContainEqual(reason);
        for (const [at, worker] of workers.entries()) {
          const open = standing.filter((one) => one.worker === at);
          expect(open.length).toBeLessThanOrEqual(9);
          expect((await deliveries(worker)).map(idIn)).toEqual(expect.arrayContaining(open.map(({ id }) => id)));
          for (const { id } of open) expect(await worker.ask(receive(id))).toMatchObject({ stage: "DELIVERED" });
        }
        await broker.stop();
      }),
      { numRuns: 25 },
    );
  });
});

function reasonOf({ verdict, reason, detail }: Frame): unknown {
  return { verdict, reason, detail };
}
