import { describe, expect, it } from "vitest";
import { admittedId, told, type TestKernel } from "../../support/kernel.js";
import { running } from "../../support/kernel-scenes.js";

const EXACT = { freshness: "exact" as const };

describe("a row that moves to another run", () => {
  it.each([{ issue: "2163" }, { lane: "cmd" }, { task_id: "gh-1" }])(
    "makes every open correction STALE/RUN_CHANGED: %o [A2C-LIFE-44]",
    (moved) => {
      const kernel = running();
      const ids = ["1", "2", "3"].map((key) => admittedId(kernel.correct("orch", { key })));
      kernel.receive("w-1", ids[1] ?? "");
      kernel.ack("w-1", ids[2] ?? "");
      const step = kernel.status("w-1", moved);
      expect(told(step)).toEqual(["status", "stale/RUN_CHANGED", "stale/RUN_CHANGED", "stale/RUN_CHANGED"]);
      expect(step.events.flatMap((event) => (event.kind === "stale" ? [event.correction_id] : []))).toEqual(ids);
      expect(kernel.worker()?.open.size).toBe(0);
    },
  );

  it("makes them stale when the task goes, too [A2C-LIFE-44]", () => {
    const kernel = running();
    kernel.status("w-1", { task_id: "gh-1" });
    kernel.correct("orch", { task_id: "gh-1" });
    expect(told(kernel.status("w-1"))).toEqual(["status", "stale/RUN_CHANGED"]);
  });

  it("carries nothing over when it comes back live elsewhere [A2C-LIFE-44]", () => {
    const kernel = running();
    kernel.correct("orch");
    kernel.lapse();
    expect(told(kernel.status("w-1", { lane: "cmd" }))).toEqual(["status", "stale/RUN_CHANGED"]);
  });

  it("leaves them open while the digest moves within the run [A2C-LIFE-46]", () => {
    const kernel = running();
    const id = admittedId(kernel.correct("orch"));
    expect(told(kernel.status("w-1", { last_action: "x", next_action: { summary: "y" } }))).toEqual([
      "planned",
      "status",
    ]);
    expect(kernel.correction(id).stage).toBe("ADMITTED");
  });
});

describe("a correction of freshness exact", () => {
  it.each<[string, (kernel: TestKernel) => ReturnType<TestKernel["tick"]>, string[]]>([
    ["a status", (kernel) => kernel.status("w-1", { last_action: "x" }), ["status", "stale/DIGEST_MOVED"]],
    ["a lapse", (kernel) => kernel.lapse(), ["status", "stale/DIGEST_MOVED"]],
    ["a restart", (kernel) => kernel.start(), ["broker_started", "status", "stale/DIGEST_MOVED"]],
    [
      "the plan in the ack of another",
      (kernel) => kernel.ack("w-1", admittedId(kernel.correct("other")), { summary: "s" }),
      ["delivered", "acked", "planned", "unreflected", "status", "stale/DIGEST_MOVED"],
    ],
  ])("is STALE/DIGEST_MOVED when %s moves the digest before its receipt [A2C-LIFE-45]", (_, act, expected) => {
    const kernel = running();
    const id = admittedId(kernel.correct("orch", EXACT));
    expect(told(act(kernel))).toEqual(expected);
    expect(kernel.correction(id)).toMatchObject({ stage: "STALE", detail: "DIGEST_MOVED" });
  });

  it("stands once it was received [A2C-LIFE-45]", () => {
    const kernel = running();
    const id = admittedId(kernel.correct("orch", EXACT));
    kernel.receive("w-1", id);
    kernel.status("w-1", { last_action: "x" });
    kernel.lapse();
    expect(kernel.correction(id).stage).toBe("DELIVERED");
  });

  it("stands when the digest does not move [A2C-LIFE-45]", () => {
    const kernel = running();
    const id = admittedId(kernel.correct("orch", EXACT));
    kernel.status("w-1", { last_action: "read the issue" });
    kernel.connect("w-1", "s-2");
    kernel.ack("w-1", admittedId(kernel.correct("other")));
    expect(kernel.correction(id).stage).toBe("ADMITTED");
  });

  it("is judged by its own ack with a plan, which is also its receipt [A2C-LIFE-26]", () => {
    const kernel = running();
    const id = admittedId(kernel.correct("orch", EXACT));
    expect(told(kernel.ack("w-1", id, { summary: "s", reflects: [id] }))).toEqual([
      "delivered",
      "acked",
      "planned",
      "witnessed",
      "status",
    ]);
  });

  it("is RUN_CHANGED, not DIGEST_MOVED, when the run moves [A2C-LIFE-44]", () => {
    const kernel = running();
    const id = admittedId(kernel.correct("orch", EXACT));
    kernel.status("w-1", { lane: "cmd" });
    expect(kernel.correction(id)).toMatchObject({ stage: "STALE", detail: "RUN_CHANGED" });
  });

  it("ends in admission order with others [A2C-LIFE-33]", () => {
    const kernel = running();
    const ids = (["exact", "run", "exact"] as const).map((freshness, n) =>
      admittedId(kernel.correct("orch", { freshness, key: `k${n}` })),
    );
    const { events } = kernel.lapse();
    expect(events.slice(1)).toMatchObject([{ correction_id: ids[0] }, { correction_id: ids[2] }]);
  });
});
