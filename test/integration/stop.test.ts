import { expect, it } from "vitest";
import { LocalBroker } from "../support/local.js";
import { HeldStore } from "../support/stores.js";
import { statusOf } from "../support/scenes.js";

it("answers all that was decided before it closes anybody, more than one turn lets go included [A2C-ANS-08]", async () => {
  const store = new HeldStore();
  const limits = { frames_per_second: 1e6, frames_burst: 1e6, digests_per_window: 1e6 };
  const local = await LocalBroker.open({ store, limits });
  const worker = await local.worker("w-1");
  let closedAt = 0;
  const close = worker.close.bind(worker);
  worker.close = (how) => {
    closedAt = worker.frames.length;
    close(how);
  };
  store.hold();
  const ids = Array.from({ length: 1_000 }, (_, at) => worker.tell(statusOf(`step ${at}`)));
  const stopped = local.stop();
  store.release();
  await stopped;
  expect(ids.filter((id) => worker.reply(id)?.type !== "row")).toEqual([]);
  expect([worker.closedWith?.code, closedAt]).toEqual([4503, worker.frames.length]);
});
