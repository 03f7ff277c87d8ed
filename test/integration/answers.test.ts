import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { MemoryStore } from "../../src/index.js";
import { LocalBroker, type LocalClient } from "../support/local.js";
import { admit, correctionOf, publish, statusOf } from "../support/scenes.js";
import type { Frame } from "../support/wire.js";

const CORRECTION_ID = expect.stringMatching(/^corr_[0-9a-f]{32}$/) as string;

let store: MemoryStore;
let local: LocalBroker;
let worker: LocalClient;
let orch: LocalClient;
let digest: string;
let begun: number;

beforeEach(async () => {
  store = new MemoryStore();
  local = await LocalBroker.open({ store });
  worker = await local.worker("w-1");
  orch = await local.orchestrator("orch");
  digest = await publish(worker);
  begun = local.clock.now();
});
afterEach(() => local.stop());

async function entryAt(index: unknown): Promise<Record<string, unknown>> {
  const { entries } = await store.read(index as number, 1);
  return JSON.parse(entries[0] ?? "{}") as Record<string, unknown>;
}

describe("the row that a status is answered with", () => {
  const row = { schema: "a2achan.worker-status.v1", worker_id: "w-1", issue: "2162", lane: "src/parser", live: true };

  it("has every field that was given, and no other [A2C-ROW-01] [A2C-ROW-02]", async () => {
    const bare = await worker.ask({ type: "status", issue: "2162", lane: "src/parser" });
    expect(bare["row"]).toEqual({ ...row, seq: 2 });
    const next_action = { summary: "run the tests", via: "plan" };
    const full = await worker.ask(statusOf("read the issue", { task_id: "t-1", next_action }));
    expect(full["row"]).toEqual({
      ...row,
      seq: 3,
      task_id: "t-1",
      last_action: "read the issue",
      next_action: { summary: "run the tests", reflects: [] },
    });
  });
});

describe("a receipt", () => {
  const frame = (fields: Record<string, unknown> = {}): Frame =>
    correctionOf("w-1", digest, "Keep the names.", { key: "k1", ttl_ms: 5_000, ...fields });

  it("of an admission says all that its sender needs, and no more [A2C-ADM-10] [A2C-ADM-31] [A2C-ADM-40]", async () => {
    const index = store.size();
    expect(await orch.ask(frame())).toEqual({
      type: "receipt",
      id: expect.any(String) as string,
      verdict: "ALLOW",
      correction_id: CORRECTION_ID,
      stage: "ADMITTED",
      index,
      bytes: 15,
      expires_at: begun + 5_000,
      deliverable: true,
    });
  });

  it("of a replay says the admission's index and expiry, and the stage of now [A2C-ADM-04] [A2C-ADM-31]", async () => {
    const { correction_id, index } = await orch.ask(frame());
    local.clock.advance(2_000);
    await worker.ask({ type: "ack", correction_id, status_digest: digest });
    expect(await orch.ask(frame())).toMatchObject({
      replayed: true,
      correction_id,
      index,
      stage: "ACKED",
      expires_at: begun + 5_000,
    });
  });

  it("of a refusal names the correction that it refuses and its own entry, behind what fell due [A2C-ADM-35] [A2C-LIFE-52]", async () => {
    await orch.ask(frame());
    local.clock.freeze(5_000);
    const refused = await orch.ask(frame({ lane: "docs" }));
    expect(refused).toMatchObject({ verdict: "DENY", reason: "TRUST_VIOLATION", detail: "SCOPE", bytes: 15 });
    expect(refused["correction_id"]).toEqual(CORRECTION_ID);
    const index = refused["index"] as number;
    expect(await entryAt(index)).toMatchObject({ kind: "refused", correction_id: refused["correction_id"] });
    expect(await entryAt(index - 1)).toMatchObject({ kind: "expired" });
  });
});

describe("a stage that is pushed", () => {
  const last = (): Frame | undefined => orch.pushes("stage").at(-1);

  it("says the detail of an end [A2C-LIFE-03] [A2C-LIFE-44]", async () => {
    const correction_id = await admit(orch, "w-1", digest, "Keep the names.");
    await publish(worker, "read the issue", { lane: "docs" });
    const stage = { type: "stage", correction_id, worker_id: "w-1", stage: "STALE", detail: "RUN_CHANGED" };
    const index = store.size() - 1;
    expect(last()).toEqual({ ...stage, index, at: begun, cursor: expect.any(String) as string });
  });

  it("says that a planned action is an echo [A2C-LIFE-03] [A2C-LIFE-30]", async () => {
    const planning = await publish(worker, "read the issue", { next_action: { summary: "go on" } });
    const correction_id = await admit(orch, "w-1", planning, "Keep the names.");
    const next_action = { summary: "go on", reflects: [correction_id] };
    await worker.ask({ type: "ack", correction_id, status_digest: planning, next_action });
    const stage = { type: "stage", correction_id, worker_id: "w-1", stage: "WITNESSED", echo: true };
    expect(last()).toMatchObject({ ...stage, at: begun });
  });
});

describe("a stage that is asked for", () => {
  it("has the index and the time of the entry that set it [A2C-LIFE-05] [A2C-ANS-09]", async () => {
    const correction_id = await admit(orch, "w-1", digest, "Keep the names.");
    local.clock.advance(2_000);
    const index = store.size();
    await worker.ask({ type: "receive", correction_id });
    local.clock.advance(1_000);
    const stage = await orch.ask({ type: "stage", correction_id });
    expect(stage).toMatchObject({ type: "stage", worker_id: "w-1", stage: "DELIVERED", index, at: begun + 2_000 });
    expect(await entryAt(index)).toMatchObject({ kind: "delivered", at: begun + 2_000 });
  });
});
