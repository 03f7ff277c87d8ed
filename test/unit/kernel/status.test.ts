import { describe, expect, it } from "vitest";
import { outcomesOf } from "../../../src/kernel/index.js";
import { admittedId, refusalOf, SCOPE, TestKernel, told } from "../../support/kernel.js";
import { running } from "../../support/kernel-scenes.js";

const RATE = { reason: "RATE_LIMITED", detail: "RATE" };

describe("a status", () => {
  it("makes the first row, live with seq 1 [A2C-ROW-06]", () => {
    const kernel = running();
    const step = kernel.status("w-2", { task_id: "gh-1" });
    expect(step.answer).toEqual({ kind: "row", changed: true });
    expect(told(step)).toEqual(["status"]);
    expect(step.events[0]).toMatchObject({
      cause: "published",
      row: { worker_id: "w-2", ...SCOPE, task_id: "gh-1", live: true, seq: 1 },
    });
  });

  it("raises seq by 1 and moves the digest with each change [A2C-ROW-07]", () => {
    const kernel = running();
    const seen = new Set([kernel.worker()?.digest]);
    const changes = [{ last_action: "b" }, { issue: "1" }, { lane: "cmd" }, { task_id: "t" }, {}];
    changes.forEach((fields, n) => {
      kernel.status("w-1", fields);
      expect(kernel.worker()?.row?.seq).toBe(n + 2);
      seen.add(kernel.worker()?.digest);
    });
    expect(seen.size).toBe(6);
  });

  it("changes nothing and leaves no entry when the live row says the same already [A2C-ROW-09]", () => {
    const kernel = running();
    const fields = { last_action: "a", next_action: { summary: "b", reflects: [] } };
    kernel.status("w-1", fields);
    const { digest } = kernel.worker() ?? {};
    const step = kernel.status("w-1", { last_action: "a", next_action: { summary: "b", via: "plan" } });
    expect(step).toMatchObject({ events: [], answer: { kind: "row", changed: false } });
    expect(kernel.worker()).toMatchObject({ digest, row: { seq: 2 } });
  });

  it("takes the content as it was sent, white space and case included [A2C-TXT-02]", () => {
    const kernel = running();
    kernel.status("w-1", { last_action: "read the issue " });
    expect(kernel.worker()?.row?.last_action?.text).toBe("read the issue ");
    expect(kernel.worker()?.row?.seq).toBe(2);
  });

  it("keeps the commitment of a text that it repeats, so that the log holds the text once", () => {
    const kernel = running();
    kernel.status("w-1", { last_action: "a", next_action: { summary: "b" } });
    const [planned, row] = kernel.status("w-1", {
      lane: "cmd",
      last_action: "a",
      next_action: { summary: "b", reflects: [`corr_${"1".repeat(32)}`] },
    }).events;
    expect(planned).toMatchObject({ kind: "planned", summary: { text: "b", bytes: 1 } });
    expect(planned).not.toHaveProperty("summary.salt");
    expect(row).toMatchObject({
      kind: "status",
      row: { last_action: { text: "a" }, next_action: { summary: { text: "b" } } },
    });
    expect(row).not.toHaveProperty("row.last_action.salt");
    expect(row).not.toHaveProperty("row.next_action.summary.salt");
  });

  it("leaves out what it does not say [A2C-ROW-02]", () => {
    const kernel = running();
    kernel.status("w-1", { task_id: "t", last_action: "a", next_action: { summary: "b" } });
    kernel.status("w-1");
    expect(kernel.worker()?.row).toEqual({ worker_id: "w-1", ...SCOPE, live: true, seq: 3 });
  });

  it("keeps reflects in the order given, and [] for none [A2C-ROW-03]", () => {
    const kernel = running();
    const reflects = [`corr_${"b".repeat(32)}`, `corr_${"a".repeat(32)}`];
    kernel.status("w-1", { next_action: { summary: "b", reflects } });
    expect(kernel.worker()?.row?.next_action?.reflects).toEqual(reflects);
    kernel.status("w-1", { next_action: { summary: "b" } });
    expect(kernel.worker()?.row?.next_action?.reflects).toEqual([]);
  });

  it("makes a row live again, with the same content too, and plans nothing by it [A2C-ROW-10] [A2C-LIVE-10]", () => {
    const kernel = running();
    const fields = { next_action: { summary: "b" } };
    kernel.status("w-1", fields);
    kernel.lapse();
    const step = kernel.status("w-1", fields);
    expect(told(step)).toEqual(["status"]);
    expect(kernel.worker()?.row).toMatchObject({ live: true, seq: 4 });
  });

  it.each([
    [0, undefined],
    [1, undefined],
    [2, { reason: "UNWITNESSED", detail: "SEQ" }],
  ])("with expect_seq %i is judged by the row's seq, 0 being no row [A2C-REF-04]", (expect_seq, refusal) => {
    const kernel = running();
    const worker = expect_seq === 0 ? "w-2" : "w-1";
    expect(refusalOf(kernel.status(worker, { last_action: "b", expect_seq }))).toEqual(refusal);
    expect(kernel.worker(worker)?.row?.seq).toBe(refusal === undefined ? expect_seq + 1 : 1);
  });

  it("with a stale expect_seq is refused also where it would change nothing [A2C-REF-04]", () => {
    const kernel = running();
    for (const expect_seq of [0, 7]) {
      const step = kernel.status("w-1", { last_action: "read the issue", expect_seq });
      expect(refusalOf(step)).toEqual({ reason: "UNWITNESSED", detail: "SEQ" });
    }
  });

  it.each([{ issue: "9" }, { lane: "cmd" }])(
    "outside the grant is NO_GRANT and keeps the row: %o [A2C-REF-03]",
    (at) => {
      const kernel = running();
      kernel.grant("worker", "w-1", { patterns: { worker: "w-1", issue: "2162", lane: "internal/*" } });
      const step = kernel.status("w-1", { ...at, last_action: "b" });
      expect(refusalOf(step)).toEqual({ reason: "DEFAULT_DENY", detail: "NO_GRANT" });
      expect(step.events[0]).toMatchObject({ verb: "status", worker_id: "w-1", session: "w-1-s1", seq: 1, ...at });
      expect(kernel.worker()?.row?.seq).toBe(1);
    },
  );

  it("is refused past 20 new digests in 1,000 ms, unless it changes nothing [A2C-REF-05]", () => {
    const kernel = running();
    for (let n = 0; n < 19; n += 1)
      expect(refusalOf(kernel.status("w-1", { last_action: `step ${n}` }))).toBeUndefined();
    kernel.now += 999;
    const step = kernel.status("w-1", { last_action: "one more", next_action: { summary: "s" } });
    expect(refusalOf(step)).toEqual(RATE);
    expect(step.events[0]).toMatchObject({
      last_action: { text: "one more" },
      next_action: { summary: { text: "s" } },
    });
    expect(kernel.status("w-1", { last_action: "step 18" }).answer).toEqual({ kind: "row", changed: false });
    kernel.now += 1;
    expect(refusalOf(kernel.status("w-1", { last_action: "one more" }))).toBeUndefined();
  });

  it("leaves no more times to remember than the rate needs [A2C-REF-05]", () => {
    const kernel = running();
    for (let n = 0; n < 50; n += 1) {
      kernel.now += 1_000;
      kernel.status("w-1", { last_action: `step ${n}` });
    }
    expect(kernel.worker()?.digestTimes).toHaveLength(20);
  });

  it("is not held to account for the broker's own changes [A2C-REF-05]", () => {
    const kernel = running();
    for (let n = 0; n < 18; n += 1) kernel.status("w-1", { last_action: `step ${n}` });
    for (let n = 0; n < 3; n += 1) kernel.lapse();
    expect(refusalOf(kernel.status("w-1", { last_action: "step 17" }))).toBeUndefined();
    expect(refusalOf(kernel.status("w-1", { last_action: "one more" }))).toEqual(RATE);
  });

  it("lists what its step ended, with index and detail [A2C-LIFE-35]", () => {
    const kernel = running();
    const [acked, waiting] = ["1", "2"].map((key) => admittedId(kernel.correct("orch", { key })));
    kernel.ack("w-1", acked ?? "");
    const step = kernel.status("w-1", { lane: "cmd", next_action: { summary: "move", reflects: [acked ?? ""] } });
    expect(told(step)).toEqual(["planned", "witnessed", "status", "stale/RUN_CHANGED"]);
    expect(outcomesOf(step.events, step.first)).toEqual([
      { correction_id: acked, stage: "WITNESSED", index: step.first + 1 },
      { correction_id: waiting, stage: "STALE", detail: "RUN_CHANGED", index: step.first + 3 },
    ]);
  });

  it("has no row to publish before its worker was granted one", () => {
    const kernel = new TestKernel();
    expect(refusalOf(kernel.status("w-1"))).toEqual({ reason: "DEFAULT_DENY", detail: "NO_GRANT" });
    expect(kernel.worker()).toBeUndefined();
  });
});
