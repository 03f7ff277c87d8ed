import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { A2achanError } from "../../../src/client/errors.js";
import { openOrchestrator, type CorrectOptions, type Orchestrator } from "../../../src/client/orchestrator.js";
import type { Admitted, Receipt } from "../../../src/client/receipt.js";
import { statusDigest } from "../../../src/protocol/index.js";
import { corr, rowOf, stageFrame, viewFrame } from "../../support/client-frames.js";
import { FIRST_RETRY_MS, ScriptedBroker, stillRuntime, type Script } from "../../support/scripted-broker.js";

let broker: ScriptedBroker;
let runtime: ReturnType<typeof stillRuntime>;
let client: Orchestrator;
let script: Script;

beforeEach(async () => {
  broker = await ScriptedBroker.start();
  runtime = stillRuntime();
  const opening = openOrchestrator({ url: broker.url, token: "t" }, runtime);
  script = await broker.accept();
  await script.welcome("orchestrator");
  client = await opening;
});

afterEach(async () => {
  await client.close();
  await broker.stop();
});

async function reconnect(welcome: Record<string, unknown> = {}): Promise<Record<string, unknown>> {
  script.drop();
  await runtime.clock.fire(FIRST_RETRY_MS);
  script = await broker.accept();
  return script.welcome("orchestrator", welcome);
}

function allow(id: unknown, digit: number, fields: Record<string, unknown> = {}): Record<string, unknown> {
  return {
    type: "receipt",
    id,
    verdict: "ALLOW",
    correction_id: corr(digit),
    stage: "ADMITTED",
    index: 10 + digit,
    bytes: 5,
    expires_at: 600_000,
    deliverable: true,
    ...fields,
  };
}

/** Sends a correction whose receipt is given, with what follows it in the same breath. */
async function corrected(
  receipt: (id: unknown) => Record<string, unknown>,
  options: CorrectOptions = {},
  ...following: Record<string, unknown>[]
): Promise<Receipt> {
  const call = client.correct(rowOf(), "Stay.", options);
  const { id } = await script.next();
  script.sendAtOnce(receipt(id), ...following);
  return call;
}

async function admitted(digit: number, ...following: Record<string, unknown>[]): Promise<Admitted> {
  const receipt = await corrected((id) => allow(id, digit), {}, ...following);
  if (receipt.verdict === "DENY") throw new Error(receipt.advice);
  return receipt;
}

async function collect<T>(stream: AsyncIterable<T>): Promise<T[]> {
  const items: T[] = [];
  for await (const item of stream) items.push(item);
  return items;
}

async function codeOf(work: Promise<unknown>): Promise<string> {
  return work.then(
    () => "resolved",
    (error: unknown) => (error instanceof A2achanError ? error.code : String(error)),
  );
}

