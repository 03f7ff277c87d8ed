import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { MemoryStore, type Page } from "../../../src/index.js";
import { TestBroker } from "../../support/broker.js";
import { turn } from "../../support/local.js";
import { admit, correctionOf, publish, statusOf } from "../../support/scenes.js";
import { Served } from "../../support/served.js";
import { Wire, type Frame } from "../../support/wire.js";
import { entriesOf, stepsIn } from "./support/log.js";
import { ack, deliveries, idIn, receive, shows, stageOf, stagePushes } from "./support/talk.js";
import { SENDERS, Traffic, anyMoves } from "./support/traffic.js";

const stages = (session: Wire): unknown[] => stagePushes(session).map(({ stage }) => stage);

describe("reconnect_loses_queue", () => {
  let broker: TestBroker;
  let worker: Wire;
  let token: string;
  let lead: Wire & { welcome: Frame };
  let digest: string;

  const asLead = (hello: Record<string, unknown> = {}): Promise<Wire & { welcome: Frame }> =>
    Wire.hello(broker.url, token, { role: "orchestrator", ...hello });

  beforeEach(async () => {
    broker = await TestBroker.start();
    worker = await broker.worker("w-1");
    const everywhere = { worker: "**", issue: "**", lane: "**" };
    ({ token } = await broker.running.addToken({ role: "orchestrator", subject: "lead", ...everywhere }));
    lead = await asLead();
    digest = await publish(worker);
  });
  afterEach(async () => {
    await broker.stop();
  });

  it("R01: gives an orchestrator that was away every stage that it missed, in order, from its last cursor on", async () => {
    const { cursor } = lead.welcome;
    const id = await admit(lead, "w-1", digest, "Edit the right file first.");
    await worker.ask(receive(id));
    const delivered = await lead.push(({ stage }) => stage === "DELIVERED");
    lead.drop();
    await worker.ask(ack(id, digest));
    await worker.ask(statusOf("read on", { next_action: { summary: "edit the right file first", reflects: [id] } }));

    const back = await asLead({ resume_from: delivered["cursor"] });
    expect(back.welcome).toMatchObject({ gap: false });
    await back.push(({ stage }) => stage === "WITNESSED").then((last) => back.pushes.push(last));
    expect(stages(back)).toEqual(["ACKED", "WITNESSED"]);
    const whole = await asLead({ resume_from: cursor });
    await whole.push(({ stage }) => stage === "WITNESSED").then((last) => whole.pushes.push(last));
    expect(stages(whole)).toEqual(["ADMITTED", "DELIVERED", "ACKED", "WITNESSED"]);
    const indices = stagePushes(whole).map(({ index }) => index as number);
    expect(indices).toEqual(indices.toSorted((a, b) => a - b));
    for (const session of [back, whole]) session.drop();
  });

  it("R04: takes a worker whose connection broke for suspect, holds what is sent to it, and delivers it when it is back", async () => {
    await lead.ask({ type: "watch" });
    worker.drop();
    expect(await lead.push(shows("suspect"))).toMatchObject({ status_digest: digest, row: { live: true, seq: 1 } });
    const receipt = await lead.ask(correctionOf("w-1", digest, "Edit the right file first."));
    expect(receipt).toMatchObject({ verdict: "ALLOW", stage: "ADMITTED", deliverable: false });
    await broker.advance(59_999, lead);
    const waiting = await lead.ask({ type: "get", worker_id: "w-1" });
    expect(waiting).toMatchObject({ liveness: "suspect", status_digest: digest, pending: 1 });

    const back = await broker.worker("w-1");
    expect((await deliveries(back)).map(idIn)).toEqual([receipt["correction_id"]]);
    expect(await lead.ask({ type: "get", worker_id: "w-1" })).toMatchObject({
      liveness: "live",
      status_digest: digest,
    });
    lead.drop();
  });

  it("R07: takes the ack of a worker whose orchestrator is gone, and shows it to that principal when it is back", async () => {
    const id = await admit(lead, "w-1", digest, "Edit the right file first.");
    await worker.ask(receive(id));
    lead.drop();
    const acked = await worker.ask(ack(id, digest, { summary: "edit the right file first", reflects: [id] }));
    expect(acked).toMatchObject({ type: "stage", stage: "WITNESSED" });
    const back = await asLead();
    expect(await stageOf(back, id)).toBe("WITNESSED");
    expect(await back.ask({ type: "stage", correction_id: id })).toMatchObject({ index: acked["index"] });
    expect(await entriesOf(broker, "witnessed")).toMatchObject([{ correction_id: id, orchestrator_id: "lead" }]);
    back.drop();
  });
});

