import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { MemoryStore } from "../../src/index.js";
import { TestBroker } from "../support/broker.js";
import { admit, correctionOf, publish, statusOf } from "../support/scenes.js";

const KEYS = { idKey: new Uint8Array(32).fill(1), logKey: new Uint8Array(32).fill(2) };

let store: MemoryStore;
let broker: TestBroker;
let correction: string;

/** A correction that was declined, and rows that have moved on. */
beforeEach(async () => {
  store = new MemoryStore();
  broker = await TestBroker.start({ store, ...KEYS });
  const worker = await broker.worker("w-1");
  const lead = await broker.orchestrator("lead");
  const cited = await publish(worker, "read the issue", { next_action: { summary: "look into it" } });
  correction = await admit(lead, "w-1", cited, "Stay in your lane.");
  const reason = "the file is generated";
  await worker.ask({ type: "receive", correction_id: correction });
  await worker.ask({ type: "decline", correction_id: correction, status_digest: cited, reason });
  await worker.ask(statusOf("went on", { next_action: { summary: "stop" } }));
});
afterEach(() => broker.stop());

const textsLeft = async (): Promise<string[]> => {
  const { texts } = await store.read(0, store.size());
  return texts.map(({ utf8 }) => utf8);
};

const ALL = ["look into it", "read the issue", "look into it", "Stay in your lane.", "the file is generated"];
const LAST = ["stop", "went on", "stop"];

async function indexOf(kind: string): Promise<number> {
  const { entries } = await store.read(0, store.size());
  return entries.findIndex((line) => line.includes(`"kind":"${kind}"`));
}

describe("redact", () => {
  it("erases all texts of a correction, or those under one field, and has said so before", async () => {
    expect(await textsLeft()).toEqual([...ALL, ...LAST]);
    const gone = await broker.running.broker.redact({ correction_id: correction, field: "reason" });
    expect(gone).toMatchObject({ redacted: [{ index: await indexOf("declined"), field: "reason" }], elsewhere: [] });
    expect(await textsLeft()).toEqual([...ALL.slice(0, -1), ...LAST]);
    await broker.running.broker.redact({ correction_id: correction });
    expect(await textsLeft()).toEqual([...ALL.slice(0, -2), ...LAST]);
    const said = (await broker.entries()).filter(({ kind }) => kind === "redacted");
    expect(said.map(({ field }) => field)).toEqual(["reason", "message"]);
  });

  it("erases a plan's summary with the row that says it again, by the entry that brought it", async () => {
    const index = await indexOf("status");
    const gone = await broker.running.broker.redact({ index, field: "summary" });
    expect(gone).toMatchObject({ redacted: [{ index: index - 1, field: "summary" }], elsewhere: [] });
    expect(await textsLeft()).toEqual([...ALL.filter((text) => text !== "look into it"), ...LAST]);
  });

  it("finds a text that a row has kept by the entry that brought it", async () => {
    const brought = store.size() - 1;
    const worker = await broker.worker("w-1");
    await worker.ask(statusOf("went on", { next_action: { summary: "rest" } }));
    const index = store.size() - 1;
    await worker.ask(statusOf("came back"));
    const { redacted } = await broker.running.broker.redact({ index, field: "last_action" });
    expect(redacted).toMatchObject([{ index: brought, field: "last_action" }]);
    expect(await textsLeft()).not.toContain("went on");
  });

  it("names where else the same words stand, and erases them there too if it is told to", async () => {
    const lead = await broker.orchestrator("lead");
    await lead.ask(correctionOf("w-1", "sha256:0", "Stay in your lane."));
    await lead.ask(correctionOf("w-1", "sha256:1", "Stay in your lane."));
    const [first, second] = [store.size() - 2, store.size() - 1];
    expect(await broker.running.broker.redact({ correction_id: correction, field: "message" })).toMatchObject({
      redacted: [{ index: await indexOf("admitted") }],
      elsewhere: [{ index: first }, { index: second }],
    });
    expect((await textsLeft()).filter((text) => text === "Stay in your lane.")).toHaveLength(2);
    expect(await broker.running.broker.redact({ index: second, everywhere: true })).toMatchObject({
      redacted: [{ index: second }, { index: first }],
      elsewhere: [],
    });
    expect(await textsLeft()).not.toContain("Stay in your lane.");
  });

  it("that did not live to erase is finished by the next start", async () => {
    const erase = store.redact.bind(store);
    store.redact = () => Promise.reject(new Error("the process ends here"));
    await expect(broker.running.broker.redact({ correction_id: correction })).rejects.toThrow("ends here");
    await broker.stop();
    expect(await textsLeft()).toContain("Stay in your lane.");
    store.redact = erase;
    broker = await TestBroker.start({ store, ...KEYS, clock: broker.clock });
    expect(await textsLeft()).toEqual([...ALL.slice(0, -2), ...LAST]);
  });
});
