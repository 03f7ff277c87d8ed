import { beforeEach, describe, expect, it } from "vitest";
import { Writer } from "../../../src/broker/writer.js";
import type { Step } from "../../../src/kernel/index.js";
import { turn } from "../../support/local.js";
import { HeldStore } from "../../support/stores.js";

const MOST = 512;

let store: HeldStore;
let durable: number[];
let writer: Writer;
let added: number;

beforeEach(() => {
  store = new HeldStore();
  durable = [];
  added = 0;
  writer = new Writer(store, { durable: (size) => durable.push(size), fault: () => {} });
});

/** A step of so many entries. */
function step(entries: number): void {
  const events = Array.from({ length: entries }, () => ({
    kind: "grant_revoked" as const,
    at: 0,
    by: { role: "broker" as const, subject: "broker" },
    token: "t",
  }));
  writer.add({ answer: { kind: "done" }, events, first: added, own: 0, workerEntries: [] } satisfies Step);
  added += entries;
}

describe("what is decided while the store is busy", () => {
  it("is written in batches of 512 entries, so that none keeps the loop long", async () => {
    store.hold();
    step(1);
    await turn();
    for (let count = 0; count < 1_200; count += 1) step(1);
    store.release();
    await writer.settled();
    expect(durable).toEqual([1, 1 + MOST, 1 + 2 * MOST, 1_201]);
    expect(store.size()).toBe(1_201);
  });

  it("is never cut within a step", async () => {
    store.hold();
    step(1);
    await turn();
    step(511);
    step(700);
    step(1);
    store.release();
    await writer.settled();
    expect(durable).toEqual([1, 1_212, 1_213]);
  });
});
