import { describe, expect, it } from "vitest";
import { evolve, emptyState, rowView } from "../../../src/kernel/index.js";
import { LIMITS } from "../../../src/protocol/index.js";
import { admittedId, refusalOf, SCOPE, TestKernel, told } from "../../support/kernel.js";
import { running } from "../../support/kernel-scenes.js";

describe("a session", () => {
  it("leaves an entry with its lease, makes no row and moves no digest [A2C-LIVE-02] [A2C-ROW-05]", () => {
    const kernel = running();
    const { digest } = kernel.worker() ?? {};
    const step = kernel.connect("w-1", "s-2");
    expect(step.events).toMatchObject([
      { kind: "session_opened", worker_id: "w-1", session: "s-2", lease_ms: 90_000, by: { token: "t-w-1" } },
    ]);
    expect(kernel.worker()).toMatchObject({ digest, session: "s-2", leaseMs: 90_000 });
    expect(kernel.worker("w-2")?.row).toBeUndefined();
  });
});

describe("a lease that lapses", () => {
  it("writes the row not live, with the next seq, and lets corrections wait [A2C-LIVE-07] [A2C-LIVE-08]", () => {
    const kernel = running();
    const ids = ["1", "2", "3"].map((key) => admittedId(kernel.correct("orch", { key })));
    kernel.receive("w-1", ids[1] ?? "");
    kernel.ack("w-1", ids[2] ?? "");
    const step = kernel.lapse();
    expect(told(step)).toEqual(["status"]);
    expect(step.events[0]).toMatchObject({
      cause: "lease_lapsed",
      by: { role: "broker" },
      row: { worker_id: "w-1", ...SCOPE, live: false, seq: 2, last_action: { text: "read the issue" } },
    });
    expect([...(kernel.worker()?.open.keys() ?? [])]).toEqual(ids);
  });

  it("does nothing to a row that is not live, or is not there", () => {
    const kernel = running();
    kernel.lapse();
    for (const worker of ["w-1", "w-2", "w-9"]) expect(told(kernel.lapse(worker))).toEqual([]);
  });
});

describe("a start of the broker", () => {
  it("opens a new log with what rules it [A2C-VER-03]", () => {
    const kernel = new TestKernel({ ...LIMITS, digests_per_window: 500 });
    expect(kernel.events).toMatchObject([
      { kind: "log_opened", shard: "shard-1", origin: "test.example/log" },
      { kind: "broker_started", rules: 1, text_policy: 1, limits: { digests_per_window: 500, open_per_worker: 8 } },
    ]);
  });

  it("rewrites each live row not live, and no other [A2C-LIVE-09]", () => {
    const kernel = running();
    kernel.status("w-2");
    kernel.lapse("w-2");
    const step = kernel.start();
    expect(told(step)).toEqual(["broker_started", "status"]);
    expect(step.events[1]).toMatchObject({ worker_id: "w-1", cause: "restart", row: { live: false, seq: 2 } });
    expect(told(kernel.start())).toEqual(["broker_started"]);
  });

  it("forgets every session: what was under way is refused [A2C-REF-02]", () => {
    const kernel = running();
    kernel.start();
    expect(refusalOf(kernel.status("w-1"))).toEqual({ reason: "LEASE_HELD", detail: "SESSION" });
    kernel.connect("w-1", "s-2");
    expect(refusalOf(kernel.status("w-1"))).toBeUndefined();
  });

  it("keeps admitted corrections, ended rows and grants [A2C-ANS-07]", () => {
    const kernel = running();
    kernel.status("w-2");
    kernel.bye("w-2");
    const id = admittedId(kernel.correct("orch"));
    kernel.start();
    expect(kernel.correction(id).stage).toBe("ADMITTED");
    expect(refusalOf(kernel.correct("orch", { worker_id: "w-2" }))).toEqual({
      reason: "UNWITNESSED",
      detail: "ENDED",
    });
  });

  it("puts its limits in force: those of the log, not of the program", () => {
    const kernel = running({ ...LIMITS, admitted_per_window: 2, open_per_worker: 5, refusal_burst: 2 });
    const admit = (key: string): unknown => refusalOf(kernel.correct("orch", { key }));
    expect(["1", "2", "3"].map(admit)).toEqual([undefined, undefined, { reason: "RATE_LIMITED", detail: "RATE" }]);
    kernel.start({ ...LIMITS, admitted_per_window: 4, open_per_worker: 3 });
    kernel.connect("w-1", "s-2");
    kernel.status("w-1");
    expect(["3", "4"].map(admit)).toEqual([undefined, { reason: "RATE_LIMITED", detail: "INBOX_FULL" }]);
    kernel.start({ ...LIMITS, admitted_per_window: 1 });
    kernel.connect("w-1", "s-3");
    kernel.status("w-1");
    kernel.now += 999;
    expect(admit("5")).toEqual({ reason: "RATE_LIMITED", detail: "RATE" });
    kernel.now += 1;
    expect(admit("5")).toBeUndefined();
  });
});

