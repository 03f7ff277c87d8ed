import { describe, expect, it } from "vitest";
import type { Step } from "../../../src/kernel/index.js";
import { admittedId, refusalOf, told, type TestKernel } from "../../support/kernel.js";
import { correctFrame, fillInbox, running, useUpRate } from "../../support/kernel-scenes.js";

const NO_GRANT = { reason: "DEFAULT_DENY", detail: "NO_GRANT" };
const REVOKED = { reason: "DEFAULT_DENY", detail: "REVOKED" };
const DIGEST = { reason: "UNWITNESSED", detail: "DIGEST" };
const SCOPE_MOVED = { reason: "TRUST_VIOLATION", detail: "SCOPE" };
const UNKNOWN = `corr_${"0".repeat(32)}`;
const LANE_ONLY = { worker: "**", issue: "**", lane: "cmd/*" };

describe("the checks of admission", () => {
  it.each<[string, (kernel: TestKernel) => Step, object]>([
    [
      "0: a token without the verb is NO_GRANT [A2C-ADM-00]",
      (kernel) => {
        kernel.grant("orchestrator", "observer", { verbs: ["watch"] });
        return kernel.correct("observer");
      },
      NO_GRANT,
    ],
    [
      "0: an unknown token is NO_GRANT [A2C-ADM-00]",
      (kernel) => kernel.correct("orch", {}, { token: "t-x" }),
      NO_GRANT,
    ],
    [
      "0: the token of another subject is NO_GRANT [A2C-ADM-00]",
      (kernel) => kernel.correct("orch", {}, { token: "t-other" }),
      NO_GRANT,
    ],
    [
      "0: a worker cannot correct, not even itself [A2C-ADM-00] [A2C-AUTH-07]",
      (kernel) => kernel.correct("w-1", {}, { role: "worker" }),
      NO_GRANT,
    ],
    [
      "0: a role without the verb is refused whatever the token grants [A2C-AUTH-07]",
      (kernel) => {
        kernel.grant("auditor", "all", { verbs: ["audit", "correct"] });
        return kernel.correct("all", {}, { role: "auditor" });
      },
      NO_GRANT,
    ],
    [
      "0: a revoked token is REVOKED [A2C-ADM-00]",
      (kernel) => {
        kernel.revoke("t-orch");
        return kernel.correct("orch");
      },
      REVOKED,
    ],
    [
      "0: a token is REVOKED from its expiry on [A2C-ADM-00] [A2C-AUTH-08]",
      (kernel) => {
        kernel.grant("orchestrator", "guest", { expires_at: kernel.now + 5_000 });
        kernel.now += 5_000;
        return kernel.correct("guest");
      },
      REVOKED,
    ],
    [
      "1: a frame of bad shape is MALFORMED with its detail [A2C-ADM-01]",
      (kernel) => kernel.frame("orch", correctFrame(kernel, { issue: "a..b" })),
      { reason: "MALFORMED", detail: "ID", path: "issue" },
    ],
    [
      "2: a scope outside the grant is NO_GRANT [A2C-ADM-02]",
      (kernel) => {
        kernel.grant("orchestrator", "orch", { patterns: LANE_ONLY });
        return kernel.correct("orch");
      },
      NO_GRANT,
    ],
    [
      "2: another's name is PRINCIPAL [A2C-ADM-14]",
      (kernel) => kernel.correct("orch", { orchestrator_id: "other" }),
      { reason: "TRUST_VIOLATION", detail: "PRINCIPAL" },
    ],
    [
      "3: a message over 1,024 bytes is OVERSIZE [A2C-ADM-03]",
      (kernel) => kernel.correct("orch", { message: "x".repeat(1_025) }),
      { reason: "OVERSIZE", bytes: 1_025, max_bytes: 1_024 },
    ],
    [
      "3: bytes are counted, not characters [A2C-ADM-03]",
      (kernel) => kernel.correct("orch", { message: "\u00e9\u00e9\u00e9", max_bytes: 5 }),
      { reason: "OVERSIZE", bytes: 6, max_bytes: 5 },
    ],
    [
      "3: max_bytes cannot widen [A2C-ADM-34]",
      (kernel) => kernel.correct("orch", { message: "x".repeat(1_025), max_bytes: 60_000 }),
      { reason: "OVERSIZE", bytes: 1_025, max_bytes: 1_024 },
    ],
    [
      "5: a worker without a row is NO_ROW [A2C-ADM-05]",
      (kernel) => kernel.correct("orch", { worker_id: "w-2" }),
      { reason: "UNWITNESSED", detail: "NO_ROW" },
    ],
    [
      "5: an unknown worker is NO_ROW [A2C-ADM-05]",
      (kernel) => kernel.correct("orch", { worker_id: "w-9" }),
      { reason: "UNWITNESSED", detail: "NO_ROW" },
    ],
    [
      "5: a row outside the grant is NO_ROW, though the scope named is inside [A2C-ADM-15]",
      (kernel) => {
        kernel.grant("orchestrator", "orch", { patterns: LANE_ONLY });
        return kernel.correct("orch", { lane: "cmd/a" });
      },
      { reason: "UNWITNESSED", detail: "NO_ROW" },
    ],
    [
      "5: a lapsed row is NOT_LIVE, also with its own digest [A2C-ADM-16]",
      (kernel) => {
        kernel.lapse();
        return kernel.correct("orch");
      },
      { reason: "UNWITNESSED", detail: "NOT_LIVE" },
    ],
    [
      "5: a row that bye ended is ENDED [A2C-ADM-17]",
      (kernel) => {
        kernel.bye();
        return kernel.correct("orch");
      },
      { reason: "UNWITNESSED", detail: "ENDED" },
    ],
    ["6: another digest is DIGEST [A2C-ADM-06]", (kernel) => kernel.correct("orch", { status_digest: "x" }), DIGEST],
    ["6: no digest is DIGEST [A2C-ADM-06]", (kernel) => kernel.correct("orch", { status_digest: undefined }), DIGEST],
    [
      "6: the digest of an earlier row is DIGEST [A2C-ADM-06]",
      (kernel) => {
        const status_digest = kernel.worker()?.digest;
        kernel.status("w-1", { last_action: "edited the wrong file" });
        return kernel.correct("orch", { status_digest });
      },
      DIGEST,
    ],
    [
      "6: the digest of a row that was live before a restart is DIGEST [A2C-ROW-08]",
      (kernel) => {
        const status_digest = kernel.worker()?.digest;
        kernel.start();
        kernel.connect("w-1", "s-2");
        kernel.status("w-1", { last_action: "read the issue" });
        return kernel.correct("orch", { status_digest });
      },
      DIGEST,
    ],
    ["7: another issue is SCOPE [A2C-ADM-07]", (kernel) => kernel.correct("orch", { issue: "2163" }), SCOPE_MOVED],
    ["7: another lane is SCOPE [A2C-ADM-07]", (kernel) => kernel.correct("orch", { lane: "internal" }), SCOPE_MOVED],
    [
      "7: another case is SCOPE [A2C-ADM-07] [A2C-ID-04]",
      (kernel) => kernel.correct("orch", { lane: "Internal/a2achan" }),
      SCOPE_MOVED,
    ],
    [
      "7: a task where the row has none is SCOPE [A2C-ADM-07]",
      (kernel) => kernel.correct("orch", { task_id: "gh-2162" }),
      SCOPE_MOVED,
    ],
    [
      "7: no task where the row has one is SCOPE [A2C-ADM-07]",
      (kernel) => {
        kernel.status("w-1", { task_id: "gh-2162" });
        return kernel.correct("orch");
      },
      SCOPE_MOVED,
    ],
    [
      "8: superseding what is not there is TRUST_VIOLATION [A2C-ADM-08]",
      (kernel) => kernel.correct("orch", { supersedes: UNKNOWN }),
      { reason: "TRUST_VIOLATION", detail: "SUPERSEDES" },
    ],
    [
      "9: the ninth open correction is INBOX_FULL [A2C-ADM-09] [A2C-ADM-22]",
      (kernel) => {
        fillInbox(kernel);
        return kernel.correct("orch");
      },
      { reason: "RATE_LIMITED", detail: "INBOX_FULL" },
    ],
    [
      "9: the twenty-first admission in 1,000 ms is RATE [A2C-ADM-09] [A2C-ADM-25]",
      (kernel) => {
        useUpRate(kernel);
        kernel.now += 999;
        return kernel.correct("orch");
      },
      { reason: "RATE_LIMITED", detail: "RATE" },
    ],
  ])("%s", (_, act, refusal) => {
    const kernel = running();
    const step = act(kernel);
    expect(refusalOf(step)).toEqual(refusal);
    expect(told(step).map((kind) => kind.split("/")[0])).toEqual(["refused"]);
    expect(step.events[0]).toMatchObject({ verb: "correct", ...refusal });
  });

  it("10: admits what passed them, with its expiry and whether it can be delivered [A2C-ADM-10] [A2C-ADM-31]", () => {
    const kernel = running();
    const step = kernel.correct("orch", { ttl_ms: 5_000 });
    expect(told(step)).toEqual(["admitted"]);
    expect(step.events[0]).toMatchObject({ worker_id: "w-1", orchestrator_id: "orch", seq: 1, deliverable: true });
    expect(kernel.correction(admittedId(step))).toMatchObject({
      stage: "ADMITTED",
      index: step.first,
      stageIndex: step.first,
      expiresAt: 1_005_000,
    });
  });

  it("gives 10 minutes to a correction that does not say how long it holds [A2C-ADM-31]", () => {
    const kernel = running();
    expect(kernel.correction(admittedId(kernel.correct("orch"))).expiresAt).toBe(1_600_000);
  });

  it("admits for a worker that cannot be reached, and says so [A2C-ADM-30] [A2C-LIVE-05]", () => {
    const { answer, events } = running().correct("orch", {}, { reachable: false });
    expect(answer).toMatchObject({ kind: "admitted", replayed: false, deliverable: false });
    expect(events[0]).toMatchObject({ kind: "admitted", deliverable: false });
  });

  it("admits exactly 1,024 bytes, and a message as long as its max_bytes [A2C-ADM-03]", () => {
    const kernel = running();
    expect(refusalOf(kernel.correct("orch", { message: "x".repeat(1_024), max_bytes: 60_000 }))).toBeUndefined();
    expect(refusalOf(kernel.correct("orch", { message: "x".repeat(5), max_bytes: 5 }))).toBeUndefined();
  });

  it("admits again once a worker that ended is live again [A2C-ADM-17]", () => {
    const kernel = running();
    kernel.bye();
    kernel.connect("w-1", "s-2");
    expect(refusalOf(kernel.correct("orch"))).toEqual({ reason: "UNWITNESSED", detail: "ENDED" });
    kernel.status("w-1");
    expect(refusalOf(kernel.correct("orch"))).toBeUndefined();
    kernel.lapse();
    expect(refusalOf(kernel.correct("orch", { key: "2" }))).toEqual({ reason: "UNWITNESSED", detail: "NOT_LIVE" });
  });
});
