import { describe, expect, it } from "vitest";
import { admittedId, refusalOf, told, type TestKernel } from "../../support/kernel.js";
import { running } from "../../support/kernel-scenes.js";

/** Ids of `count` corrections of `orch` for `w-1`, in admission order. */
function admit(kernel: TestKernel, count: number): string[] {
  return Array.from({ length: count }, (_, n) => admittedId(kernel.correct("orch", { key: `k${n}` })));
}

describe("a planned action", () => {
  it("witnesses each acked correction that it names, and no other [A2C-LIFE-26] [A2C-LIFE-27]", () => {
    const kernel = running();
    const [a = "", b = "", c = "", d = ""] = admit(kernel, 4);
    for (const id of [c, a, b]) kernel.ack("w-1", id);
    kernel.receive("w-1", d);
    const step = kernel.status("w-1", { next_action: { summary: "move the fix", reflects: [c, a, d] } });
    expect(told(step)).toEqual(["planned", "witnessed", "unreflected", "witnessed", "status"]);
    expect([a, b, c, d].map((id) => kernel.correction(id).stage)).toEqual([
      "WITNESSED",
      "UNREFLECTED",
      "WITNESSED",
      "DELIVERED",
    ]);
  });

  it("ends what it judges in admission order, whatever the order of acks and reflects [A2C-LIFE-33]", () => {
    const kernel = running();
    const ids = admit(kernel, 8);
    for (const id of ids.toReversed()) kernel.ack("w-1", id);
    const { events } = kernel.status("w-1", { next_action: { summary: "s", reflects: [...ids].sort() } });
    const ends = events.flatMap((event) => (event.kind === "witnessed" ? [event.correction_id] : []));
    expect(ends).toEqual(ids);
  });

  it("can name nine corrections [A2C-LIFE-26]", () => {
    const kernel = running();
    const ids = [...admit(kernel, 8), admittedId(kernel.correct("orch", { priority: "halt" }))];
    for (const id of ids) kernel.ack("w-1", id);
    kernel.status("w-1", { next_action: { summary: "stop", reflects: ids } });
    expect(new Set(ids.map((id) => kernel.correction(id).stage))).toEqual(new Set(["WITNESSED"]));
  });

  it("judges nothing before the ack: naming an id early does not witness it [A2C-LIFE-28]", () => {
    const kernel = running();
    const [id = ""] = admit(kernel, 1);
    const next_action = { summary: "move the fix", reflects: [id] };
    expect(told(kernel.status("w-1", { next_action }))).toEqual(["planned", "status"]);
    kernel.ack("w-1", id);
    expect(told(kernel.status("w-1", { next_action }))).toEqual([]);
    expect(kernel.correction(id).stage).toBe("ACKED");
    const ghost = `corr_${"9".repeat(32)}`;
    expect(told(kernel.status("w-1", { next_action: { summary: "else", reflects: [ghost] } }))).toEqual([
      "planned",
      "unreflected",
      "status",
    ]);
  });

  it("is none when the row has it already, whatever else changes [A2C-LIFE-25]", () => {
    const kernel = running();
    kernel.status("w-1", { next_action: { summary: "s" } });
    const [id = ""] = admit(kernel, 1);
    kernel.ack("w-1", id);
    const step = kernel.status("w-1", { last_action: "other", next_action: { summary: "s", reflects: [] } });
    expect(told(step)).toEqual(["status"]);
    expect(kernel.correction(id).stage).toBe("ACKED");
  });

  it.each([
    ["summary", { summary: "t", reflects: [] }],
    ["white space", { summary: "s ", reflects: [] }],
    ["reflects", { summary: "s", reflects: [`corr_${"9".repeat(32)}`] }],
  ])("is one as soon as it differs in %s [A2C-LIFE-24]", (_, next_action) => {
    const kernel = running();
    kernel.status("w-1", { next_action: { summary: "s" } });
    expect(told(kernel.status("w-1", { next_action }))).toEqual(["planned", "status"]);
  });

  it("is one when only the order of reflects differs [A2C-LIFE-24]", () => {
    const kernel = running();
    const [a = "", b = ""] = admit(kernel, 2);
    kernel.status("w-1", { next_action: { summary: "s", reflects: [a, b] } });
    expect(told(kernel.status("w-1", { next_action: { summary: "s", reflects: [b, a] } }))).toEqual([
      "planned",
      "status",
    ]);
  });

  it("is one again after the row had none, though it was there before [A2C-LIFE-32]", () => {
    const kernel = running();
    kernel.status("w-1", { next_action: { summary: "s" } });
    const [id = ""] = admit(kernel, 1);
    kernel.ack("w-1", id);
    expect(told(kernel.status("w-1"))).toEqual(["status"]);
    expect(kernel.worker()?.row).not.toHaveProperty("next_action");
    expect(told(kernel.status("w-1", { next_action: { summary: "s" } }))).toEqual(["planned", "unreflected", "status"]);
  });

  it("with the summary of the row before it flags what it witnesses as an echo [A2C-LIFE-30]", () => {
    const kernel = running();
    kernel.status("w-1", { next_action: { summary: "s" } });
    const [id = "", other = ""] = admit(kernel, 2);
    kernel.ack("w-1", id);
    kernel.ack("w-1", other);
    const { events } = kernel.status("w-1", { next_action: { summary: "s", reflects: [id] } });
    expect(events).toMatchObject([{ kind: "planned", echo: true }, { kind: "witnessed", echo: true }, {}, {}]);
    expect(events[2]).toMatchObject({ kind: "unreflected", correction_id: other });
    expect(events[2]).not.toHaveProperty("echo");
    expect(kernel.correction(id).echo).toBe(true);
  });

  it("with another summary is no echo [A2C-LIFE-30]", () => {
    const kernel = running();
    kernel.status("w-1", { next_action: { summary: "s" } });
    const [id = ""] = admit(kernel, 1);
    const { events } = kernel.ack("w-1", id, { summary: "t", reflects: [id] });
    expect(events.filter((event) => "echo" in event)).toEqual([]);
  });

  it("keeps how it was planned as a claim in its entry, and nowhere else [A2C-LIFE-31]", () => {
    const kernel = running();
    const step = kernel.status("w-1", { next_action: { summary: "s", via: "tool_input" } });
    expect(step.events[0]).toMatchObject({ kind: "planned", summary: { text: "s" }, reflects: [], via: "tool_input" });
    expect(kernel.worker()?.row?.next_action).not.toHaveProperty("via");
  });

  it("witnesses before the run moves: a wrong lane can be corrected [A2C-LIFE-34] [A2C-LIFE-33]", () => {
    const kernel = running();
    const [named = "", unnamed = "", waiting = ""] = admit(kernel, 3);
    kernel.ack("w-1", named);
    kernel.ack("w-1", unnamed);
    const step = kernel.status("w-1", { lane: "cmd", next_action: { summary: "go to cmd", reflects: [named] } });
    expect(told(step)).toEqual(["planned", "witnessed", "unreflected", "status", "stale/RUN_CHANGED"]);
    expect(kernel.correction(waiting)).toMatchObject({ stage: "STALE", detail: "RUN_CHANGED" });
  });

  it("in a refused status judges nothing [A2C-REF-10]", () => {
    const kernel = running();
    const [id = ""] = admit(kernel, 1);
    kernel.ack("w-1", id);
    const step = kernel.status("w-1", { expect_seq: 9, next_action: { summary: "s", reflects: [id] } });
    expect(refusalOf(step)).toEqual({ reason: "UNWITNESSED", detail: "SEQ" });
    expect(kernel.correction(id).stage).toBe("ACKED");
  });
});
