import { afterEach, describe, expect, it } from "vitest";
import { MemoryTokenHashes } from "../../src/broker/tokens.js";
import { MemoryStore } from "../../src/storage/memory.js";
import { TestBroker } from "../support/broker.js";
import { FakeClock } from "../support/fake-clock.js";
import { randomFrom } from "../support/random.js";
import { admit, publish } from "../support/scenes.js";
import type { Frame } from "../support/wire.js";

const DAY = 86_400_000;
const BEGIN = 1_800_000_000_000;

let broker: TestBroker;
afterEach(() => broker.stop());

const stage = (name: string) => (frame: Frame) => frame.type === "stage" && frame["stage"] === name;

async function expectTimesInOrder(): Promise<number[]> {
  const times = (await broker.entries()).map(({ at }) => at as number);
  expect(times).toEqual(times.toSorted((a, b) => a - b));
  return times;
}

describe("a wall clock that jumps", () => {
  it("never takes log time back, nor ends a lease early or late, whatever its jumps [A2C-LIVE-15] [A2C-LIVE-16]", async () => {
    broker = await TestBroker.start();
    const random = randomFrom(7);
    const watcher = await broker.orchestrator("orch");
    for (let round = 0; round < 20; round += 1) {
      const id = `w-${round}`;
      const worker = await broker.worker(id);
      await publish(worker);
      const lease = { type: "get", worker_id: id };
      worker.drop();
      await watcher.ask({ type: "watch" });
      while ((await watcher.ask(lease))["liveness"] !== "suspect");
      for (let left = 59_999; left > 0;) {
        const passed = Math.min(left, 1 + random(20_000));
        broker.clock.jump((random(2) === 0 ? -1 : 1) * random(30 * DAY));
        await broker.advance(passed, watcher);
        left -= passed;
      }
      expect(await watcher.ask(lease)).toMatchObject({ liveness: "suspect", row: { live: true, seq: 1 } });
      await broker.advance(1, watcher);
      expect(await watcher.ask(lease)).toMatchObject({ liveness: "dead", row: { live: false, seq: 2 } });
    }
    await expectTimesInOrder();
  });

  it("back prolongs no correction: its time runs on with the monotonic clock [A2C-LIVE-15]", async () => {
    broker = await TestBroker.start();
    const [worker, orchestrator] = [await broker.worker("w-1"), await broker.orchestrator("orch")];
    await admit(orchestrator, "w-1", await publish(worker), "Soon over.", { ttl_ms: 10_000 });
    broker.clock.jump(-DAY);
    await broker.advance(9_999, orchestrator);
    expect(orchestrator.pushes.filter(stage("EXPIRED"))).toEqual([]);
    await broker.advance(1, orchestrator);
    expect(await orchestrator.push(stage("EXPIRED"))).toMatchObject({ at: BEGIN + 10_000 });
  });

  it("forward takes log time along: what is due by then ends first, and a jump back changes nothing more [A2C-LIVE-15]", async () => {
    broker = await TestBroker.start();
    const [worker, orchestrator] = [await broker.worker("w-1"), await broker.orchestrator("orch")];
    const digest = await publish(worker);
    const first = await admit(orchestrator, "w-1", digest, "Over by tomorrow.");
    broker.clock.jump(DAY);
    const second = await admit(orchestrator, "w-1", digest, "Written tomorrow.", { ttl_ms: 10_000 });
    expect(await orchestrator.push(stage("EXPIRED"))).toMatchObject({ correction_id: first, at: BEGIN + DAY });
    broker.clock.jump(-DAY);
    await broker.advance(10_000, orchestrator);
    const expired = await orchestrator.push(stage("EXPIRED"));
    expect(expired).toMatchObject({ correction_id: second, at: BEGIN + DAY + 10_000 });
    await expectTimesInOrder();
  });

  it("back while no broker runs is made up for: the log goes on from its last time [A2C-LIVE-15]", async () => {
    const keys = { idKey: new Uint8Array(32), logKey: new Uint8Array(32) };
    const log = { store: new MemoryStore(), ...keys, hashes: new MemoryTokenHashes() };
    broker = await TestBroker.start(log);
    await publish(await broker.worker("w-1"));
    await broker.stop();
    broker = await TestBroker.start({ ...log, clock: new FakeClock(BEGIN - DAY) });
    const worker = await broker.worker("w-2");
    broker.clock.advance(5);
    await publish(worker);
    expect((await expectTimesInOrder()).at(-2)).toBe(BEGIN + 5);
  });
});
