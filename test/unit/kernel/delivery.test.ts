import { describe, expect, it } from "vitest";
import { correctionPush, deliverable, stageOf } from "../../../src/kernel/index.js";
import { admittedId, refusalOf, SCOPE, told, type TestKernel } from "../../support/kernel.js";
import { running } from "../../support/kernel-scenes.js";

const FENCED = { reason: "LEASE_HELD", detail: "SESSION" };
const NOT_HELD = { reason: "TRUST_VIOLATION", detail: "CORRECTION" };

/** Ids that wait for `w-1`, in the order in which they are pushed. */
function queue(kernel: TestKernel): string[] {
  const worker = kernel.worker();
  return worker === undefined ? [] : deliverable(worker).map(({ id }) => id);
}

describe("a receipt", () => {
  it("makes a correction DELIVERED, and tells its sender once [A2C-LIFE-07]", () => {
    const kernel = running();
    const id = admittedId(kernel.correct("orch"));
    const step = kernel.receive("w-1", id);
    expect(step.answer).toEqual({ kind: "stage", correctionId: id, planned: false });
    expect(told(step)).toEqual(["delivered"]);
    expect(step.events[0]).toMatchObject({ session: "w-1-s1", attempt: 1, redelivered: false, stale_context: false });
    expect(kernel.correction(id)).toMatchObject({ stage: "DELIVERED", stageIndex: step.first });
  });

  it("given twice in one session leaves one entry [A2C-LIFE-14]", () => {
    const kernel = running();
    const id = admittedId(kernel.correct("orch"));
    kernel.receive("w-1", id);
    const step = kernel.receive("w-1", id);
    expect(step).toMatchObject({ events: [], answer: { kind: "stage", correctionId: id } });
  });

  it("of a later session raises the attempt and keeps the stage's index [A2C-LIFE-13] [A2C-LIFE-15]", () => {
    const kernel = running();
    const id = admittedId(kernel.correct("orch"));
    const { first } = kernel.receive("w-1", id);
    kernel.connect("w-1", "s-2");
    const step = kernel.receive("w-1", id);
    expect(step.events).toMatchObject([{ kind: "delivered", session: "s-2", attempt: 2, redelivered: true }]);
    expect(step.events.map((event, at) => stageOf(event, step.first + at))).toEqual([undefined]);
    expect(kernel.correction(id)).toMatchObject({ stage: "DELIVERED", stageIndex: first });
    kernel.connect("w-1", "s-3");
    expect(kernel.receive("w-1", id).events).toMatchObject([{ attempt: 3 }]);
  });

  it("by a session that only connected does not count: attempts count receipts [A2C-LIFE-13]", () => {
    const kernel = running();
    const id = admittedId(kernel.correct("orch"));
    kernel.connect("w-1", "s-2");
    kernel.connect("w-1", "s-3");
    expect(kernel.receive("w-1", id).events).toMatchObject([{ attempt: 1, redelivered: false }]);
  });

  it("says when the row has moved since [A2C-LIFE-46]", () => {
    const kernel = running();
    const id = admittedId(kernel.correct("orch"));
    kernel.status("w-1", { last_action: "moved on" });
    expect(kernel.receive("w-1", id).events).toMatchObject([{ kind: "delivered", stale_context: true }]);
  });

  it("of an acked or ended correction answers where it stands and records nothing [A2C-REF-09]", () => {
    const kernel = running();
    const [acked, gone] = ["1", "2"].map((key) => admittedId(kernel.correct("orch", { key }))) as [string, string];
    kernel.ack("w-1", acked);
    kernel.withdraw("orch", gone);
    kernel.connect("w-1", "s-2");
    for (const id of [acked, gone]) {
      expect(kernel.receive("w-1", id)).toMatchObject({ events: [], answer: { kind: "stage", correctionId: id } });
    }
    expect(kernel.correction(gone).stage).toBe("WITHDRAWN");
  });

  it("of an unknown id and of another worker's gets one answer [A2C-REF-06]", () => {
    const kernel = running();
    const id = admittedId(kernel.correct("orch"));
    for (const correction_id of [id, `corr_${"0".repeat(32)}`]) {
      expect(refusalOf(kernel.receive("w-2", correction_id))).toEqual(NOT_HELD);
    }
    expect(kernel.correction(id).stage).toBe("ADMITTED");
  });

  it("is accepted while the row is not live [A2C-LIVE-11]", () => {
    const kernel = running();
    const id = admittedId(kernel.correct("orch"));
    kernel.lapse();
    kernel.receive("w-1", id);
    expect(kernel.correction(id).stage).toBe("DELIVERED");
  });
});