describe("correct", () => {
  it("cites the row in hand: its digest, issue, task and lane, with a fresh key [A2C-ADM-37]", async () => {
    const row = rowOf({ task_id: "t-1", seq: 7, next_action: { summary: "think", reflects: [] } });
    void client.correct(row, "Stay.").catch(() => {});
    void client.correct({ row, liveness: "live" } as { row: typeof row }, "Stay.").catch(() => {});
    const expected = {
      type: "correct",
      worker_id: "w-1",
      issue: "2162",
      task_id: "t-1",
      lane: "src",
      message: "Stay.",
      status_digest: statusDigest(row),
    };
    expect(await script.next()).toEqual({ ...expected, id: "r1", key: "k1" });
    expect(await script.next()).toEqual({ ...expected, id: "r2", key: "k2" });
  });

  it("passes its options on and fills none in", async () => {
    void client
      .correct(rowOf(), "Stay.", {
        key: "mine",
        ttl_ms: 5_000,
        priority: "halt",
        freshness: "exact",
        supersedes: corr(1),
        max_bytes: 100,
      })
      .catch(() => {});
    expect(await script.next()).toEqual({
      type: "correct",
      id: "r1",
      worker_id: "w-1",
      issue: "2162",
      lane: "src",
      message: "Stay.",
      status_digest: statusDigest(rowOf()),
      key: "mine",
      ttl_ms: 5_000,
      priority: "halt",
      freshness: "exact",
      supersedes: corr(1),
      max_bytes: 100,
    });
  });

  it("cites another digest if it is told to, and then does not say what moved", async () => {
    const read = rowOf({ seq: 3 });
    const current = rowOf({ seq: 5 });
    const deny = (id: unknown) => ({
      type: "receipt",
      id,
      verdict: "DENY",
      reason: "UNWITNESSED",
      detail: "DIGEST",
      current,
    });
    const call = client.correct(rowOf({ seq: 4 }), "Stay.", { digest: statusDigest(read) });
    const asked = await script.next();
    expect(asked["status_digest"]).toBe(statusDigest(read));
    script.send(deny(asked["id"]));
    expect(await call).toMatchObject({ verdict: "DENY", moved: [], current });
    const known = client.correct(read, "Stay.", { digest: statusDigest(read) });
    script.send(deny((await script.next())["id"]));
    expect(await known).toMatchObject({ moved: [{ field: "seq", cited: 3, current: 5 }] });
  });

  it("resolves with an admission, its stages and its outcome", async () => {
    const receipt = await admitted(1, stageFrame(1, "DELIVERED", 12));
    expect(receipt).toMatchObject({
      verdict: "ALLOW",
      sent: true,
      correction_id: corr(1),
      stage: "ADMITTED",
      index: 11,
      expires_at: 600_000,
      deliverable: true,
      replayed: false,
    });
    const stages = collect(receipt.stages());
    script.send(stageFrame(1, "ACKED", 13));
    script.send(stageFrame(2, "DELIVERED", 14));
    script.send(stageFrame(1, "WITNESSED", 15, { echo: true }));
    expect(await receipt.outcome).toEqual({
      correction_id: corr(1),
      worker_id: "w-1",
      stage: "WITNESSED",
      echo: true,
      index: 15,
      at: 1_015,
    });
    expect((await stages).map(({ stage, index }) => [stage, index])).toEqual([
      ["ADMITTED", 11],
      ["DELIVERED", 12],
      ["ACKED", 13],
      ["WITNESSED", 15],
    ]);
    expect((await collect(receipt.stages())).length).toBe(4);
  });

  it("resolves with a refusal that tells what moved and what to do", async () => {
    const current = rowOf({ seq: 3, lane: "docs", last_action: "wrote", next_action: { summary: "a", reflects: [] } });
    const receipt = await corrected((id) => ({
      type: "receipt",
      id,
      verdict: "DENY",
      reason: "UNWITNESSED",
      detail: "DIGEST",
      bytes: 5,
      correction_id: corr(1),
      index: 11,
      current,
    }));
    expect(receipt).toEqual({
      verdict: "DENY",
      sent: false,
      reason: "UNWITNESSED",
      detail: "DIGEST",
      bytes: 5,
      correction_id: corr(1),
      index: 11,
      current,
      moved: [
        { field: "lane", cited: "src", current: "docs" },
        { field: "seq", cited: 1, current: 3 },
        { field: "last_action", cited: undefined, current: "wrote" },
        { field: "next_action", cited: undefined, current: { summary: "a", reflects: [] } },
      ],
      advice: "The row has changed since it was read; read it again, decide again, and send again.",
    });
  });

  it("counts a plan as moved when its summary or its reflects differ, and not otherwise", async () => {
    const cited = rowOf({ next_action: { summary: "a", reflects: [corr(1)] } });
    const moved = async (next: { summary: string; reflects: string[] }): Promise<string[]> => {
      const call = client.correct(cited, "Stay.");
      const { id } = await script.next();
      const current = rowOf({ seq: 2, next_action: next });
      script.send({ type: "receipt", id, verdict: "DENY", reason: "UNWITNESSED", detail: "DIGEST", current });
      const receipt = await call;
      return receipt.verdict === "DENY" ? receipt.moved.map(({ field }) => field) : [];
    };
    expect(await moved({ summary: "a", reflects: [corr(1)] })).toEqual(["seq"]);
    expect(await moved({ summary: "b", reflects: [corr(1)] })).toEqual(["seq", "next_action"]);
    expect(await moved({ summary: "a", reflects: [] })).toEqual(["seq", "next_action"]);
  });

  it("tells the limit that an oversize message broke", async () => {
    const receipt = await corrected((id) => ({
      type: "receipt",
      id,
      verdict: "DENY",
      reason: "OVERSIZE",
      bytes: 1_025,
      max_bytes: 1_024,
      folded: true,
    }));
    expect(receipt).toEqual({
      verdict: "DENY",
      sent: false,
      reason: "OVERSIZE",
      bytes: 1_025,
      max_bytes: 1_024,
      folded: true,
      moved: [],
      advice: "The text is 1025 bytes of at most 1024; shorten it.",
    });
  });

  it("reports a repeat of an ended correction as not sent [A2C-ADM-39]", async () => {
    const receipt = await corrected((id) => allow(id, 1, { stage: "EXPIRED", replayed: true }), { key: "again" });
    expect(receipt).toMatchObject({ verdict: "ALLOW", sent: false, replayed: true, stage: "EXPIRED" });
    const asked = await script.next();
    expect(asked).toEqual({ type: "stage", id: "r2", correction_id: corr(1) });
    script.send(stageFrame(1, "EXPIRED", 20, { id: asked["id"], detail: "WINDOW" }));
    expect(await (receipt as Admitted).outcome).toMatchObject({ stage: "EXPIRED", detail: "WINDOW", index: 20 });
  });

  it.each(["ADMITTED", "DELIVERED", "WITNESSED"])("reports a repeat of one that is %s as sent", async (stage) => {
    const receipt = await corrected((id) => allow(id, 1, { stage, replayed: true }), { key: "again" });
    expect(receipt).toMatchObject({ verdict: "ALLOW", sent: true, replayed: true, stage });
  });

  it("says of an id that is not this sender's that it is not, and asks for no other token", async () => {
    const asking = client.stage(corr(9));
    const { id } = await script.next();
    script.send({ type: "refusal", id, reason: "DEFAULT_DENY", detail: "NO_GRANT" });
    expect(await asking).toMatchObject({
      refused: true,
      detail: "NO_GRANT",
      advice: "This token has sent no such correction, or the broker keeps it no more; check its id.",
    });
  });

  it("rejects the outcome of a repeat that the broker no longer knows", async () => {
    const receipt = await corrected((id) => allow(id, 1, { stage: "ACKED", replayed: true }), { key: "again" });
    const { id } = await script.next();
    script.send({ type: "refusal", id, reason: "DEFAULT_DENY", detail: "NO_GRANT" });
    expect(await codeOf((receipt as Admitted).outcome)).toBe("unknown_outcome");
  });

  it("rejects an outcome that nobody waits for without a fuss when the client ends", async () => {
    const receipt = await admitted(1);
    script.close(4401);
    expect(await codeOf(receipt.outcome)).toBe("unauthenticated");
    expect(await codeOf(collect(receipt.stages()))).toBe("unauthenticated");
  });
});

