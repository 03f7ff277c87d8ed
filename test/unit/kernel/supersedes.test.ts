import { describe, expect, it } from "vitest";
import { admittedId, refusalOf, told, type TestKernel } from "../../support/kernel.js";
import { running } from "../../support/kernel-scenes.js";

const NOT_YOURS = { reason: "TRUST_VIOLATION", detail: "SUPERSEDES" };

describe("superseding", () => {
  it.each<[string, (kernel: TestKernel, id: string) => void]>([
    ["ADMITTED", () => undefined],
    ["DELIVERED", (kernel, id) => kernel.receive("w-1", id)],
    ["ACKED", (kernel, id) => kernel.ack("w-1", id)],
  ])("ends the old correction in the same step, after the admission, when it is %s [A2C-LIFE-51]", (stage, act) => {
    const kernel = running();
    const old = admittedId(kernel.correct("orch"));
    act(kernel, old);
    expect(kernel.correction(old).stage).toBe(stage);
    const step = kernel.correct("orch", { message: "No: stay where you are.", supersedes: old });
    expect(told(step)).toEqual(["admitted", "superseded"]);
    expect(step.events[1]).toMatchObject({ correction_id: old, superseded_by: admittedId(step) });
    expect(kernel.correction(old)).toMatchObject({ stage: "SUPERSEDED", stageIndex: step.first + 1 });
    expect([...(kernel.worker()?.open.keys() ?? [])]).toEqual([admittedId(step)]);
  });

  it("is refused for an ended correction of one's own with UNWITNESSED/SUPERSEDES [A2C-ADM-21]", () => {
    const kernel = running();
    const old = admittedId(kernel.correct("orch"));
    kernel.withdraw("orch", old);
    const step = kernel.correct("orch", { supersedes: old });
    expect(refusalOf(step)).toEqual({ reason: "UNWITNESSED", detail: "SUPERSEDES" });
  });

  it("gives one answer for an unknown id, another's, and another worker's [A2C-ADM-08]", () => {
    const kernel = running();
    kernel.status("w-2");
    const others = admittedId(kernel.correct("other"));
    const elsewhere = admittedId(kernel.correct("orch", { worker_id: "w-2" }));
    for (const supersedes of [`corr_${"f".repeat(32)}`, others, elsewhere]) {
      expect(refusalOf(kernel.correct("orch", { supersedes }))).toEqual(NOT_YOURS);
    }
    kernel.withdraw("other", others);
    expect(refusalOf(kernel.correct("orch", { supersedes: others }))).toEqual(NOT_YOURS);
    expect(kernel.correction(elsewhere).stage).toBe("ADMITTED");
  });

  it("replaces the place in the queue: the new correction comes last", () => {
    const kernel = running();
    const old = admittedId(kernel.correct("orch", { key: "1" }));
    const second = admittedId(kernel.correct("orch", { key: "2" }));
    const third = admittedId(kernel.correct("orch", { key: "3", supersedes: old }));
    expect([...(kernel.worker()?.open.keys() ?? [])]).toEqual([second, third]);
  });
});