describe("a session that was taken over", () => {
  it.each<[string, (kernel: TestKernel, id: string) => unknown]>([
    ["status", (kernel) => kernel.status("w-1", { last_action: "x" }, { session: "w-1-s1" })],
    ["receive", (kernel, id) => kernel.receive("w-1", id, { session: "w-1-s1" })],
    ["ack", (kernel, id) => kernel.ack("w-1", id, { summary: "s", reflects: [id] }, { session: "w-1-s1" })],
    ["decline", (kernel, id) => kernel.decline("w-1", id, { session: "w-1-s1" })],
    ["bye", (kernel) => kernel.bye("w-1", { session: "w-1-s1" })],
    ["inbox", (kernel) => kernel.read("worker", "w-1", "inbox", { session: "w-1-s1" })],
    ["ping", (kernel) => kernel.read("worker", "w-1", "ping", { session: "w-1-s1" })],
  ])("is refused %s with LEASE_HELD/SESSION, and nothing of it is recorded [A2C-REF-02] [A2C-REF-10]", (verb, act) => {
    const kernel = running();
    const id = admittedId(kernel.correct("orch"));
    kernel.connect("w-1", "s-2");
    const before = { row: kernel.worker()?.row, ended: kernel.worker()?.ended };
    const step = act(kernel, id) as ReturnType<TestKernel["tick"]>;
    expect(refusalOf(step)).toEqual(FENCED);
    expect(step.events).toMatchObject([{ kind: "refused", verb, session: "w-1-s1", ...FENCED }]);
    expect(kernel.correction(id).stage).toBe("ADMITTED");
    expect(kernel.worker()).toMatchObject({ ...before, session: "s-2" });
  });

  it("is refused a frame of bad shape for the session first [A2C-REF-02]", () => {
    const kernel = running();
    kernel.connect("w-1", "s-2");
    const refusal = { reason: "MALFORMED" as const, detail: "SHAPE" as const };
    const malformed = { type: "status" as const, id: "1", refusal, worker_id: "w-1" };
    const from = { role: "worker" as const };
    expect(refusalOf(kernel.malformed("w-1", malformed, { ...from, session: "w-1-s1" }))).toEqual(FENCED);
    expect(refusalOf(kernel.malformed("w-1", malformed, { ...from, session: "s-2" }))).toEqual(refusal);
  });
});

describe("what waits for a worker", () => {
  it("is in admission order, halts first [A2C-LIFE-09]", () => {
    const kernel = running();
    const [a, h1, b, h2] = (["normal", "halt", "normal", "halt"] as const).map((priority, n) =>
      admittedId(kernel.correct("orch", { priority, key: `k${n}` })),
    ) as [string, string, string, string];
    expect(queue(kernel)).toEqual([h1, h2, a, b]);
  });

  it("is what is open and not acked, received or not [A2C-LIFE-16] [A2C-LIFE-12] [A2C-LIFE-10]", () => {
    const kernel = running();
    const ids = ["1", "2", "3", "4"].map((key) => admittedId(kernel.correct("orch", { key })));
    const [received = "", acked = "", gone = "", waiting = ""] = ids;
    kernel.receive("w-1", received);
    kernel.ack("w-1", acked);
    kernel.withdraw("orch", gone);
    expect(queue(kernel)).toEqual([received, waiting]);
  });

  it("is pushed with the fields as sent and what the broker knows of it [A2C-LIFE-18] [A2C-LIFE-19] [A2C-LIFE-42] [A2C-TXT-02]", () => {
    const kernel = running();
    const status_digest = kernel.worker()?.digest;
    const fields = { message: " Halt.\n", priority: "halt" as const, ttl_ms: 60_000, key: "k", max_bytes: 4_096 };
    const id = admittedId(kernel.correct("orch", fields));
    kernel.now += 1_500;
    kernel.status("w-1", { last_action: "moved on" });
    const push = (session: string): unknown => correctionPush(kernel.correction(id), session, kernel.now, 2);
    const expected = {
      type: "correction",
      correction: {
        ...SCOPE,
        ...fields,
        worker_id: "w-1",
        status_digest,
        correction_id: id,
        orchestrator_id: "orch",
        admitted_at: 1_000_000,
        expires_at: 1_060_000,
      },
      attempt: 1,
      redelivered: false,
      stale_context: true,
      written_at_seq: 1,
      age_ms: 1_500,
      backlog: 2,
    };
    expect(push("w-1-s1")).toEqual(expected);
    kernel.receive("w-1", id);
    expect(push("w-1-s1")).toEqual(expected);
    expect(push("s-2")).toEqual({ ...expected, attempt: 2, redelivered: true });
    kernel.decline("w-1", id);
    expect(push("s-2")).toBeUndefined();
  });
});
