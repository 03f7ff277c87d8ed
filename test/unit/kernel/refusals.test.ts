import { describe, expect, it } from "vitest";
import type { Principal } from "../../../src/kernel/index.js";
import { textOf } from "../../support/kernel.js";
import { correctFrame, running } from "../../support/kernel-scenes.js";

describe("the bucket of refusals that are logged singly", () => {
  it("holds 100, and one more each 20,000 ms [A2C-LIM-02]", () => {
    const kernel = running();
    const refuse = (): number => kernel.correct("orch", { lane: "cmd" }).events.length;
    const logged = (times: number): number => Array.from({ length: times }, refuse).reduce((a, b) => a + b, 0);
    expect(logged(250)).toBe(100);
    kernel.now += 19_999;
    expect(logged(3)).toBe(0);
    kernel.now += 1;
    expect(logged(3)).toBe(1);
    kernel.now += 100_000;
    expect(logged(10)).toBe(5);
    kernel.now += 1_000 * 20_000;
    expect(logged(250)).toBe(100);
  });

  it("past its room gives a folded answer without an entry, at once [A2C-LIM-04] [A2C-LIM-01]", () => {
    const kernel = running();
    const answers = Array.from({ length: 101 }, () => kernel.correct("orch", { lane: "cmd" }));
    const refusal = { reason: "TRUST_VIOLATION", detail: "SCOPE" };
    expect(answers[99]).toMatchObject({ events: [{ kind: "refused" }], answer: { folded: false, refusal } });
    expect(answers[100]).toMatchObject({ events: [], answer: { kind: "refused", folded: true, refusal } });
  });

  it("is each principal's own: a role with a subject, over all its verbs and tokens [A2C-LIM-02]", () => {
    const kernel = running();
    kernel.grant("auditor", "orch", { token: "t-auditor" });
    kernel.grant("orchestrator", "orch", { token: "t-second" });
    for (let n = 0; n < 50; n += 1) kernel.correct("orch", { lane: "cmd" });
    for (let n = 0; n < 50; n += 1) kernel.stage("orch", `corr_${"0".repeat(32)}`);
    expect(kernel.correct("orch", { lane: "cmd" }, { token: "t-second" }).events).toEqual([]);
    expect(kernel.correct("other", { lane: "cmd" }).events).toHaveLength(1);
    expect(kernel.read("auditor", "orch", "get", { token: "t-auditor" }).events).toHaveLength(1);
  });

  it("does not keep anybody from being admitted", () => {
    const kernel = running();
    for (let n = 0; n < 150; n += 1) kernel.correct("orch", { lane: "cmd" });
    expect(kernel.correct("orch").answer).toMatchObject({ kind: "admitted" });
  });
});

describe("folded refusals", () => {
  it("leave one entry with what was counted [A2C-LIM-03]", () => {
    const kernel = running();
    const counted = { role: "orchestrator", subject: "orch", counts: { UNWITNESSED: 3 }, first_at: 1, last_at: 9 };
    expect(kernel.do({ kind: "fold", ...counted }).events).toEqual([
      { kind: "refusals_folded", at: 1_000_000, by: { role: "broker", subject: "broker" }, ...counted },
    ]);
  });
});

describe("the entry of a refusal", () => {
  it("holds the request's fields under the principal's own name", () => {
    const kernel = running();
    const { events } = kernel.correct("orch", { orchestrator_id: "other", key: "k" });
    expect(events).toMatchObject([
      {
        by: { role: "orchestrator", subject: "orch", token: "t-orch" },
        worker_id: "w-1",
        content: { orchestrator_id: "other", key: "k", issue: "2162", message: { text: "Stay in your lane." } },
      },
    ]);
  });

  it.each([
    ["OVERSIZE", { message: "x".repeat(1_025) }],
    ["MALFORMED", { message: `${"x".repeat(1_024)}\u202e` }],
    ["MALFORMED", { message: "x".repeat(60_000), issue: "" }],
  ])("keeps no text over 1,024 bytes, only size and commitment: %s [A2C-LIM-06]", (reason, fields) => {
    const kernel = running();
    const { events } = kernel.frame("orch", correctFrame(kernel, fields));
    const { bytes, commitment } = textOf("message", fields.message);
    expect(events).toMatchObject([{ kind: "refused", reason }]);
    expect(events[0]).toHaveProperty("content.message", { bytes, commitment });
  });

  it("keeps a refused text of at most 1,024 bytes beside the log", () => {
    const kernel = running();
    const { events } = kernel.frame("orch", correctFrame(kernel, { message: "a\u202eb" }));
    expect(events).toMatchObject([
      { reason: "MALFORMED", detail: "TEXT_HIDDEN", worker_id: "w-1", content: { message: { text: "a\u202eb" } } },
    ]);
  });

  it("names the worker and the row's seq where the refusal turned on the row", () => {
    const kernel = running();
    kernel.status("w-1", { last_action: "x" });
    expect(kernel.correct("orch", { status_digest: "x" }).events).toMatchObject([{ worker_id: "w-1", seq: 2 }]);
    expect(kernel.correct("orch", { worker_id: "w-2" }).events[0]).not.toHaveProperty("seq");
  });
});

describe("a hello for a role that its token lacks", () => {
  it("is refused to whoever shows a good token, in the token's own role, and to nobody else [A2C-LIM-10] [A2C-LIM-05]", () => {
    const kernel = running();
    const own = { role: "orchestrator", subject: "orch", token: "t-orch" } as const;
    const asAuditor = (by: Principal): unknown[] => [...kernel.do({ kind: "take_role", by, role: "auditor" }).events];
    expect(asAuditor(own)).toMatchObject([{ kind: "refused", verb: "hello", by: own, role: "auditor" }]);
    for (const role of ["auditor", "broker", "operator"] as const) expect(asAuditor({ ...own, role })).toEqual([]);
    expect(asAuditor({ ...own, token: "t-other" })).toEqual([]);
    kernel.revoke("t-orch");
    expect(asAuditor(own)).toEqual([]);
  });
});
