import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { TestBroker } from "../../support/broker.js";
import { admit, correctionOf, publish, statusOf } from "../../support/scenes.js";
import { Served } from "../../support/served.js";
import type { Frame, Wire } from "../../support/wire.js";
import type { Entry } from "./support/log.js";
import { deliveries, idIn, shows } from "./support/talk.js";
import { SENDERS, Traffic, anyMoves, type Sender } from "./support/traffic.js";

describe("liveness_wrong", () => {
  let broker: TestBroker;
  let lead: Wire;

  beforeEach(async () => {
    broker = await TestBroker.start();
    lead = await broker.orchestrator("lead");
  });
  afterEach(() => broker.stop());

  it.each([
    ["pongs alone", false],
    ["pings of its own", true],
  ])(
    "V01: keeps a worker live through ten minutes in one tool call with %s, its digest unchanged, and correctable",
    async (_beat, asks) => {
      const worker = await broker.worker("w-1");
      const digest = await publish(worker);
      for (let count = 1; count <= 40; count += 1) {
        broker.clock.advance(15_000);
        await worker.pinged(count);
        if (asks) await worker.barrier();
        await lead.barrier();
      }
      const view = await lead.ask({ type: "get", worker_id: "w-1" });
      expect(view).toMatchObject({ liveness: "live", status_digest: digest, row: { live: true, seq: 1 } });
      const id = await admit(lead, "w-1", digest, "Edit the right file first.");
      expect((await deliveries(worker)).map(idIn)).toEqual([id]);
    },
  );

  it("keeps a worker live that beat while the broker stood still, and takes one that did not for dead [A2C-LIVE-20]", async () => {
    const [worker, silent] = [await broker.worker("w-1"), await broker.worker("w-2")];
    const digest = await publish(worker);
    await publish(silent);
    silent.pause();
    broker.clock.freeze(600_000);
    const beat = worker.barrier();
    broker.clock.advance(0);
    await beat;
    await broker.advance(15_000, worker, lead);
    const shown = async (workerId: string): Promise<Frame> => lead.ask({ type: "get", worker_id: workerId });
    expect(await shown("w-1")).toMatchObject({ liveness: "live", status_digest: digest });
    expect(await shown("w-2")).toMatchObject({ liveness: "dead", row: { live: false } });
  });

  it("keeps a worker correctable through a tool call that blocks it for ten minutes, on a lease that is long enough", async () => {
    const worker = await broker.worker("w-1", { lease_ms: 900_000 });
    const digest = await publish(worker);
    worker.pause();
    await broker.advance(600_000, lead);
    expect(await lead.ask({ type: "get", worker_id: "w-1" })).toMatchObject({
      liveness: "suspect",
      status_digest: digest,
    });
    const receipt = await lead.ask(correctionOf("w-1", digest, "Edit the right file first.", { ttl_ms: 900_000 }));
    expect(receipt).toMatchObject({ verdict: "ALLOW", deliverable: false });
    expect((await deliveries(await broker.worker("w-1"))).map(idIn)).toEqual([receipt["correction_id"]]);
  });

  it("V03: pushes each change of a worker's liveness to who watches", async () => {
    await lead.ask({ type: "watch" });
    const worker = await broker.worker("w-1");
    const digest = await publish(worker);
    expect(await lead.push(shows("live"))).toMatchObject({ row: { live: true, seq: 1 } });
    worker.pause();
    await broker.advance(45_000, lead);
    expect(await lead.push(shows("suspect"))).toMatchObject({ row: { live: true, seq: 1 }, status_digest: digest });
    await broker.advance(60_000, lead);
    expect(await lead.push(shows("dead"))).toMatchObject({ row: { live: false, seq: 2 } });
    const back = await broker.worker("w-1");
    await publish(back);
    expect(await lead.push(shows("live"))).toMatchObject({ row: { live: true, seq: 3 } });
    await back.ask({ type: "bye" });
    expect(await lead.push(shows("ended"))).toMatchObject({ row: { live: false, seq: 4 } });
  });

  it("V06: shows an inbox that is closed beside a worker that is live, and says so to who sends", async () => {
    await lead.ask({ type: "watch" });
    const worker = await broker.worker("w-1", { inbox: false });
    const digest = await publish(worker);
    expect(await lead.push(shows("live"))).toMatchObject({ inbox: "closed", status_digest: digest });
    expect(await lead.ask({ type: "get", worker_id: "w-1" })).toMatchObject({ liveness: "live", inbox: "closed" });
    const receipt = await lead.ask(correctionOf("w-1", digest, "Edit the right file first."));
    expect(receipt).toMatchObject({ verdict: "ALLOW", deliverable: false });
    expect(await deliveries(worker)).toEqual([]);

    await worker.ask({ type: "inbox", open: true });
    expect((await deliveries(worker)).map(idIn)).toEqual([receipt["correction_id"]]);
    expect(await lead.push((push) => push["inbox"] === "open")).toMatchObject({ liveness: "live" });
  });

  it("V07: has no row of a worker that is connected and has said nothing, and refuses a correction for it", async () => {
    await lead.ask({ type: "watch" });
    const worker = await broker.worker("w-1");
    const nothing = async (): Promise<void> => {
      expect(await lead.ask({ type: "get", worker_id: "w-1" })).not.toHaveProperty("row");
      expect(await lead.ask({ type: "list" })).toMatchObject({ rows: [] });
      const denied = await lead.ask(correctionOf("w-1", "sha256:x", "Edit the right file first."));
      expect(denied).toMatchObject({ verdict: "DENY", reason: "UNWITNESSED", detail: "NO_ROW" });
      expect(denied).not.toHaveProperty("current");
    };
    await nothing();
    await broker.advance(120_000, worker, lead);
    await nothing();
    worker.drop();
    await broker.advance(120_000, lead);
    await nothing();
    expect(lead.pushes).toEqual([]);
    const kinds = (await broker.entries()).filter((entry) => entry["worker_id"] === "w-1").map(({ kind }) => kind);
    expect(kinds).toEqual(["session_opened", "refused", "refused", "refused"]);
    expect(await (await broker.worker("w-1")).ask(statusOf("read the issue"))).toMatchObject({ row: { seq: 1 } });
  });
});