describe("a reconnect", () => {
  it("resumes from the last cursor and tells each stage once and in order [A2C-LIFE-06]", async () => {
    const receipt = await admitted(1, stageFrame(1, "DELIVERED", 12, { cursor: "log.13" }));
    const all = client.stages();
    const stages = collect(receipt.stages());
    expect(await reconnect({ cursor: "log.16" })).toEqual({
      type: "hello",
      id: "hello",
      role: "orchestrator",
      client: "a2achan-sdk",
      resume_from: "log.13",
    });
    script.send(stageFrame(1, "DELIVERED", 12, { cursor: "log.13" }));
    script.send(stageFrame(1, "ACKED", 13, { cursor: "log.14" }));
    script.send(stageFrame(1, "ACKED", 13, { cursor: "log.14" }));
    script.send(stageFrame(1, "UNREFLECTED", 15, { cursor: "log.16" }));
    expect((await stages).map(({ stage }) => stage)).toEqual(["ADMITTED", "DELIVERED", "ACKED", "UNREFLECTED"]);
    const seen = [(await all.next()).value?.stage, (await all.next()).value?.stage];
    expect(seen).toEqual(["ACKED", "UNREFLECTED"]);
  });

  it("resumes from the welcome's cursor when no stage came", async () => {
    await admitted(1);
    expect(await reconnect()).toMatchObject({ resume_from: "log.10" });
  });

  it("sends a correction in doubt again, key and all, and its replayed receipt finds the stages told meanwhile [A2C-ADM-38]", async () => {
    const all = client.stages();
    const call = client.correct(rowOf(), "Stay.");
    const sent = await script.next();
    await reconnect({ cursor: "log.13" });
    expect(await script.next()).toEqual(sent);
    script.send(stageFrame(1, "ADMITTED", 11, { cursor: "log.12" }));
    script.send(stageFrame(1, "DELIVERED", 12, { cursor: "log.13" }));
    script.send(allow(sent["id"], 1, { stage: "DELIVERED", replayed: true }));
    const receipt = await call;
    expect(receipt).toMatchObject({ verdict: "ALLOW", sent: true, replayed: true, stage: "DELIVERED" });
    script.send(stageFrame(1, "DECLINED", 14, { cursor: "log.15" }));
    const stages = await collect((receipt as Admitted).stages());
    expect(stages.map(({ stage, index }) => [stage, index])).toEqual([
      ["ADMITTED", 11],
      ["DELIVERED", 12],
      ["DECLINED", 14],
    ]);
    expect([(await all.next()).value?.stage, (await all.next()).value?.stage]).toEqual(["ADMITTED", "DELIVERED"]);
    await script.ping();
    expect(script.unread).toEqual([]);
  });

  it("skips no stage where the replayed receipt comes before what is resumed, nor where an answer does", async () => {
    const call = client.correct(rowOf(), "Stay.");
    const sent = await script.next();
    await reconnect({ cursor: "log.15" });
    expect(await script.next()).toEqual(sent);
    script.send(allow(sent["id"], 1, { stage: "WITNESSED", replayed: true }));
    const receipt = await call;
    await script.ping();
    expect(script.unread).toEqual([]);
    const [asking, withdrawing] = [client.stage(corr(1)), client.withdraw(corr(1))];
    for (let asked = 0; asked < 2; asked += 1) {
      script.send(stageFrame(1, "WITNESSED", 14, { id: (await script.next())["id"] }));
    }
    expect(await asking).toMatchObject({ stage: "WITNESSED" });
    expect(await withdrawing).toMatchObject({ stage: "WITNESSED" });
    for (const [stage, index] of [
      ["ADMITTED", 11],
      ["DELIVERED", 12],
      ["ACKED", 13],
      ["WITNESSED", 14],
    ] as const) {
      script.send(stageFrame(1, stage, index, { cursor: `log.${index + 1}` }));
    }
    const stages = await collect((receipt as Admitted).stages());
    expect(stages.map(({ stage }) => stage)).toEqual(["ADMITTED", "DELIVERED", "ACKED", "WITNESSED"]);
  });

  it("asks behind a gap for each outcome that is awaited", async () => {
    const [over, open, lost] = [await admitted(1), await admitted(2), await admitted(3)];
    const done = await admitted(4, stageFrame(4, "DECLINED", 20, { cursor: "log.21" }));
    await done.outcome;
    await reconnect({ gap: true, cursor: "other.50" });
    const asked = [await script.next(), await script.next(), await script.next()];
    expect(asked.map((frame) => [frame.type, frame["correction_id"]])).toEqual([
      ["stage", corr(1)],
      ["stage", corr(2)],
      ["stage", corr(3)],
    ]);
    script.send(stageFrame(1, "WITNESSED", 30, { id: asked[0]!["id"] }));
    script.send(stageFrame(2, "DELIVERED", 31, { id: asked[1]!["id"] }));
    script.send({ type: "refusal", id: asked[2]!["id"], reason: "DEFAULT_DENY", detail: "NO_GRANT" });
    expect(await over.outcome).toMatchObject({ stage: "WITNESSED", index: 30 });
    expect(await codeOf(lost.outcome)).toBe("unknown_outcome");
    script.send(stageFrame(2, "STALE", 55, { detail: "RUN_CHANGED", cursor: "other.56" }));
    expect(await open.outcome).toMatchObject({ stage: "STALE", detail: "RUN_CHANGED" });
  });

  it("does not let its cursor go back behind a gap", async () => {
    await reconnect({ gap: true, cursor: "other.50" });
    script.send(stageFrame(1, "DELIVERED", 40, { cursor: "other.41" }));
    script.send(stageFrame(2, "ADMITTED", 20, { cursor: "other.21" }));
    await script.ping();
    script.drop();
    await runtime.clock.fire(250);
    script = await broker.accept();
    expect(await script.welcome("orchestrator")).toMatchObject({ resume_from: "other.41" });
  });
});

