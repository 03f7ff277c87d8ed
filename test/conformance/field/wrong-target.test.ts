import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Frame } from "../../support/wire.js";
import { Scene, WHERE, ackOf, correctionOf, delivered, digestIn, lasting, pushed, statusOf } from "./support/scene.js";

let scene: Scene;

beforeEach(async () => {
  scene = await Scene.open();
});

afterEach(() => scene.close());

const SCOPE = { verdict: "DENY", reason: "TRUST_VIOLATION", detail: "SCOPE" };
const BAD_ID = { verdict: "DENY", reason: "MALFORMED", detail: "ID" };

describe("a message for another", () => {
  it("T01: reaches the addressed worker only, of two on one issue in different lanes", async () => {
    const { broker, orchestrator, worker } = scene;
    const other = await broker.worker("W2");
    const second = digestIn(await other.ask(statusOf("plan A", { lane: "lane/b" })));
    const first = await scene.publish("plan A", { lane: "lane/a" });
    const forA = correctionOf(first, "for a", { lane: "lane/a" });
    const receipt = await orchestrator.ask(forA);
    expect(receipt).toMatchObject({ verdict: "ALLOW" });
    expect(await delivered(other)).toEqual([]);
    expect(await delivered(worker)).toMatchObject([{ worker_id: "W1", lane: "lane/a", message: "for a" }]);
    // What is right for the one is right for nobody else.
    expect(await orchestrator.ask({ ...forA, worker_id: "W2" })).toMatchObject({ verdict: "DENY", detail: "DIGEST" });
    const crossed = { ...forA, worker_id: "W2", status_digest: second };
    expect(await orchestrator.ask(crossed)).toMatchObject(SCOPE);
    const taken = { type: "receive", correction_id: receipt["correction_id"] };
    expect(await other.ask(taken)).toMatchObject({ reason: "TRUST_VIOLATION", detail: "CORRECTION" });
    expect(await delivered(other)).toEqual([]);
  });

  it("T03: refuses an answer that does not say which correction it answers, one pending or two", async () => {
    const { worker, digest } = scene;
    const nameless = async (): Promise<void> => {
      const plan = { next_action: { summary: "edit the right file first" } };
      const shape = { type: "refusal", reason: "MALFORMED", detail: "SHAPE", path: "correction_id" };
      for (const type of ["receive", "ack", "decline"]) {
        const rest = {
          receive: {},
          ack: { status_digest: digest, ...plan },
          decline: { status_digest: digest, reason: "no" },
        };
        const frame = { type, ...rest[type as keyof typeof rest] };
        expect(await worker.ask(frame)).toMatchObject(shape);
        expect(await worker.ask({ ...frame, correction_id: null })).toMatchObject(shape);
        const empty = await worker.ask({ ...frame, correction_id: "" });
        expect(empty).toMatchObject({ ...shape, detail: "ID" });
      }
    };
    const first = await scene.admit("A");
    await nameless();
    const second = await scene.admit("B");
    await nameless();
    expect([await scene.stage(first), await scene.stage(second)]).toEqual(["ADMITTED", "ADMITTED"]);
    expect(await scene.view()).toMatchObject({ status_digest: digest, pending: 2 });
  });

  it("T05: admits an exact match of issue, task and lane only", async () => {
    const { orchestrator, digest, worker } = scene;
    const ask = (fields: Record<string, unknown>): Promise<Frame> =>
      orchestrator.ask(correctionOf(digest, "stay in lane", fields));
    for (const other of [
      { issue: "2163" },
      { issue: "02162" },
      { task_id: "gh-2163" },
      { task_id: undefined },
      { lane: "Internal/a2achan" },
      { lane: "internal/a2achan/" },
      { lane: "internal" },
      { lane: "internal/*" },
      { lane: "internal%2Fa2achan" },
    ]) {
      expect(await ask(other), JSON.stringify(other)).toMatchObject(SCOPE);
    }
    for (const broken of [
      { task_id: "" },
      { lane: "internal/a2achan " },
      { lane: "internal/a2ach\u0430n" },
      { lane: "internal//a2achan" },
      { lane: "internal/x/../a2achan" },
      { issue: "2162\n" },
      { issue: "\uff12162" },
    ]) {
      expect(await ask(broken), JSON.stringify(broken)).toMatchObject(BAD_ID);
    }
    expect(await ask({ issue: 2162 })).toMatchObject({ ...BAD_ID, detail: "SHAPE" });
    expect(await delivered(worker)).toEqual([]);
    expect(await ask({})).toMatchObject({ verdict: "ALLOW" });
  });

  it("T06: tells the stages to the principal that sent the correction, and nothing of it to another", async () => {
    const { broker, worker, orchestrator, digest } = scene;
    const second = await broker.orchestrator("O1");
    const other = await broker.orchestrator("O2");
    const id = await scene.admit("A");
    await worker.ask(ackOf(id, digest, { next_action: { summary: "edit the right file first", reflects: [id] } }));
    const stagesOf = async (wire: typeof other): Promise<unknown[]> =>
      (await pushed(wire, "stage")).map((push) => [push["correction_id"], push["stage"]]);
    const told = [
      [id, "DELIVERED"],
      [id, "ACKED"],
      [id, "WITNESSED"],
    ];
    expect(await stagesOf(orchestrator)).toEqual(told);
    expect(await stagesOf(second)).toEqual([[id, "ADMITTED"], ...told]);
    expect(await stagesOf(other)).toEqual([]);
    const none = { type: "refusal", reason: "DEFAULT_DENY", detail: "NO_GRANT" };
    expect(await other.ask({ type: "stage", correction_id: id })).toMatchObject(none);
    expect(await other.ask({ type: "withdraw", correction_id: id })).toMatchObject(none);
    const resumed = await broker.orchestrator("O2", { resume_from: other.welcome["cursor"] });
    expect(await stagesOf(resumed)).toEqual([]);
  });

  it("T07: lets a correction of freshness exact die with its digest, before it reaches a later plan", async () => {
    const { broker, worker, orchestrator, digest } = scene;
    await worker.ask({ type: "inbox", open: false });
    const id = await scene.admit("late", { freshness: "exact" });
    const moved = await worker.ask(statusOf("other step"));
    expect(moved).toMatchObject({
      pending: 0,
      outcomes: [{ correction_id: id, stage: "STALE", detail: "DIGEST_MOVED" }],
    });
    await worker.ask({ type: "inbox", open: true });
    expect(await delivered(worker)).toEqual([]);
    expect(await pushed(orchestrator, "stage")).toMatchObject([
      { correction_id: id, stage: "STALE", detail: "DIGEST_MOVED" },
    ]);
    expect(await scene.stage(id)).toBe("STALE");
    // Neither does an ack of it count, in this session or the next.
    const next = await broker.worker("W1");
    expect(await next.ask(ackOf(id, digest))).toMatchObject({ type: "stage", stage: "STALE" });
    expect(await delivered(next)).toEqual([]);
  });
});

