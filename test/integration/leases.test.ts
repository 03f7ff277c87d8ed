import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { LocalBroker, turn, type LocalClient } from "../support/local.js";
import { publish, SCOPE } from "../support/scenes.js";
import { HeldStore } from "../support/stores.js";
import type { Frame } from "../support/wire.js";

const CORRECTION = `corr_${"0".repeat(32)}`;

let store: HeldStore;
let local: LocalBroker;
let token: string;
let worker: LocalClient;
let watcher: LocalClient;

beforeEach(async () => {
  store = new HeldStore();
  local = await LocalBroker.open({ store });
  token = await local.workerToken("w-1");
  watcher = await local.orchestrator("orch");
  worker = await local.hello(token, { role: "worker", worker_id: "w-1" });
  await publish(worker);
});
afterEach(() => local.stop());

const liveness = async (): Promise<unknown> => (await watcher.ask({ type: "get", worker_id: "w-1" }))["liveness"];

describe("the lease of a worker", () => {
  it.each<[string, Frame]>([
    ["that is answered", { type: "ping" }],
    ["that is refused", { type: "receive", correction_id: CORRECTION }],
    ["of bad shape", { type: "status", ...SCOPE, seq: 1 }],
    ["that its role may not send", { type: "list" }],
  ])("is renewed by a frame %s, and lapses without one [A2C-LIVE-03]", async (_, frame) => {
    local.clock.advance(59_999);
    await worker.ask(frame);
    local.clock.advance(59_999);
    expect(await liveness()).toBe("live");
    local.clock.advance(1);
    expect(await liveness()).toBe("dead");
  });

  it("is what its newest session asked for [A2C-LIVE-01]", async () => {
    await local.hello(token, { role: "worker", worker_id: "w-1", lease_ms: 45_000 });
    local.clock.advance(44_999);
    expect(await liveness()).toBe("live");
    local.clock.advance(1);
    expect(await liveness()).toBe("dead");
  });

  it("is not renewed by a session that is being fenced [A2C-LIVE-03]", async () => {
    store.hold();
    const second = local.client();
    second.tell({ type: "hello", token, role: "worker", worker_id: "w-1" });
    local.clock.advance(59_999);
    worker.tell({ type: "ping" });
    local.clock.advance(1);
    store.release();
    await turn();
    expect(await liveness()).toBe("dead");
  });
});
