import { describe, expect, it } from "vitest";
import { nextDue } from "../../../src/kernel/index.js";
import { admittedId, told } from "../../support/kernel.js";
import { running } from "../../support/kernel-scenes.js";

describe("the first window", () => {
  it.each(["ADMITTED", "DELIVERED"])(
    "ends a correction that is %s at its end, and not before [A2C-LIFE-40]",
    (stage) => {
      const kernel = running();
      const id = admittedId(kernel.correct("orch", { ttl_ms: 5_000 }));
      if (stage === "DELIVERED") kernel.receive("w-1", id);
      kernel.now += 4_999;
      expect(told(kernel.tick())).toEqual([]);
      kernel.now += 1;
      const step = kernel.tick();
      expect(told(step)).toEqual(["expired"]);
      expect(step.events[0]).toMatchObject({ at: 1_005_000, by: { role: "broker", subject: "broker" } });
      expect(kernel.correction(id)).toMatchObject({ stage: "EXPIRED", stageAt: 1_005_000 });
      expect(kernel.correction(id).detail).toBeUndefined();
    },
  );

  it("runs while the row is not live too [A2C-LIVE-08]", () => {
    const kernel = running();
    kernel.correct("orch", { ttl_ms: 5_000 });
    kernel.lapse();
    kernel.now += 5_000;
    expect(told(kernel.tick())).toEqual(["expired"]);
  });

  it("is past when the ack comes at its end: answered with the end, logged once [A2C-LIFE-43]", () => {
    const kernel = running();
    const id = admittedId(kernel.correct("orch", { ttl_ms: 5_000 }));
    kernel.now += 5_000;
    const step = kernel.ack("w-1", id, { summary: "s", reflects: [id] });
    expect(told(step)).toEqual(["expired", "late_ack"]);
    expect(step).toMatchObject({ own: 1, answer: { kind: "stage", correctionId: id, planned: false } });
    expect(kernel.correction(id).stage).toBe("EXPIRED");
    expect(kernel.worker()?.row).not.toHaveProperty("next_action");
    expect(told(kernel.ack("w-1", id))).toEqual([]);
  });

  it("leaves a late ack only where it expired unacked: other ends record nothing [A2C-REF-09]", () => {
    const kernel = running();
    const withdrawn = admittedId(kernel.correct("orch", { key: "1" }));
    kernel.withdraw("orch", withdrawn);
    const acked = admittedId(kernel.correct("orch", { key: "2", ttl_ms: 5_000 }));
    kernel.ack("w-1", acked);
    kernel.now += 5_000;
    expect(told(kernel.ack("w-1", acked))).toEqual(["expired/WINDOW"]);
    expect(told(kernel.ack("w-1", withdrawn))).toEqual([]);
  });
});

describe("the second window", () => {
  it("is as long as the first and runs from the ack [A2C-LIFE-23] [A2C-LIFE-41]", () => {
    const kernel = running();
    const id = admittedId(kernel.correct("orch", { ttl_ms: 5_000 }));
    kernel.now += 4_000;
    expect(kernel.ack("w-1", id).events[1]).toMatchObject({ kind: "acked", expires_at: 1_009_000 });
    kernel.now += 4_999;
    expect(told(kernel.tick())).toEqual([]);
    kernel.now += 1;
    expect(told(kernel.tick())).toEqual(["expired/WINDOW"]);
    expect(kernel.correction(id)).toMatchObject({ stage: "EXPIRED", detail: "WINDOW" });
  });

  it("is not prolonged by a repeated ack or by restating the plan [A2C-LIFE-41]", () => {
    const kernel = running();
    kernel.status("w-1", { next_action: { summary: "s" } });
    const id = admittedId(kernel.correct("orch", { ttl_ms: 5_000 }));
    kernel.ack("w-1", id);
    kernel.now += 3_000;
    kernel.ack("w-1", id);
    kernel.status("w-1", { last_action: "x", next_action: { summary: "s" } });
    kernel.now += 2_000;
    expect(told(kernel.tick())).toEqual(["expired/WINDOW"]);
  });

  it("is past when the plan comes at its end: the plan judges nothing [A2C-LIFE-52]", () => {
    const kernel = running();
    const id = admittedId(kernel.correct("orch", { ttl_ms: 5_000 }));
    kernel.ack("w-1", id);
    kernel.now += 5_000;
    expect(told(kernel.status("w-1", { next_action: { summary: "s", reflects: [id] } }))).toEqual([
      "expired/WINDOW",
      "planned",
      "status",
    ]);
  });
});