describe("reconnect_loses_queue, across a restart of the broker", () => {
  let served: Served;
  beforeEach(async () => {
    served = await Served.start();
  });
  afterEach(() => served.end());

  it.each([
    ["killed", (): Promise<void> => served.killAndRestart()],
    ["stopped", (): Promise<void> => served.stopAndRestart()],
  ])(
    "R05: delivers what was admitted before the broker was %s, and lets a sender that resumes miss no stage",
    async (_how, restart) => {
      const [worker, lead] = [await served.worker(), await served.lead()];
      const digest = await publish(worker);
      const [taken, waiting] = [await admit(lead, "w-1", digest, "one"), await admit(lead, "w-1", digest, "two")];
      await worker.ask(receive(taken));
      const { cursor } = await lead.push(({ stage }) => stage === "DELIVERED");
      await worker.ask(ack(taken, digest));
      await restart();

      const resumed = await served.lead({ resume_from: cursor });
      expect(resumed.welcome).toMatchObject({ gap: false });
      expect(await resumed.push(({ stage }) => stage === "ACKED")).toMatchObject({ correction_id: taken });
      expect(await stageOf(resumed, waiting)).toBe("ADMITTED");
      const back = await served.worker();
      expect(await deliveries(back)).toEqual([]);
      expect(await back.ask(statusOf("read the issue"))).toMatchObject({ pending: 2 });
      expect((await deliveries(back)).map(idIn)).toEqual([waiting]);
      await back.ask(ack(waiting, digest, { summary: "do both", reflects: [taken, waiting] }));
      await resumed.push(({ stage, correction_id }) => stage === "WITNESSED" && correction_id === waiting);
      expect(stagePushes(resumed).map(({ correction_id, stage }) => [correction_id, stage])).toEqual([
        [waiting, "DELIVERED"],
        [waiting, "ACKED"],
        [taken, "WITNESSED"],
      ]);
    },
  );
});

/** A log whose pages take their time, as those of a disk do: meanwhile stages come to pass. */
class SlowReader extends MemoryStore {
  override async read(from: number, limit: number): Promise<Page> {
    for (let turns = 0; turns < 10; turns += 1) await turn();
    return super.read(from, limit);
  }
}

describe("law: a resume from any cursor is the uninterrupted stream", () => {
  it("gives each sender, from each cursor that it was ever given, what came behind it, once and in order", async () => {
    await fc.assert(
      fc.asyncProperty(anyMoves, (moves) =>
        Traffic.judge(moves, async (traffic) => {
          for (const sender of SENDERS) {
            const stream = await traffic.heard(sender);
            for (const [at, cursor] of (await traffic.cursors(sender)).entries()) {
              const { welcome, pushes } = await traffic.resumed(sender, cursor);
              expect(welcome).toMatchObject({ gap: false });
              expect(pushes).toEqual(stream.slice(at));
            }
          }
        }),
      ),
      { numRuns: 12 },
    );
  });

  it("holds for sessions that resume while stages come to pass", async () => {
    const many = { open_per_worker: 100, admitted_per_window: 100, frames_burst: 1_000 };
    const broker = await TestBroker.start({ limits: many, store: new SlowReader() });
    const everywhere = { worker: "**", issue: "**", lane: "**" };
    const { token } = await broker.running.addToken({ role: "orchestrator", subject: "lead", ...everywhere });
    const worker = await broker.worker("w-1");
    const lead = await Wire.hello(broker.url, token, { role: "orchestrator" });
    const digest = await publish(worker);
    const sends = Array.from({ length: 60 }, (_, at) => admit(lead, "w-1", digest, `correction ${at}`));
    const ids = await Promise.all(sends);
    const resume_from = lead.welcome["cursor"];
    const sessions = await Promise.all([1, 2, 3, 4].map(() => broker.open(token)));
    const welcomes: Promise<Frame>[] = [];
    const acks: Promise<Frame>[] = [];
    for (const [at, id] of ids.entries()) {
      acks.push(worker.ask(ack(id, digest)));
      const session = at % 10 === 5 ? sessions[welcomes.length] : undefined;
      if (session !== undefined) welcomes.push(session.ask({ type: "hello", role: "orchestrator", resume_from }));
      await turn();
    }
    expect(await Promise.all(welcomes)).toMatchObject(sessions.map(() => ({ type: "welcome", gap: false })));
    await Promise.all(acks);

    const steps = stepsIn(await broker.entries());
    expect(steps).toHaveLength(180);
    for (const session of sessions) {
      session.pushes.push(await session.push(({ index }) => index === steps.at(-1)?.index));
      expect(stagePushes(session).map(({ correction_id, stage, index }) => ({ correction_id, stage, index }))).toEqual(
        steps,
      );
    }
    lead.drop();
    await broker.stop();
  });
});