describe("a later run of the worker", () => {
  it("gets nothing that was written for the one before, by another issue, task or lane, a bye or a restart", async () => {
    const { broker, worker, orchestrator } = scene;
    const ends: unknown[] = [];
    for (const [at, moved] of [
      { issue: "2163" },
      { task_id: "gh-2163" },
      { task_id: undefined },
      { lane: "cmd" },
    ].entries()) {
      broker.clock.advance(1_000);
      const id = await scene.admit(`for run ${at}`, {}, await scene.publish(`run ${at}`));
      await worker.ask({ type: "receive", correction_id: id });
      await scene.publish("another run", moved);
      ends.push(await scene.stage(id));
    }
    expect(ends).toEqual(["STALE", "STALE", "STALE", "STALE"]);
    const last = await scene.admit("for the last run", {}, await scene.publish("last run"));
    await worker.ask({ type: "bye" });
    expect(await scene.stage(last)).toBe("ORPHANED");
    const next = await broker.worker("W1");
    const digest = digestIn(await next.ask(statusOf("last run")));
    expect(await delivered(next)).toEqual([]);
    expect(await orchestrator.ask(correctionOf(digest, "for this run"))).toMatchObject({ verdict: "ALLOW" });

    const kept = lasting();
    const before = await Scene.open({}, kept);
    const exact = await before.admit("only for this row", { freshness: "exact" });
    const after = await before.restarted(kept);
    await after.publish("plan A");
    expect(await delivered(after.worker)).toEqual([]);
    expect(await after.stage(exact)).toBe("STALE");
    await after.close();
  });
});

describe("law: only an exact match is admitted", () => {
  const idChar = fc.constantFrom(..."abcXYZ019-_.:/#@%~+".split(""));
  const nearMiss = (value: string): fc.Arbitrary<string> =>
    fc
      .oneof(
        fc
          .record({ at: fc.nat(value.length - 1), char: idChar })
          .map(({ at, char }) => value.slice(0, at) + char + value.slice(at + 1)),
        fc
          .record({ at: fc.nat(value.length), char: idChar })
          .map(({ at, char }) => value.slice(0, at) + char + value.slice(at)),
        fc.nat(value.length - 1).map((at) => value.slice(0, at) + value.slice(at + 1)),
        fc.constantFrom(value.toUpperCase(), value.toLowerCase(), value.split("").toReversed().join("")),
      )
      .filter((miss) => miss !== value && miss.length > 0 && !/\.\.|\/\//.test(miss));

  it("refuses every near miss of issue, task, lane or digest, and then admits the match", async () => {
    const { orchestrator, worker, digest, broker } = scene;
    const exact = { ...WHERE, status_digest: digest };
    const fields = ["issue", "task_id", "lane", "status_digest"] as const;
    const miss = fc
      .constantFrom(...fields)
      .chain((field) => fc.record({ field: fc.constant(field), value: nearMiss(exact[field]) }));
    let attempt = 0;
    await fc.assert(
      fc.asyncProperty(fc.array(miss, { minLength: 1, maxLength: 3 }), async (misses) => {
        broker.clock.advance(1_000);
        const key = `k${(attempt += 1)}`;
        const frame: Frame = { ...correctionOf(digest, "stay in lane", { key }), ...exact };
        const missed = { ...frame, ...Object.fromEntries(misses.map(({ field, value }) => [field, value])) };
        const stale = misses.some(({ field }) => field === "status_digest");
        const refusal = stale
          ? { reason: "UNWITNESSED", detail: "DIGEST" }
          : { reason: "TRUST_VIOLATION", detail: "SCOPE" };
        expect(await orchestrator.ask(missed)).toMatchObject({ verdict: "DENY", ...refusal });
        const sent = await orchestrator.ask(frame);
        expect(sent).toMatchObject({ verdict: "ALLOW", stage: "ADMITTED" });
        const withdrawn = await orchestrator.ask({ type: "withdraw", correction_id: sent["correction_id"] });
        expect(withdrawn).toMatchObject({ stage: "WITHDRAWN" });
      }),
      { numRuns: 80 },
    );
    const keys = (await delivered(worker)).map(({ key }) => key);
    expect(keys).toEqual(Array.from({ length: attempt }, (_, at) => `k${at + 1}`));
  });
});