describe("stages", () => {
  it("tells every correction of the sender, those of its other sessions included", async () => {
    const all = client.stages();
    await admitted(1);
    script.send(stageFrame(2, "ADMITTED", 12));
    script.send(stageFrame(1, "DELIVERED", 13));
    const seen = [];
    for (let n = 0; n < 3; n += 1) seen.push((await all.next()).value);
    expect(seen.map((notice) => [notice?.correction_id, notice?.stage])).toEqual([
      [corr(1), "ADMITTED"],
      [corr(2), "ADMITTED"],
      [corr(1), "DELIVERED"],
    ]);
  });

  it("does not tell an end again that was the answer to withdraw", async () => {
    const all = client.stages();
    const receipt = await admitted(1);
    const call = client.withdraw(corr(1));
    const asked = await script.next();
    expect(asked).toEqual({ type: "withdraw", id: "r2", correction_id: corr(1) });
    script.sendAtOnce(
      stageFrame(1, "WITHDRAWN", 12, { id: asked["id"] }),
      stageFrame(1, "WITHDRAWN", 12, { cursor: "log.13" }),
      stageFrame(2, "ADMITTED", 13, { cursor: "log.14" }),
    );
    expect(await call).toMatchObject({ stage: "WITHDRAWN" });
    expect(await receipt.outcome).toMatchObject({ stage: "WITHDRAWN" });
    const seen = [];
    for (let n = 0; n < 3; n += 1) seen.push((await all.next()).value?.stage);
    expect(seen).toEqual(["ADMITTED", "WITHDRAWN", "ADMITTED"]);
  });

  it("says nothing of an old correction that was only asked about", async () => {
    const all = client.stages();
    const call = client.stage(corr(1));
    const { id } = await script.next();
    script.send(stageFrame(1, "WITNESSED", 2, { id }));
    expect(await call).toMatchObject({ stage: "WITNESSED" });
    script.send(stageFrame(2, "ADMITTED", 13));
    expect((await all.next()).value).toMatchObject({ correction_id: corr(2) });
  });

  it("ends quietly when the client is closed", async () => {
    const stages = collect(client.stages());
    await client.close();
    expect(await stages).toEqual([]);
  });
});

