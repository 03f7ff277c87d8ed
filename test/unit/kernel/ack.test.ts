import { describe, expect, it } from "vitest";
import { outcomesOf } from "../../../src/kernel/index.js";
import { admittedId, refusalOf, told } from "../../support/kernel.js";
import { running } from "../../support/kernel-scenes.js";

const ACKED = { stage: "ACKED" };

describe("an ack", () => {
  it("makes a correction ACKED, in any order, and moves no digest [A2C-LIFE-20] [A2C-ROW-05]", () => {
    const kernel = running();
    const { digest } = kernel.worker() ?? {};
    const ids = ["1", "2", "3"].map((key) => admittedId(kernel.correct("orch", { key })));
    for (const id of ids) kernel.receive("w-1", id);
    for (const id of ids.toReversed()) {
      const step = kernel.ack("w-1", id);
      expect(told(step)).toEqual(["acked"]);
      expect(kernel.correction(id)).toMatchObject({ ...ACKED, stageIndex: step.first });
    }
    expect(kernel.worker()?.digest).toBe(digest);
  });

  it("implies the receipt [A2C-LIFE-21]", () => {
    const kernel = running();
    const id = admittedId(kernel.correct("orch"));
    const step = kernel.ack("w-1", id);
    expect(told(step)).toEqual(["delivered", "acked"]);
    expect(step.events[0]).toMatchObject({ attempt: 1, redelivered: false });
  });

  it("implies this session's receipt, though another session gave one [A2C-LIFE-21]", () => {
    const kernel = running();
    const id = admittedId(kernel.correct("orch"));
    kernel.receive("w-1", id);
    kernel.connect("w-1", "s-2");
    expect(kernel.ack("w-1", id).events).toMatchObject([
      { kind: "delivered", session: "s-2", attempt: 2, redelivered: true },
      { kind: "acked", session: "s-2" },
    ]);
  });

  it("with a plan that names it gives all three stages in one step, and one outcome [A2C-LIFE-26] [A2C-LIFE-33] [A2C-LIFE-35]", () => {
    const kernel = running();
    const id = admittedId(kernel.correct("orch"));
    const step = kernel.ack("w-1", id, { summary: "move the fix", reflects: [id] });
    expect(told(step)).toEqual(["delivered", "acked", "planned", "witnessed", "status"]);
    expect(step.answer).toEqual({ kind: "stage", correctionId: id, planned: true });
    expect(outcomesOf(step.events, step.first)).toEqual([
      { correction_id: id, stage: "WITNESSED", index: step.first + 3 },
    ]);
  });

  it("with a plan that does not name it is UNREFLECTED at once [A2C-LIFE-27]", () => {
    const kernel = running();
    const id = admittedId(kernel.correct("orch"));
    expect(told(kernel.ack("w-1", id, { summary: "go on" }))).toEqual([
      "delivered",
      "acked",
      "planned",
      "unreflected",
      "status",
    ]);
  });

  it("with a plan judges the other acked ones too, by admission index [A2C-LIFE-26] [A2C-LIFE-33]", () => {
    const kernel = running();
    const [a = "", b = "", c = ""] = ["1", "2", "3"].map((key) => admittedId(kernel.correct("orch", { key })));
    kernel.ack("w-1", c);
    kernel.ack("w-1", a);
    const { events } = kernel.ack("w-1", b, { summary: "s", reflects: [c, b] });
    expect(events).toMatchObject([
      { kind: "delivered" },
      { kind: "acked", correction_id: b },
      { kind: "planned" },
      { kind: "unreflected", correction_id: a },
      { kind: "witnessed", correction_id: b },
      { kind: "witnessed", correction_id: c },
      { kind: "status" },
    ]);
  });

  it("with a plan replaces the row's next action and leaves its other fields [A2C-LIFE-29]", () => {
    const kernel = running();
    kernel.status("w-1", { task_id: "t", last_action: "a", next_action: { summary: "b" } });
    const id = admittedId(kernel.correct("orch", { task_id: "t" }));
    kernel.ack("w-1", id, { summary: "c", reflects: [id] });
    expect(kernel.worker()?.row).toMatchObject({
      task_id: "t",
      seq: 3,
      last_action: { text: "a" },
      next_action: { summary: { text: "c" }, reflects: [id] },
    });
  });

  it("that restates the row's next action plans nothing [A2C-LIFE-25]", () => {
    const kernel = running();
    kernel.status("w-1", { next_action: { summary: "s" } });
    const id = admittedId(kernel.correct("orch"));
    const step = kernel.ack("w-1", id, { summary: "s", reflects: [] });
    expect(told(step)).toEqual(["delivered", "acked"]);
    expect(step.answer).toEqual({ kind: "stage", correctionId: id, planned: false });
    expect(kernel.correction(id)).toMatchObject(ACKED);
  });

  it("given again answers the same, and its plan is inert [A2C-LIFE-22]", () => {
    const kernel = running();
    const id = admittedId(kernel.correct("orch"));
    kernel.ack("w-1", id);
    const { digest } = kernel.worker() ?? {};
    for (const next_action of [undefined, { summary: "late plan", reflects: [id] }]) {
      const step = kernel.ack("w-1", id, next_action);
      expect(step).toMatchObject({ events: [], answer: { kind: "stage", correctionId: id, planned: false } });
    }
    expect(kernel.correction(id)).toMatchObject(ACKED);
    expect(kernel.worker()?.digest).toBe(digest);
  });

  it("given again after the end answers the end and records nothing [A2C-REF-09]", () => {
    const kernel = running();
    const id = admittedId(kernel.correct("orch"));
    kernel.ack("w-1", id, { summary: "s", reflects: [id] });
    expect(kernel.ack("w-1", id, { summary: "t", reflects: [] }).events).toEqual([]);
    expect(kernel.correction(id).stage).toBe("WITNESSED");
  });

  it("must cite the digest that the correction cites, not the row's of now [A2C-REF-07]", () => {
    const kernel = running();
    const id = admittedId(kernel.correct("orch"));
    kernel.status("w-1", { last_action: "moved on" });
    const status_digest = kernel.worker()?.digest ?? "";
    const step = kernel.ack("w-1", id, undefined, { status_digest });
    expect(refusalOf(step)).toEqual({ reason: "TRUST_VIOLATION", detail: "CITED" });
    expect(step.events[0]).toMatchObject({ worker_id: "w-1", correction_id: id, status_digest });
    expect(told(kernel.ack("w-1", id))).toEqual(["delivered", "acked"]);
  });

  it("is the addressed worker's only [A2C-REF-06]", () => {
    const kernel = running();
    kernel.grant("orchestrator", "w-2", { token: "t-namesake" });
    const id = admittedId(kernel.correct("orch"));
    expect(refusalOf(kernel.ack("w-2", id))).toEqual({ reason: "TRUST_VIOLATION", detail: "CORRECTION" });
    expect(refusalOf(kernel.ack("w-1", id, undefined, { token: "t-namesake" }))).toEqual({
      reason: "DEFAULT_DENY",
      detail: "NO_GRANT",
    });
    expect(kernel.correction(id).stage).toBe("ADMITTED");
  });

  it("of an unknown correction is refused before the digest is looked at [A2C-REF-06]", () => {
    const kernel = running();
    const step = kernel.ack("w-1", `corr_${"0".repeat(32)}`, undefined, { status_digest: "x" });
    expect(refusalOf(step)).toEqual({ reason: "TRUST_VIOLATION", detail: "CORRECTION" });
  });

  it.each([
    ["a new plan", "new"],
    ["a plan that restates", "s"],
  ])("with %s is NOT_LIVE while the row is not live, and acks nothing [A2C-LIVE-12]", (_, summary) => {
    const kernel = running();
    kernel.status("w-1", { next_action: { summary: "s" } });
    const id = admittedId(kernel.correct("orch"));
    kernel.lapse();
    const step = kernel.ack("w-1", id, { summary });
    expect(refusalOf(step)).toEqual({ reason: "UNWITNESSED", detail: "NOT_LIVE" });
    expect(kernel.correction(id).stage).toBe("ADMITTED");
  });

  it("without a plan is accepted while the row is not live, and judged by the plan after it [A2C-LIVE-11]", () => {
    const kernel = running();
    const id = admittedId(kernel.correct("orch"));
    kernel.lapse();
    expect(told(kernel.ack("w-1", id))).toEqual(["delivered", "acked"]);
    expect(told(kernel.status("w-1", { next_action: { summary: "s", reflects: [id] } }))).toEqual([
      "planned",
      "witnessed",
      "status",
    ]);
  });

  it("with a plan is refused past 20 new digests in 1,000 ms, and acks nothing [A2C-REF-05] [A2C-REF-10]", () => {
    const kernel = running();
    for (let n = 0; n < 19; n += 1) kernel.status("w-1", { last_action: `step ${n}` });
    const id = admittedId(kernel.correct("orch"));
    const step = kernel.ack("w-1", id, { summary: "s", reflects: [id] });
    expect(refusalOf(step)).toEqual({ reason: "RATE_LIMITED", detail: "RATE" });
    expect(step.events[0]).toMatchObject({ correction_id: id, next_action: { reflects: [id] }, seq: 20 });
    expect(kernel.correction(id).stage).toBe("ADMITTED");
    expect(told(kernel.ack("w-1", id))).toEqual(["delivered", "acked"]);
  });

  it("with a plan needs a grant that lets the worker publish in the row's scope", () => {
    const kernel = running();
    const id = admittedId(kernel.correct("orch"));
    kernel.grant("worker", "w-1", { token: "t-narrow", patterns: { worker: "w-1", issue: "9", lane: "**" } });
    kernel.connect("w-1", "s-2", { token: "t-narrow" });
    const step = kernel.ack("w-1", id, { summary: "s", reflects: [id] }, { token: "t-narrow" });
    expect(refusalOf(step)).toEqual({ reason: "DEFAULT_DENY", detail: "NO_GRANT" });
    expect(kernel.correction(id).stage).toBe("ADMITTED");
  });
});