describe("a bye", () => {
  it("orphans what is open, then ends the row with its outcome [A2C-LIFE-47] [A2C-LIVE-18]", () => {
    const kernel = running();
    const ids = ["1", "2", "3"].map((key) => admittedId(kernel.correct("orch", { key })));
    kernel.receive("w-1", ids[1] ?? "");
    kernel.ack("w-1", ids[2] ?? "");
    const step = kernel.bye();
    expect(told(step)).toEqual(["orphaned", "orphaned", "orphaned", "status"]);
    expect(step.events.slice(0, 3)).toMatchObject(ids.map((correction_id) => ({ correction_id })));
    expect(step.events[3]).toMatchObject({ cause: "ended", outcome: "completed", row: { live: false, seq: 2 } });
    expect(step.answer).toEqual({ kind: "done" });
  });

  it("after an obeyed stop leaves the correction WITNESSED", () => {
    const kernel = running();
    const id = admittedId(kernel.correct("orch", { message: "Stop.", priority: "halt" }));
    kernel.ack("w-1", id, { summary: "stop", reflects: [id] });
    expect(told(kernel.bye())).toEqual(["status"]);
    expect(kernel.correction(id).stage).toBe("WITNESSED");
  });

  it("ends the session with it [A2C-REF-02]", () => {
    const kernel = running();
    kernel.bye();
    expect(refusalOf(kernel.status("w-1"))).toEqual({ reason: "LEASE_HELD", detail: "SESSION" });
  });

  it("of a row that is not live ends it as it is: same seq, same digest [A2C-LIVE-18]", () => {
    const kernel = running();
    const id = admittedId(kernel.correct("orch"));
    kernel.lapse();
    const { digest } = kernel.worker() ?? {};
    const step = kernel.bye();
    expect(told(step)).toEqual(["orphaned", "status"]);
    expect(step.events[1]).toMatchObject({ cause: "ended", status_digest: digest, row: { live: false, seq: 2 } });
    expect(kernel.correction(id).stage).toBe("ORPHANED");
  });

  it("without a row, or after another, leaves no entry [A2C-LIVE-19]", () => {
    const kernel = running();
    expect(kernel.bye("w-2")).toMatchObject({ events: [], answer: { kind: "done" } });
    kernel.bye();
    kernel.connect("w-1", "s-2");
    expect(kernel.bye()).toMatchObject({ events: [], answer: { kind: "done" } });
  });
});

describe("the entries of one worker", () => {
  it("are counted from its first row on, whoever names it", () => {
    const kernel = running();
    const counts = (step: ReturnType<TestKernel["tick"]>): unknown => step.workerEntries;
    expect(kernel.worker()?.entries).toBe(1);
    expect(counts(kernel.correct("orch", { lane: "cmd" }))).toEqual([2]);
    const step = kernel.correct("orch");
    expect(counts(step)).toEqual([3]);
    const id = admittedId(step);
    expect(counts(kernel.ack("w-1", id, { summary: "s", reflects: [id] }))).toEqual([4, 5, 6, 7, 8]);
    expect(counts(kernel.stage("other", id))).toEqual([undefined]);
    expect(counts(kernel.connect("w-2", "s-2"))).toEqual([undefined]);
    expect(counts(kernel.correct("orch", { worker_id: "w-2" }))).toEqual([undefined]);
    expect(counts(kernel.status("w-2", { next_action: { summary: "s" } }))).toEqual([undefined, 1]);
    expect(counts(kernel.start())).toEqual([undefined, 9, 2]);
  });
});

describe("the view of a row", () => {
  it("is the row as digested, with what stands beside it", () => {
    const kernel = running();
    kernel.correct("orch");
    const worker = kernel.worker();
    expect(worker && rowView({ ...worker, pending: worker.open.size })).toEqual({
      row: {
        schema: "a2achan.worker-status.v1",
        worker_id: "w-1",
        ...SCOPE,
        live: true,
        seq: 1,
        last_action: "read the issue",
      },
      status_digest: "sha256:bc7ab8a79d39c9f20018db6b91164bc3a40fa9ff2e0269bb60aa82788fb89951",
      pending: 1,
      lease_ms: 90_000,
    });
  });

  it("is none before the first row", () => {
    const worker = running().worker("w-2");
    expect(worker && rowView({ ...worker, pending: worker.open.size })).toBeUndefined();
  });
});

describe("an event that names a correction which the log does not have", () => {
  it("is an error, not a new correction", () => {
    const of = { correction_id: `corr_${"0".repeat(32)}`, worker_id: "w-1", orchestrator_id: "orch" };
    const by = { role: "orchestrator" as const, subject: "orch" };
    expect(() => evolve(emptyState(), { kind: "withdrawn", at: 1, by, ...of })).toThrow("not in the log");
  });
});
