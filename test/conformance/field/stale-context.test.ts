import { readFileSync } from "node:fs";
import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { statusDigest, type Correction, type WorkerStatus } from "../../../src/client/index.js";
import type { Frame } from "../../support/wire.js";
import { until } from "../../support/local.js";
import { HeldStore } from "../../support/stores.js";
import { Scene, WHERE, correctionOf, delivered, digestIn, lasting, statusOf } from "./support/scene.js";

let scene: Scene;
let store: HeldStore;

beforeEach(async () => {
  store = new HeldStore();
  scene = await Scene.open({}, { store });
});

afterEach(() => scene.close());

const STALE = { verdict: "DENY", reason: "UNWITNESSED", detail: "DIGEST" };

describe("a decision that rests on an old row", () => {
  it("S01: refuses an old digest, shows the row of now without its digest, and admits what cites that row", async () => {
    const moved = await scene.worker.ask(statusOf("plan B"));
    const refused = await scene.orchestrator.ask(correctionOf(scene.digest, "stay in lane"));
    expect(refused).toMatchObject({ ...STALE, current: { seq: 2, last_action: "plan B" } });
    expect(refused["current"]).toEqual(moved["row"]);
    expect(JSON.stringify(refused)).not.toContain("sha256:");

    const digest = statusDigest(refused["current"] as WorkerStatus);
    expect(await scene.orchestrator.ask(correctionOf(digest, "redo"))).toMatchObject({ verdict: "ALLOW" });
  });

  it("S03: gives all that waits in one take, in the order of admission, with the backlog behind each [A2C-LIFE-55] [A2C-LIFE-56]", async () => {
    const worker = await scene.sdkWorker();
    for (const text of ["A", "B", "C"]) await scene.admit(text);
    await scene.admit("stop", { priority: "halt" });
    // A round trip: the pushes have come.
    await worker.status({ ...WHERE, last_action: "plan A" });
    const taken = await worker.take();
    expect(taken.map(({ message, backlog }) => [message, backlog])).toEqual([
      ["stop", 3],
      ["A", 2],
      ["B", 1],
      ["C", 0],
    ]);
    expect(taken.map(({ admitted_at }) => admitted_at)).toEqual(Array(4).fill(scene.broker.clock.now()));
    expect(await worker.take()).toEqual([]);
  });

  it("S04: gives every correction a time to live, after which it ends as EXPIRED and is never delivered", async () => {
    const { worker, orchestrator, broker, digest } = scene;
    const sent = await orchestrator.ask(correctionOf(digest, "stop editing"));
    const brief = await orchestrator.ask(correctionOf(digest, "for five seconds", { ttl_ms: 5_000 }));
    const [{ at }] = (await scene.logged("admitted")) as [{ at: number }];
    expect([sent["expires_at"], brief["expires_at"]]).toEqual([at + 600_000, at + 5_000]);
    const longest = correctionOf(digest, "for an hour", { ttl_ms: 3_600_000 });
    expect(await orchestrator.ask(longest)).toMatchObject({ verdict: "ALLOW", expires_at: at + 3_600_000 });
    for (const ttl_ms of [3_600_001, 0, -1, null]) {
      const refused = await orchestrator.ask(correctionOf(digest, "for ever", { ttl_ms }));
      expect(refused).toMatchObject({ verdict: "DENY", reason: "MALFORMED", detail: "SHAPE", path: "ttl_ms" });
    }

    worker.drop();
    orchestrator.drop();
    broker.clock.advance(15 * 3_600_000);
    const back = await broker.worker("W1");
    await back.ask(statusOf("plan A"));
    expect(await delivered(back)).toEqual([]);
    const late = await back.ask({ type: "receive", correction_id: sent["correction_id"] });
    expect(late).toMatchObject({ type: "stage", stage: "EXPIRED" });
    const ends = (await scene.logged("expired")).map((end) => [end["correction_id"], end["at"]]);
    expect(ends).toEqual([
      [brief["correction_id"], at + 5_000],
      [sent["correction_id"], at + 600_000],
      [expect.any(String), at + 3_600_000],
    ]);
  });

  it("S07: refuses so that a program can decide again from the one answer", async () => {
    const orchestrator = await scene.sdkOrchestrator();
    const { row } = (await scene.view()) as unknown as { row: WorkerStatus };
    await scene.publish("plan B");
    const refused = await orchestrator.correct(row, "stay in lane");
    expect(refused).toMatchObject({
      ...STALE,
      sent: false,
      current: { seq: 2, last_action: "plan B" },
      moved: [
        { field: "seq", cited: 1, current: 2 },
        { field: "last_action", cited: "plan A", current: "plan B" },
      ],
    });
    if (refused.verdict !== "DENY" || refused.current === undefined) throw new Error("no row to decide on");
    expect(await orchestrator.correct(refused.current, "retry")).toMatchObject({ verdict: "ALLOW", sent: true });
  });

  it("S09: lets an orchestrator think for a minute while the worker shows that it lives", async () => {
    const { worker, orchestrator, broker, digest } = scene;
    for (let second = 0; second < 60; second += 5) {
      await broker.advance(5_000, worker, orchestrator);
      await worker.ask({ type: "progress", markdown: `${second} s` });
      await worker.ask({ type: "inbox", open: true });
      expect(await worker.ask(statusOf("plan A"))).toMatchObject({ changed: false, row: { seq: 1 } });
    }
    expect(await scene.view()).toMatchObject({ status_digest: digest, liveness: "live" });
    expect(await orchestrator.ask(correctionOf(digest, "stay in lane"))).toMatchObject({ verdict: "ALLOW" });
  });

  it("S10: refuses the older citation once the row's change is ordered first, though nobody was told of it", async () => {
    const { worker, orchestrator, digest } = scene;
    store.hold();
    const moved = worker.ask(statusOf("a human took over"));
    await store.arrived();
    const { waiting } = scene.broker.running.broker.stats();
    const late = orchestrator.ask(correctionOf(digest, "go on"));
    // Decided while the row's entry is still on its way to the disk.
    await until(() => scene.broker.running.broker.stats().waiting > waiting);
    store.release();
    expect(await moved).toMatchObject({ changed: true, row: { seq: 2 } });
    expect(await late).toMatchObject(STALE);
    expect(await delivered(worker)).toEqual([]);
  });

  it("S11: gives three different refusals three different reasons, of a closed vocabulary", async () => {
    const { orchestrator, digest } = scene;
    const ask = async (frame: Frame): Promise<unknown[]> => {
      const { verdict, reason, detail, max_bytes } = await orchestrator.ask(frame);
      return [verdict, reason, detail, max_bytes];
    };
    const answers = [
      await ask(correctionOf("sha256:stale", "stay in lane")),
      await ask(correctionOf(digest, "stay in lane", { lane: "cmd/fak" })),
      await ask(correctionOf(digest, "x".repeat(1_025))),
    ];
    expect(answers).toEqual([
      ["DENY", "UNWITNESSED", "DIGEST", undefined],
      ["DENY", "TRUST_VIOLATION", "SCOPE", undefined],
      ["DENY", "OVERSIZE", undefined, 1_024],
    ]);
    const schema = new URL("../../../spec/schema/replies.json", import.meta.url);
    const closed =
      '"enum":["DEFAULT_DENY","MALFORMED","OVERSIZE","UNWITNESSED","TRUST_VIOLATION","RATE_LIMITED","LEASE_HELD"]';
    expect(JSON.stringify(JSON.parse(readFileSync(schema, "utf8")))).toContain(closed);
  });
});

