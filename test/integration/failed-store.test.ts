import { afterEach, describe, expect, it } from "vitest";
import { TestBroker } from "../support/broker.js";
import { LocalBroker, turn, type LocalClient } from "../support/local.js";
import { correctionOf, publish, statusOf } from "../support/scenes.js";
import { FailingStore, HeldStore } from "../support/stores.js";

const FAULT = { code: 4500, reason: "broker stopped on a fault" };

let stop: () => Promise<void> = () => Promise.resolve();
afterEach(() => stop());

/** A broker with sessions of every role, whose store is then made to fail by `fail`. */
async function failing(store: FailingStore): Promise<{ local: LocalBroker; clients: LocalClient[]; digest: string }> {
  const local = await LocalBroker.open({ store });
  stop = () => local.stop();
  const worker = await local.worker("w-1");
  const clients = [worker, await local.orchestrator("orch"), await local.auditor("auditor"), local.client()];
  return { local, clients, digest: await publish(worker) };
}

describe("a store that fails", () => {
  it.each(["throws", "rejects", "rejects late"] as const)(
    "closes every session with 4500 and answers nothing more: it %s [A2C-ANS-03] [A2C-ANS-04] [A2C-ANS-05] [A2C-ANS-06]",
    async (how) => {
      const store = new FailingStore(how);
      const { local, clients, digest } = await failing(store);
      const [worker, orch] = clients as [LocalClient, LocalClient];
      store.nth = store.appends + 1;
      const before = clients.map(({ frames }) => frames.length);

      worker.tell(statusOf("on its way to the disk"));
      const lost = orch.tell(correctionOf("w-1", digest, "too late"));
      // The append has begun: what is decided now gathers behind it.
      await Promise.resolve();
      orch.tell(correctionOf("w-1", "sha256:stale", "behind it"));
      expect(await local.broker.faulted).toBe(store.error);

      expect(clients.map(({ closedWith }) => closedWith)).toEqual([FAULT, FAULT, FAULT, FAULT]);
      expect(orch.reply(lost)).toBeUndefined();
      orch.tell({ type: "ping" });
      worker.tell(statusOf("after the end"));
      local.clock.advance(3_600_000);
      await turn();
      expect(clients.map(({ frames }) => frames.length)).toEqual(before);
      expect(store.appends).toBe(store.nth);
    },
  );

  it("stops the broker also when it fails outside of an append [A2C-ANS-05]", async () => {
    const store = new FailingStore();
    const { local, clients } = await failing(store);
    const { appends } = store;
    store.fail();
    expect(await local.broker.faulted).toBe(store.error);
    clients[0]?.tell(statusOf("after the end"));
    await turn();
    expect(clients.map(({ closedWith }) => closedWith)).toEqual([FAULT, FAULT, FAULT, FAULT]);
    expect(store.appends).toBe(appends);
  });

  it("costs who reads it, and nobody else, when it is reading that fails [A2C-LIM-09]", async () => {
    const store = new FailingStore();
    const { clients } = await failing(store);
    const [worker, orch, auditor] = clients as [LocalClient, LocalClient, LocalClient];
    store.unreadable = true;
    auditor.tell({ type: "log", after: 0 });
    await turn();
    expect(clients.map(({ closedWith }) => closedWith)).toEqual([undefined, undefined, FAULT, undefined]);
    await publish(worker, "goes on");
    expect(await orch.ask({ type: "get", worker_id: "w-1" })).toMatchObject({ row: { seq: 2 } });
  });

  it("leaves a broker that can be stopped, and closes the store then", async () => {
    const store = new FailingStore();
    const { local } = await failing(store);
    store.fail();
    await local.broker.faulted;
    await local.stop();
    expect(store.closed).toBe(true);
    expect(local.broker.running).toBe(false);
  });

  it("leaves a broker that turns newcomers away and makes no token [A2C-ANS-04]", async () => {
    const store = new FailingStore();
    const { local } = await failing(store);
    store.nth = store.appends + 1;
    await expect(local.workerToken("w-2")).rejects.toBe(store.error);
    await expect(local.workerToken("w-3")).rejects.toThrow("the broker has stopped");
    expect(local.client().closedWith?.code).toBe(4503);
    expect(store.appends).toBe(store.nth);
  });

  it("rejects the start when it is the first append that fails", async () => {
    const store = new FailingStore("rejects", 1);
    await expect(LocalBroker.open({ store })).rejects.toBe(store.error);
  });

  it("closes sockets with 4500 and is not ready any more [A2C-FRM-36]", async () => {
    const store = new FailingStore();
    const broker = await TestBroker.start({ store });
    stop = () => broker.stop();
    const [worker, orch] = [await broker.worker("w-1"), await broker.orchestrator("orch")];
    store.nth = store.appends + 1;
    void worker.ask(statusOf("on its way to the disk"));
    expect(await worker.closed).toEqual(FAULT);
    expect(await orch.closed).toEqual(FAULT);
    expect((await fetch(`${broker.running.http}/readyz`)).status).toBe(503);
    expect(await broker.running.faulted).toBe(store.error);
  });
});

describe("a broker that stops in order", () => {
  it("answers what it decided, then closes with 4503, and its log ends with broker_stopped [A2C-ANS-08]", async () => {
    const store = new HeldStore();
    const local = await LocalBroker.open({ store });
    const worker = await local.worker("w-1");
    store.hold();
    const asked = worker.tell(statusOf("the last word"));
    const stopped = local.stop();
    const unheard = worker.tell(statusOf("after the last word"));
    await store.arrived();
    await turn();
    expect([worker.reply(asked), worker.closedWith]).toEqual([undefined, undefined]);
    store.release();
    await stopped;
    expect(worker.reply(asked)).toMatchObject({ type: "row", changed: true });
    expect(worker.reply(unheard)).toBeUndefined();
    expect(worker.closedWith).toEqual({ code: 4503, reason: "draining" });
    const { entries } = await store.read(0, 100);
    expect(entries.at(-1)).toContain(`"kind":"broker_stopped"`);
  });

  it("makes no token after that", async () => {
    const local = await LocalBroker.open({ store: new HeldStore() });
    const token = await local.workerToken("w-1");
    await local.stop();
    await expect(local.workerToken("w-2")).rejects.toThrow("the broker has stopped");
    await expect(local.broker.revokeToken(token.slice(4, 12))).rejects.toThrow("the broker has stopped");
  });
});
