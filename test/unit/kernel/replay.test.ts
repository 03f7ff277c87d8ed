import { describe, expect, it } from "vitest";
import { admittedId, refusalOf, type TestKernel } from "../../support/kernel.js";
import { running } from "../../support/kernel-scenes.js";

/** Admits and withdraws `count` corrections of `orch` for `worker_id`, as fast as the rate allows. */
function spend(kernel: TestKernel, count: number, worker_id = "w-1"): void {
  for (let n = 0; n < count; n += 1) {
    if (n % 20 === 0) kernel.now += 1_000;
    kernel.withdraw("orch", admittedId(kernel.correct("orch", { worker_id, key: `${worker_id}-${kernel.now}-${n}` })));
  }
}

describe("a correction sent again", () => {
  it("is answered with the admission and the stage of now, at every stage [A2C-ADM-04]", () => {
    const kernel = running();
    const status_digest = kernel.worker()?.digest;
    const first = kernel.correct("orch", { status_digest });
    const id = admittedId(first);
    const again = (): unknown => {
      const { answer } = kernel.correct("orch", { status_digest });
      expect(answer).toMatchObject({ kind: "admitted", correctionId: id, replayed: true });
      const { index, stage } = kernel.correction(id);
      return { index, stage };
    };
    expect(again()).toEqual({ index: first.first, stage: "ADMITTED" });
    kernel.receive("w-1", id);
    expect(again()).toEqual({ index: first.first, stage: "DELIVERED" });
    kernel.ack("w-1", id);
    expect(again()).toEqual({ index: first.first, stage: "ACKED" });
    kernel.status("w-1", { next_action: { summary: "move the fix", reflects: [id] } });
    expect(again()).toEqual({ index: first.first, stage: "WITNESSED" });
    kernel.status("w-1", { lane: "cmd" });
    expect(again()).toEqual({ index: first.first, stage: "WITNESSED" });
  });

  it("is deliverable only while it is open, its worker live and reachable [A2C-ADM-30]", () => {
    const kernel = running();
    const status_digest = kernel.worker()?.digest;
    const id = admittedId(kernel.correct("orch", { status_digest }));
    const again = (reachable: boolean): unknown => kernel.correct("orch", { status_digest }, { reachable }).answer;
    expect(again(true)).toHaveProperty("deliverable", true);
    expect(again(false)).toHaveProperty("deliverable", false);
    kernel.lapse();
    expect(again(true)).toHaveProperty("deliverable", false);
    kernel.status("w-1");
    expect(again(true)).toHaveProperty("deliverable", true);
    kernel.withdraw("orch", id);
    expect(again(true)).toHaveProperty("deliverable", false);
  });

  it("leaves no entry, takes no room and no rate [A2C-ADM-29]", () => {
    const kernel = running();
    kernel.correct("orch");
    const { size } = kernel.state;
    for (let n = 0; n < 50; n += 1) kernel.correct("orch");
    expect(kernel.state.size).toBe(size);
    for (let n = 0; n < 7; n += 1) expect(refusalOf(kernel.correct("orch", { key: `k${n}` }))).toBeUndefined();
  });

  it.each([
    ["another key", { key: "again" }],
    ["the default ttl written out", { ttl_ms: 600_000 }],
    ["the default priority written out", { priority: "normal" as const }],
    ["the default freshness written out", { freshness: "run" as const }],
    ["the limit written out", { max_bytes: 1_024 }],
    ["a limit that is clamped to the same", { max_bytes: 60_000 }],
    ["its own sender written out", { orchestrator_id: "orch" }],
    ["another message", { message: "Stay in your lane!" }],
  ])("is another correction with %s, unless the id says it is the same [A2C-ADM-27] [A2C-ADM-28]", (_, fields) => {
    const kernel = running();
    const plain = admittedId(kernel.correct("orch"));
    const { answer } = kernel.correct("orch", fields);
    const same = "orchestrator_id" in fields;
    expect(answer).toMatchObject({ kind: "admitted", replayed: same });
    expect(answer.kind === "admitted" && answer.correctionId === plain).toBe(same);
  });

  it("is another correction from another sender", () => {
    const kernel = running();
    const ids = ["orch", "other"].map((subject) => admittedId(kernel.correct(subject)));
    expect(new Set(ids).size).toBe(2);
  });
});

describe("how long an ended correction is kept", () => {
  it("is among the last 1,024 of its principal, though its digest is gone [A2C-ADM-32]", () => {
    const kernel = running();
    const status_digest = kernel.worker()?.digest;
    const id = admittedId(kernel.correct("orch", { status_digest }));
    kernel.withdraw("orch", id);
    kernel.status("w-1", { last_action: "moved on" });
    spend(kernel, 1_023);
    expect(kernel.correct("orch", { status_digest }).answer).toMatchObject({ correctionId: id, replayed: true });
    kernel.status("w-1", { last_action: "moved on again" });
    spend(kernel, 1);
    expect(kernel.state.corrections.has(id)).toBe(false);
    expect(refusalOf(kernel.correct("orch", { status_digest }))).toEqual({ reason: "UNWITNESSED", detail: "DIGEST" });
  });

  it("is as long as its digest is current, however many ended since [A2C-ADM-32] [A2C-ADM-33]", () => {
    const kernel = running();
    kernel.status("w-2");
    const status_digest = kernel.worker()?.digest;
    const id = admittedId(kernel.correct("orch", { status_digest }));
    kernel.withdraw("orch", id);
    spend(kernel, 1_024, "w-2");
    expect(kernel.correct("orch", { status_digest }).answer).toMatchObject({ correctionId: id, replayed: true });
    kernel.lapse("w-1");
    expect(kernel.state.corrections.has(id)).toBe(false);
    expect(refusalOf(kernel.correct("orch", { status_digest }))).toEqual({ reason: "UNWITNESSED", detail: "NOT_LIVE" });
    kernel.status("w-1", { last_action: "read the issue" });
    expect(refusalOf(kernel.correct("orch", { status_digest }))).toEqual({ reason: "UNWITNESSED", detail: "DIGEST" });
  });

  it("does not outlast an end that comes after the digest moved, 1,024 ends later [A2C-ADM-32]", () => {
    const kernel = running();
    const id = admittedId(kernel.correct("orch"));
    kernel.status("w-1", { last_action: "moved on" });
    kernel.withdraw("orch", id);
    spend(kernel, 1_023);
    expect(kernel.state.corrections.has(id)).toBe(true);
    kernel.status("w-1", { last_action: "moved on again" });
    spend(kernel, 1);
    expect(kernel.state.corrections.has(id)).toBe(false);
  });

  it("is bounded by 1,024 corrections of a principal that cite one digest, then RATE; others have room [A2C-ADM-26]", () => {
    const kernel = running();
    spend(kernel, 1_024);
    kernel.now += 1_000;
    expect(refusalOf(kernel.correct("orch", { key: "more" }))).toEqual({ reason: "RATE_LIMITED", detail: "RATE" });
    expect(refusalOf(kernel.correct("other", { priority: "halt" }))).toBeUndefined();
    kernel.status("w-1", { last_action: "moved on" });
    expect(refusalOf(kernel.correct("orch", { key: "more" }))).toBeUndefined();
  });
});