describe("a correction that waited in the worker's own process", () => {
  it("is handed out as stale once the worker has published or planned since it was pushed [A2C-LIFE-57]", async () => {
    const worker = await scene.sdkWorker();
    const planA = { ...WHERE, last_action: "plan A" };
    await scene.admit("fresh");
    await worker.status(planA);
    expect(await worker.take()).toMatchObject([{ message: "fresh", stale_context: false, written_at_seq: 1 }]);
    await scene.admit("before plan B");
    await worker.status(planA);
    await worker.status({ ...WHERE, last_action: "plan B" });
    expect(await worker.take()).toMatchObject([{ message: "before plan B", stale_context: true, written_at_seq: 1 }]);

    const digest = digestIn(await scene.view());
    for (const text of ["one", "two"]) await scene.admit(text, {}, digest);
    const corrections = worker.corrections();
    const { value: one } = await corrections.next();
    expect(one).toMatchObject({ message: "one", stale_context: false, written_at_seq: 2 });
    await (one as Correction).ack({ next_action: { summary: "do one", reflects: [] } });
    expect((await corrections.next()).value).toMatchObject({ message: "two", stale_context: true, written_at_seq: 2 });
    const logged = (await scene.logged("delivered")).map(({ stale_context }) => stale_context);
    expect(logged).toEqual([false, true, false, true]);
    const third = await scene.admit("three", {}, digestIn(await scene.view()));
    expect((await corrections.next()).value).toMatchObject({ correction_id: third, stale_context: false });
  });
});