describe("what is due", () => {
  it("ends before any command, by due time and then by index [A2C-LIFE-52]", () => {
    const kernel = running();
    const ttls = [9_000, 5_000, 7_000, 5_000];
    const [a, b, c, d] = ttls.map((ttl_ms, n) => admittedId(kernel.correct("orch", { ttl_ms, key: `k${n}` })));
    kernel.now += 60_000;
    const step = kernel.correct("other");
    expect(told(step)).toEqual(["expired", "expired", "expired", "expired", "admitted"]);
    expect(step.own).toBe(4);
    expect(step.events.map(({ at }) => at)).toEqual([1_060_000, 1_060_000, 1_060_000, 1_060_000, 1_060_000]);
    expect(step.events.flatMap((event) => (event.kind === "expired" ? [event.correction_id] : []))).toEqual([
      b,
      d,
      c,
      a,
    ]);
  });

  it("frees its place for the same command [A2C-LIFE-52]", () => {
    const kernel = running();
    for (let n = 0; n < 8; n += 1) kernel.correct("other", { key: `k${n}`, ttl_ms: 1_000 });
    kernel.now += 1_000;
    expect(kernel.correct("orch").answer).toMatchObject({ kind: "admitted" });
  });

  it("ends at a restart before rows are rewritten [A2C-LIFE-52]", () => {
    const kernel = running();
    kernel.correct("orch", { ttl_ms: 1_000, freshness: "exact" });
    kernel.now += 1_000;
    expect(told(kernel.start())).toEqual(["expired", "broker_started", "status"]);
  });

  it("is known in advance: the next due time [A2C-LIFE-53]", () => {
    const kernel = running();
    expect(nextDue(kernel.state)).toBeUndefined();
    kernel.correct("orch", { key: "1", ttl_ms: 9_000 });
    const soon = admittedId(kernel.correct("orch", { key: "2", ttl_ms: 5_000 }));
    expect(nextDue(kernel.state)).toBe(1_005_000);
    kernel.ack("w-1", soon);
    kernel.now = 1_005_000;
    kernel.tick();
    expect(nextDue(kernel.state)).toBe(1_009_000);
  });

  it("is the first to be due, also when an ack moves the one that was on", () => {
    const kernel = running();
    const first = admittedId(kernel.correct("orch", { key: "1", ttl_ms: 5_000 }));
    const second = admittedId(kernel.correct("orch", { key: "2", ttl_ms: 6_000 }));
    kernel.now += 2_000;
    kernel.ack("w-1", first);
    expect(nextDue(kernel.state)).toBe(1_006_000);
    kernel.now = 1_006_000;
    expect(told(kernel.tick())).toEqual(["expired"]);
    expect(kernel.correction(second).stage).toBe("EXPIRED");
    expect(nextDue(kernel.state)).toBe(1_007_000);
  });

  it("is no correction that ended already [A2C-LIFE-02]", () => {
    const kernel = running();
    const withdrawn = admittedId(kernel.correct("orch", { key: "1", ttl_ms: 5_000 }));
    const witnessed = admittedId(kernel.correct("orch", { key: "2", ttl_ms: 5_000 }));
    kernel.withdraw("orch", withdrawn);
    kernel.ack("w-1", witnessed, { summary: "s", reflects: [witnessed] });
    expect(nextDue(kernel.state)).toBeUndefined();
    kernel.now += 60_000;
    expect(told(kernel.tick())).toEqual([]);
  });

  it("ends once, though a window had two ends at the same time", () => {
    const kernel = running();
    const id = admittedId(kernel.correct("orch", { ttl_ms: 5_000 }));
    kernel.ack("w-1", id);
    kernel.now += 5_000;
    expect(told(kernel.tick())).toEqual(["expired/WINDOW"]);
    expect(nextDue(kernel.state)).toBeUndefined();
  });
});