describe("liveness_wrong, across a killed broker", () => {
  let served: Served;
  beforeEach(async () => {
    served = await Served.start();
  });
  afterEach(() => served.end());

  it("V04: writes a live row not live at a restart, until its worker's status, and makes no old digest current again", async () => {
    const before = await publish(await served.worker());
    await served.killAndRestart();
    const lead = await served.lead();
    const dead = await lead.ask({ type: "get", worker_id: "w-1" });
    expect(dead).toMatchObject({ liveness: "dead", row: { live: false, seq: 2 } });
    const denied = { verdict: "DENY", reason: "UNWITNESSED", detail: "NOT_LIVE" };
    for (const digest of [before, dead["status_digest"]]) {
      expect(await lead.ask(correctionOf("w-1", digest, "Edit the right file first."))).toMatchObject(denied);
    }
    // To be connected is not enough.
    const worker = await served.worker();
    expect(await lead.ask(correctionOf("w-1", dead["status_digest"], "Now."))).toMatchObject(denied);

    const back = await publish(worker);
    expect(await lead.ask({ type: "get", worker_id: "w-1" })).toMatchObject({
      liveness: "live",
      status_digest: back,
      row: { live: true, seq: 3 },
    });
    for (const digest of [before, dead["status_digest"]]) {
      const stale = await lead.ask(correctionOf("w-1", digest, "Edit the right file first."));
      expect(stale).toMatchObject({ verdict: "DENY", reason: "UNWITNESSED", detail: "DIGEST" });
    }
    expect(await lead.ask(correctionOf("w-1", back, "Edit the right file first."))).toMatchObject({ verdict: "ALLOW" });
  });
});

describe("law: a row is live on its worker's word alone", () => {
  it("is what the log says of every row, whose seq rises by one and whose digest never returns", async () => {
    await fc.assert(
      fc.asyncProperty(anyMoves, (moves) =>
        Traffic.judge(moves, async (traffic) => {
          const entries = await traffic.entries();
          const rows = entries.filter(({ kind }) => kind === "status");
          expect(rows.map(isLive)).toEqual(rows.map(({ cause }) => cause === "published"));
          // A bye of a row that was not live leaves it as it was.
          const moved = rows.filter(({ status_digest }, at) => status_digest !== rows[at - 1]?.["status_digest"]);
          expect(moved.map(seqOf)).toEqual(moved.map((_, at) => at + 1));
          expect(new Set(moved.map(({ status_digest }) => status_digest)).size).toBe(moved.length);
          for (const { kind, index } of entries) {
            const row = rows.findLast((entry) => Number(entry["index"]) < Number(index));
            if (kind !== "broker_started" || row === undefined || isLive(row) === false) continue;
            expect(entries[Number(index) + 1]).toMatchObject({ kind: "status", cause: "restart" });
          }
          for (const { cause, by } of rows) expect(by).toMatchObject({ role: ROLE[String(cause)] });
        }),
      ),
      { numRuns: 20 },
    );
  });

  it("is what a watcher was shown last, however it came about", async () => {
    await fc.assert(
      fc.asyncProperty(anyMoves, (moves) =>
        Traffic.judge(moves, async (traffic) => {
          for (const sender of SENDERS) await expectShown(traffic, sender);
          await traffic.leave();
          for (const sender of SENDERS) await expectShown(traffic, sender);
        }),
      ),
      { numRuns: 20 },
    );
  });
});

async function expectShown(traffic: Traffic, sender: Sender): Promise<void> {
  const { watched, read } = await traffic.views(sender);
  expect(read).toBeDefined();
  expect(watched).toEqual(read);
}

/** Who moves a row, by the cause that its entry names. */
const ROLE: Readonly<Record<string, string>> = {
  published: "worker",
  ended: "worker",
  lease_lapsed: "broker",
  restart: "broker",
};

function seqOf({ row }: Entry): unknown {
  return (row as Entry)["seq"];
}

function isLive({ row }: Entry): unknown {
  return (row as Entry)["live"];
}