describe("workers", () => {
  const rows = (id: unknown, views: object[], done = true): Record<string, unknown> => ({
    type: "rows",
    id,
    rows: views,
    ...(done && { cursor: "log.11", done: true }),
  });

  it("yields the snapshot, page by page, then each change", async () => {
    const workers = client.workers({ lane: "src", issue: 2162 });
    const watch = await script.next();
    expect(watch).toEqual({ type: "watch", id: "r1", filter: { lane: "src", issue: "2162" } });
    script.send(rows(watch["id"], [viewFrame()], false));
    script.send(rows(watch["id"], [viewFrame({ worker_id: "w-2" })]));
    expect((await workers.next()).value).toEqual(viewFrame());
    expect((await workers.next()).value).toEqual(viewFrame({ worker_id: "w-2" }));
    const next = workers.next();
    script.send({ type: "row", ...viewFrame({ seq: 2 }) });
    expect((await next).value).toEqual(viewFrame({ seq: 2 }));
    script.send({ type: "row", worker_id: "w-2", gone: true });
    expect((await workers.next()).value).toEqual({ worker_id: "w-2", gone: true });
  });

  it("lets changes fall together that were not taken yet", async () => {
    const workers = client.workers();
    const { id } = await script.next();
    script.send(rows(id, [viewFrame()]));
    expect((await workers.next()).value).toEqual(viewFrame());
    for (const seq of [2, 3, 4]) script.send({ type: "row", ...viewFrame({ seq }) });
    script.send({ type: "row", ...viewFrame({ worker_id: "w-2" }) });
    script.send({ type: "row", worker_id: "w-2", gone: true });
    await script.ping();
    expect((await workers.next()).value).toEqual(viewFrame({ seq: 4 }));
    script.send({ type: "row", ...viewFrame({ worker_id: "w-3" }) });
    expect((await workers.next()).value).toEqual(viewFrame({ worker_id: "w-3" }));
  });

  it("watches again after a reconnect and yields only what changed meanwhile", async () => {
    const workers = client.workers();
    const first = await script.next();
    script.send(rows(first["id"], [viewFrame(), viewFrame({ worker_id: "w-2" }), viewFrame({ worker_id: "w-3" })]));
    for (let n = 0; n < 3; n += 1) await workers.next();
    await reconnect();
    const again = await script.next();
    expect(again).toEqual({ type: "watch", id: "r2", filter: {} });
    script.send(rows(again["id"], [viewFrame(), viewFrame({ worker_id: "w-2", seq: 2 })]));
    expect((await workers.next()).value).toEqual(viewFrame({ worker_id: "w-2", seq: 2 }));
    expect((await workers.next()).value).toEqual({ worker_id: "w-3", gone: true });
  });

  it("serves readers with different filters by one watch for everything", async () => {
    const src = client.workers({ lane: "src" });
    const first = await script.next();
    script.send(rows(first["id"], [viewFrame()]));
    expect((await src.next()).value).toEqual(viewFrame());
    const docs = client.workers({ lane: "doc*", live: true });
    const wider = await script.next();
    expect(wider).toMatchObject({ type: "watch", filter: {} });
    const both = [viewFrame(), viewFrame({ worker_id: "w-2", lane: "docs" })];
    script.send(rows(wider["id"], [...both, viewFrame({ worker_id: "w-3", lane: "docs", live: false })]));
    expect((await docs.next()).value).toEqual(viewFrame({ worker_id: "w-2", lane: "docs" }));
    script.send({ type: "row", ...viewFrame({ lane: "docs", seq: 2 }) });
    expect((await src.next()).value).toEqual({ worker_id: "w-1", gone: true });
    expect((await docs.next()).value).toEqual(viewFrame({ lane: "docs", seq: 2 }));
    await docs.return?.();
    expect(await script.next()).toMatchObject({ type: "watch", filter: { lane: "src" } });
    await src.return?.();
    expect(await script.next()).toMatchObject({ type: "unwatch" });
  });

  it("yields a refusal as its last item", async () => {
    const workers = client.workers();
    const { id } = await script.next();
    script.send({ type: "refusal", id, reason: "DEFAULT_DENY", detail: "NO_GRANT" });
    expect(await collect(workers)).toMatchObject([{ refused: true, reason: "DEFAULT_DENY", detail: "NO_GRANT" }]);
  });

  it("is given up with aborted", async () => {
    const controller = new AbortController();
    const next = codeOf(client.workers({}, { signal: controller.signal }).next());
    await script.next();
    controller.abort();
    expect(await next).toBe("aborted");
    expect(await script.next()).toMatchObject({ type: "unwatch" });
  });
});

describe("list and get", () => {
  it("lists a page and says where the next one starts", async () => {
    const call = client.list({ worker_id: "w-*" }, { after: "w-0", limit: 1 });
    const frame = await script.next();
    expect(frame).toEqual({ type: "list", id: "r1", filter: { worker_id: "w-*" }, after: "w-0", limit: 1 });
    script.send({ type: "rows", id: frame["id"], rows: [viewFrame()], next: "w-1" });
    expect(await call).toEqual({ rows: [viewFrame()], next: "w-1" });
  });

  it("gets one worker, or none", async () => {
    const one = client.get("w-1");
    script.send({ type: "row", id: (await script.next())["id"], ...viewFrame() });
    expect(await one).toEqual(viewFrame());
    const none = client.get("w-9");
    script.send({ type: "row", id: (await script.next())["id"] });
    expect(await none).toBeUndefined();
  });
});