describe("a broker that goes on after another", () => {
  it("delivers nothing that expired while there was none, and ends it in the log", async () => {
    const kept = lasting();
    const before = await Scene.open({}, kept);
    const [brief, long] = [await before.admit("stop editing", { ttl_ms: 5_000 }), await before.admit("go on")];
    const after = await before.restarted(kept, 5_000);
    await after.publish("plan A");
    expect(await delivered(after.worker)).toMatchObject([{ correction_id: long, message: "go on" }]);
    expect([await after.stage(brief), await after.stage(long)]).toEqual(["EXPIRED", "ADMITTED"]);
    expect(await after.logged("expired")).toMatchObject([{ correction_id: brief }]);
    await after.close();
  });

  it("takes no digest of before for current, though the worker says the same again", async () => {
    const kept = lasting();
    const before = await Scene.open({}, kept);
    const after = await before.restarted(kept);
    const cited = correctionOf(before.digest, "stay in lane");
    expect(await after.orchestrator.ask(cited)).toMatchObject({ ...STALE, detail: "NOT_LIVE" });
    const again = await after.worker.ask(statusOf("plan A"));
    expect(again).toMatchObject({ changed: true, row: { seq: 3, last_action: "plan A" } });
    expect(await after.orchestrator.ask(cited)).toMatchObject({ ...STALE, current: again["row"] });
    await after.close();
  });
});

describe("law: an admitted correction cites the row of its moment", () => {
  it("whatever rows and citations, past and future, cross on the way", async () => {
    // A citation is of the row that was sent last, one before it, or one or two that are still to come.
    const send = fc.oneof(fc.constant("publish" as const), fc.integer({ min: -1, max: 2 }));
    const sends = fc.array(send, { minLength: 8, maxLength: 20 });
    let [run, admitted] = [0, 0];
    await fc.assert(
      fc.asyncProperty(sends, async (order) => {
        const worker_id = `law-${(run += 1)}`;
        const [worker, orchestrator] = [
          await scene.broker.worker(worker_id),
          await scene.broker.orchestrator(worker_id),
        ];
        const row = { schema: "a2achan.worker-status.v1", worker_id, ...WHERE, live: true } as const;
        const digestAt = (seq: number): string => statusDigest({ ...row, seq, last_action: `step ${seq}` });
        let seq = 0;
        const answers: Promise<Frame>[] = [];
        for (const [at, one] of order.entries()) {
          if (one === "publish") answers.push(worker.ask(statusOf(`step ${(seq += 1)}`)));
          else answers.push(orchestrator.ask(correctionOf(digestAt(seq + one), `say ${at}`, { worker_id })));
        }
        await Promise.all(answers);
        worker.drop();
        orchestrator.drop();
        scene.broker.clock.advance(1_000);
        let current: unknown;
        const strays: unknown[] = [];
        for (const entry of await scene.broker.entries()) {
          if (entry["worker_id"] !== worker_id) continue;
          const cited = (entry["content"] as Record<string, unknown> | undefined)?.["status_digest"];
          if (entry["kind"] === "status") current = entry["status_digest"];
          if (entry["kind"] === "admitted") admitted += 1;
          const wrong = cited === current ? entry["detail"] === "DIGEST" : entry["kind"] === "admitted";
          if (wrong) strays.push(entry);
        }
        expect(strays).toEqual([]);
        expect(current).toBe(seq === 0 ? undefined : digestAt(seq));
      }),
      { numRuns: 25 },
    );
    expect(admitted).toBeGreaterThan(0);
  });
});

describe("law: an honest orchestrator makes progress", () => {
  it("admits it within 21 tries of one second, though a new row is published between every read and send", async () => {
    // 20 gaps of at most 49 ms: all 21 tries fall within 1,000 ms, in which a worker has 20 new rows.
    const gaps = fc.array(fc.nat({ max: 49 }), { minLength: 20, maxLength: 20 });
    let step = 0;
    await fc.assert(
      fc.asyncProperty(gaps, async (waits) => {
        scene.broker.clock.advance(1_000);
        const view = await scene.view();
        let row = view["row"] as WorkerStatus;
        for (const wait of waits) {
          await scene.worker.ask(statusOf(`step ${(step += 1)}`));
          const refused = await scene.orchestrator.ask(correctionOf(statusDigest(row), `try ${step}`));
          expect(refused).toMatchObject(STALE);
          row = refused["current"] as WorkerStatus;
          scene.broker.clock.advance(wait);
        }
        const limited = { type: "refusal", reason: "RATE_LIMITED", detail: "RATE" };
        expect(await scene.worker.ask(statusOf(`step ${(step += 1)}`))).toMatchObject(limited);
        const last = await scene.orchestrator.ask(correctionOf(statusDigest(row), `try ${step}`, { ttl_ms: 1 }));
        expect(last).toMatchObject({ verdict: "ALLOW" });
      }),
      { numRuns: 10 },
    );
  });
});
