import { describe, expect, it } from "vitest";
import { admittedId, refusalOf, told, type TestKernel } from "../../support/kernel.js";
import { running } from "../../support/kernel-scenes.js";

const NO_GRANT = { reason: "DEFAULT_DENY", detail: "NO_GRANT" };

const states: [string, (kernel: TestKernel, id: string) => void][] = [
  ["DELIVERED", (kernel, id) => kernel.receive("w-1", id)],
  ["ACKED", (kernel, id) => kernel.ack("w-1", id)],
  ["WITNESSED", (kernel, id) => kernel.ack("w-1", id, { summary: "s", reflects: [id] })],
];
const withdrawn: (typeof states)[number] = ["WITHDRAWN", (kernel, id) => kernel.withdraw("orch", id)];

describe("a decline", () => {
  it("ends a correction as DECLINED, its reason kept in the entry [A2C-LIFE-36] [A2C-LIFE-21]", () => {
    const kernel = running();
    const id = admittedId(kernel.correct("orch"));
    const step = kernel.decline("w-1", id);
    expect(told(step)).toEqual(["delivered", "declined"]);
    expect(step.events[1]).toMatchObject({ reason: { text: "the file is generated", bytes: 21 } });
    expect(kernel.correction(id)).toMatchObject({ stage: "DECLINED", stageIndex: step.first + 1 });
  });

  it("of a received correction needs no second receipt [A2C-LIFE-36]", () => {
    const kernel = running();
    const id = admittedId(kernel.correct("orch"));
    kernel.receive("w-1", id);
    expect(told(kernel.decline("w-1", id))).toEqual(["declined"]);
  });

  it("is accepted while the row is not live [A2C-LIVE-11]", () => {
    const kernel = running();
    const id = admittedId(kernel.correct("orch"));
    kernel.lapse();
    kernel.decline("w-1", id);
    expect(kernel.correction(id).stage).toBe("DECLINED");
  });

  it.each([...states.slice(1), withdrawn])(
    "is too late when it is %s: answered so, nothing recorded [A2C-LIFE-37] [A2C-REF-09]",
    (stage, act) => {
      const kernel = running();
      const id = admittedId(kernel.correct("orch"));
      act(kernel, id);
      const step = kernel.decline("w-1", id);
      expect(step).toMatchObject({ events: [], answer: { kind: "stage", correctionId: id } });
      expect(kernel.correction(id).stage).toBe(stage);
    },
  );

  it("must cite the digest that the correction cites, and be the addressed worker's [A2C-REF-06] [A2C-REF-07]", () => {
    const kernel = running();
    const id = admittedId(kernel.correct("orch"));
    expect(refusalOf(kernel.decline("w-1", id, { status_digest: "x" }))).toEqual({
      reason: "TRUST_VIOLATION",
      detail: "CITED",
    });
    expect(refusalOf(kernel.decline("w-2", id))).toEqual({ reason: "TRUST_VIOLATION", detail: "CORRECTION" });
    expect(kernel.correction(id).stage).toBe("ADMITTED");
  });
});

describe("a withdrawal", () => {
  it("ends an ADMITTED correction as WITHDRAWN [A2C-LIFE-38]", () => {
    const kernel = running();
    const id = admittedId(kernel.correct("orch"));
    const step = kernel.withdraw("orch", id);
    expect(told(step)).toEqual(["withdrawn"]);
    expect(step.answer).toEqual({ kind: "stage", correctionId: id, planned: false });
    expect(kernel.correction(id).stage).toBe("WITHDRAWN");
    expect(kernel.correction(id).content.message).not.toHaveProperty("text");
    expect(told(kernel.receive("w-1", id))).toEqual([]);
  });

  it.each(states)("is too late when it is %s: answered so, nothing recorded [A2C-LIFE-39]", (stage, act) => {
    const kernel = running();
    const id = admittedId(kernel.correct("orch"));
    act(kernel, id);
    expect(kernel.withdraw("orch", id)).toMatchObject({ events: [], answer: { kind: "stage", correctionId: id } });
    expect(kernel.correction(id).stage).toBe(stage);
  });

  it("is the sender's by any of its tokens [A2C-LIFE-38]", () => {
    const kernel = running();
    kernel.grant("orchestrator", "orch", { token: "t-second" });
    const id = admittedId(kernel.correct("orch"));
    expect(told(kernel.withdraw("orch", id, { token: "t-second" }))).toEqual(["withdrawn"]);
  });
});

describe("a question for the stage", () => {
  it("answers where the correction stands and records nothing [A2C-LIFE-05]", () => {
    const kernel = running();
    const id = admittedId(kernel.correct("orch"));
    expect(kernel.stage("orch", id)).toMatchObject({ events: [], answer: { kind: "stage", correctionId: id } });
  });

  it.each(["stage", "withdraw"] as const)("gets, as %s, one answer for unknown and another's [A2C-REF-08]", (verb) => {
    const kernel = running();
    const id = admittedId(kernel.correct("orch"));
    for (const correction_id of [id, `corr_${"0".repeat(32)}`]) {
      expect(refusalOf(kernel[verb]("other", correction_id))).toEqual(NO_GRANT);
    }
    expect(kernel.correction(id).stage).toBe("ADMITTED");
  });

  it("needs the verb, and a token that holds [A2C-REF-01]", () => {
    const kernel = running();
    const id = admittedId(kernel.correct("orch"));
    kernel.grant("orchestrator", "orch", { token: "t-observer", verbs: ["watch"] });
    expect(refusalOf(kernel.stage("orch", id, { token: "t-observer" }))).toEqual(NO_GRANT);
    kernel.revoke("t-orch");
    expect(refusalOf(kernel.stage("orch", id))).toEqual({ reason: "DEFAULT_DENY", detail: "REVOKED" });
  });
});
