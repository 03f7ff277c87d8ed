import { expect, it, vi } from "vitest";
import type * as Kernel from "../../src/kernel/index.js";
import { MemoryStore } from "../../src/index.js";
import { LocalBroker, turn, until } from "../support/local.js";
import { correctionOf, publish, statusOf } from "../support/scenes.js";
import { HeldStore } from "../support/stores.js";
import type { Frame } from "../support/wire.js";

const poison = vi.hoisted(() => ({ error: new Error("a fault of the kernel"), at: "" }));

// A kernel with one fault: it breaks off in the middle of a step, the state half moved.
vi.mock("../../src/kernel/index.js", async (original) => {
  const kernel = await original<typeof Kernel>();
  return {
    ...kernel,
    step: (...given: Parameters<typeof kernel.step>) => {
      const result = kernel.step(...given);
      if (given[1].kind === poison.at) throw poison.error;
      return result;
    },
  };
});

const FAULT = { code: 4500, reason: "broker stopped on a fault" };

it("a kernel that throws stops the broker: everything is closed 4500, nothing of the step is written or told [A2C-ANS-04] [A2C-ANS-05] [A2C-ANS-06]", async () => {
  const store = new MemoryStore();
  const local = await LocalBroker.open({ store });
  const [worker, orch] = [await local.worker("w-1"), await local.orchestrator("orch")];
  const digest = await publish(worker);
  const size = store.size();
  const heard = [worker.frames.length, orch.frames.length];

  poison.at = "correct";
  orch.tell(correctionOf("w-1", digest, "Keep the names."));
  expect(await local.broker.faulted).toBe(poison.error);
  expect([worker.closedWith, orch.closedWith]).toEqual([FAULT, FAULT]);
  worker.tell(statusOf("after the end"));
  await turn();
  expect([worker.frames.length, orch.frames.length]).toEqual(heard);
  expect(store.size()).toBe(size);
  await expect(local.workerToken("w-2")).rejects.toThrow("the broker has stopped");
  await local.stop();
  poison.at = "";
});

it("a kernel that throws leaves no answer behind that an append on its way could still let go [A2C-ANS-06]", async () => {
  const store = new HeldStore();
  const local = await LocalBroker.open({ store });
  const worker = await local.worker("w-1");
  const digest = await publish(worker);
  const orch = await local.orchestrator("orch");
  store.hold();
  const asked = worker.tell(statusOf("on its way to the disk"));
  const stranger = local.client();
  stranger.tell({ type: "hello", role: "orchestrator", scope: "all" });
  await store.arrived();
  worker.tell(statusOf("behind it"));
  poison.at = "correct";
  orch.tell(correctionOf("w-1", digest, "Keep the names."));
  expect(stranger.closedWith).toEqual(FAULT);
  const { appends } = store;
  store.release();
  await turn();
  expect([stranger.frames, worker.reply(asked)]).toEqual([[], undefined]);
  expect(store.appends).toBe(appends);
  await local.stop();
  poison.at = "";
});

it("a kernel that throws in a timer of the broker stops it as well [A2C-ANS-05]", async () => {
  const local = await LocalBroker.open({ store: new MemoryStore() });
  const [worker, orch] = [await local.worker("w-1"), await local.orchestrator("orch")];
  const receipt: Frame = await orch.ask(correctionOf("w-1", await publish(worker), "Keep the names."));
  expect(receipt["verdict"]).toBe("ALLOW");
  poison.at = "tick";
  local.clock.advance(600_000);
  await until(() => worker.closedWith !== undefined);
  expect([worker.closedWith, await local.broker.faulted]).toEqual([FAULT, poison.error]);
  await local.stop();
  poison.at = "";
});
