import { describe, expect, it } from "vitest";
import { admittedId, refusalOf, told } from "../../support/kernel.js";
import { fillInbox, running, useUpRate } from "../../support/kernel-scenes.js";

const FULL = { reason: "RATE_LIMITED", detail: "INBOX_FULL" };
const RATE = { reason: "RATE_LIMITED", detail: "RATE" };

describe("the room for open corrections", () => {
  it("has one more place for a halt, and not two [A2C-ADM-22] [A2C-ADM-23]", () => {
    const kernel = running();
    fillInbox(kernel);
    expect(refusalOf(kernel.correct("orch"))).toEqual(FULL);
    expect(refusalOf(kernel.correct("orch", { priority: "normal" }))).toEqual(FULL);
    expect(refusalOf(kernel.correct("orch", { priority: "halt" }))).toBeUndefined();
    expect(kernel.worker()?.open.size).toBe(9);
    expect(refusalOf(kernel.correct("orch", { priority: "halt", key: "2" }))).toEqual(FULL);
  });

  it("counts halts as it counts others [A2C-ADM-22]", () => {
    const kernel = running();
    for (let n = 0; n < 8; n += 1) kernel.correct("orch", { priority: "halt", key: `k${n}` });
    expect(refusalOf(kernel.correct("orch"))).toEqual(FULL);
  });

  it("does not count the correction that is superseded [A2C-ADM-24]", () => {
    const kernel = running();
    const [oldest] = fillInbox(kernel);
    const step = kernel.correct("other", { supersedes: oldest });
    expect(told(step)).toEqual(["admitted", "superseded"]);
    expect(kernel.worker()?.open.size).toBe(8);
  });

  it("counts the others, though one is superseded [A2C-ADM-24]", () => {
    const kernel = running();
    const [oldest] = fillInbox(kernel);
    kernel.correct("orch", { priority: "halt" });
    expect(refusalOf(kernel.correct("other", { supersedes: oldest }))).toEqual(FULL);
    expect(told(kernel.correct("other", { supersedes: oldest, priority: "halt" }))).toEqual(["admitted", "superseded"]);
  });

  it("counts acked ones, and frees a place with each end [A2C-ADM-22]", () => {
    const kernel = running();
    const [first = "", second = ""] = fillInbox(kernel);
    kernel.ack("w-1", first);
    expect(refusalOf(kernel.correct("orch"))).toEqual(FULL);
    kernel.decline("w-1", second);
    expect(refusalOf(kernel.correct("orch"))).toBeUndefined();
  });

  it("is each worker's own", () => {
    const kernel = running();
    kernel.status("w-2");
    fillInbox(kernel);
    expect(refusalOf(kernel.correct("orch", { worker_id: "w-2" }))).toBeUndefined();
  });

  it("is freed for its sender too: what a sender has open is what has not ended", () => {
    const kernel = running();
    const [first = "", second = ""] = fillInbox(kernel);
    kernel.decline("w-1", first);
    kernel.withdraw("other", second);
    expect(kernel.state.senders.get("other")?.open.size).toBe(6);
    kernel.bye();
    expect(kernel.state.senders.get("other")?.open.size).toBe(0);
  });

  it("is never made by dropping an admitted correction [A2C-ADM-22]", () => {
    const kernel = running();
    const ids = fillInbox(kernel);
    kernel.correct("orch");
    expect([...(kernel.worker()?.open.keys() ?? [])]).toEqual(ids);
  });
});

describe("the rate of a principal", () => {
  it("is 20 admissions in the 1,000 ms up to now [A2C-ADM-25]", () => {
    const kernel = running();
    useUpRate(kernel);
    expect(refusalOf(kernel.correct("orch"))).toEqual(RATE);
    kernel.now += 999;
    expect(refusalOf(kernel.correct("orch"))).toEqual(RATE);
    kernel.now += 1;
    expect(refusalOf(kernel.correct("orch"))).toBeUndefined();
  });

  it("slides: each admission leaves the window by itself [A2C-ADM-25]", () => {
    const kernel = running();
    const last = admittedId(kernel.correct("orch", { key: "early" }));
    kernel.now += 500;
    let supersedes = last;
    for (let n = 0; n < 19; n += 1) supersedes = admittedId(kernel.correct("orch", { key: `late-${n}`, supersedes }));
    expect(refusalOf(kernel.correct("orch"))).toEqual(RATE);
    kernel.now += 500;
    expect(refusalOf(kernel.correct("orch"))).toBeUndefined();
    expect(refusalOf(kernel.correct("orch", { key: "one more" }))).toEqual(RATE);
  });

  it("is the subject's, over all its tokens [A2C-ADM-25]", () => {
    const kernel = running();
    kernel.grant("orchestrator", "orch", { token: "t-second" });
    useUpRate(kernel);
    expect(refusalOf(kernel.correct("orch", {}, { token: "t-second" }))).toEqual(RATE);
  });

  it("remembers no more times than it needs", () => {
    const kernel = running();
    for (let n = 0; n < 5; n += 1) {
      useUpRate(kernel);
      kernel.now += 1_000;
      kernel.status("w-2", { last_action: `round ${n}` });
    }
    expect(kernel.state.senders.get("orch")?.admittedTimes).toHaveLength(20);
  });

  it("starves no other principal", () => {
    const kernel = running();
    useUpRate(kernel);
    expect(refusalOf(kernel.correct("other"))).toBeUndefined();
  });

  it("does not count what is refused", () => {
    const kernel = running();
    for (let n = 0; n < 30; n += 1) kernel.correct("orch", { lane: "cmd" });
    expect(refusalOf(kernel.correct("orch"))).toBeUndefined();
  });
});
