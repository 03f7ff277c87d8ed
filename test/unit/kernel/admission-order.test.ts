import { describe, expect, it } from "vitest";
import { LIMITS } from "../../../src/protocol/index.js";
import type { Step } from "../../../src/kernel/index.js";
import { admittedId, refusalOf, SCOPE, type TestKernel } from "../../support/kernel.js";
import { correctFrame, fillInbox, running, useUpRate } from "../../support/kernel-scenes.js";

const NO_GRANT = { reason: "DEFAULT_DENY", detail: "NO_GRANT" };
const DIGEST = { reason: "UNWITNESSED", detail: "DIGEST" };
const SCOPE_MOVED = { reason: "TRUST_VIOLATION", detail: "SCOPE" };
const OTHER_DIGEST = `sha256:${"0".repeat(64)}`;
const UNKNOWN = `corr_${"0".repeat(32)}`;
const LANE_ONLY = { worker: "**", issue: "**", lane: "cmd/*" };

describe("the order of the checks [A2C-ADM-11]", () => {
  it.each<[string, (kernel: TestKernel) => Step, object]>([
    [
      "0 before 1: a bad frame without the verb",
      (kernel) => {
        kernel.grant("orchestrator", "observer", { verbs: ["watch"] });
        return kernel.frame("observer", correctFrame(kernel, { message: "" }));
      },
      NO_GRANT,
    ],
    [
      "1 before 2: a bad frame outside the grant",
      (kernel) => {
        kernel.grant("orchestrator", "orch", { patterns: LANE_ONLY });
        return kernel.frame("orch", correctFrame(kernel, { message: "" }));
      },
      { reason: "MALFORMED", detail: "TEXT_BLANK", path: "message" },
    ],
    [
      "2 before 3: too long outside the grant",
      (kernel) => {
        kernel.grant("orchestrator", "orch", { patterns: LANE_ONLY });
        return kernel.correct("orch", { message: "x".repeat(1_025) });
      },
      NO_GRANT,
    ],
    [
      "2 in itself: outside the grant under another's name",
      (kernel) => {
        kernel.grant("orchestrator", "orch", { patterns: LANE_ONLY });
        return kernel.correct("orch", { orchestrator_id: "other" });
      },
      NO_GRANT,
    ],
    [
      "2 before 3: too long under another's name",
      (kernel) => kernel.correct("orch", { orchestrator_id: "other", message: "x".repeat(1_025) }),
      { reason: "TRUST_VIOLATION", detail: "PRINCIPAL" },
    ],
    [
      "3 before 4: too long by now, and admitted before",
      (kernel) => {
        const status_digest = kernel.worker()?.digest;
        kernel.correct("orch", { status_digest });
        kernel.start({ ...LIMITS, message_bytes: 4 });
        return kernel.correct("orch", { status_digest });
      },
      { reason: "OVERSIZE", bytes: 18, max_bytes: 4 },
    ],
    [
      "5 before 6: not live, another digest",
      (kernel) => {
        kernel.lapse();
        return kernel.correct("orch", { status_digest: OTHER_DIGEST });
      },
      { reason: "UNWITNESSED", detail: "NOT_LIVE" },
    ],
    [
      "6 before 7: another digest, another scope",
      (kernel) => kernel.correct("orch", { status_digest: OTHER_DIGEST, lane: "cmd" }),
      DIGEST,
    ],
    [
      "7 before 8: another scope, superseding nothing",
      (kernel) => kernel.correct("orch", { lane: "cmd", supersedes: UNKNOWN }),
      SCOPE_MOVED,
    ],
    [
      "8 before 9: superseding nothing in a full inbox",
      (kernel) => {
        fillInbox(kernel);
        return kernel.correct("orch", { supersedes: UNKNOWN });
      },
      { reason: "TRUST_VIOLATION", detail: "SUPERSEDES" },
    ],
    [
      "9 in itself: a full inbox, and over the rate",
      (kernel) => {
        fillInbox(kernel);
        useUpRate(kernel);
        return kernel.correct("orch");
      },
      { reason: "RATE_LIMITED", detail: "INBOX_FULL" },
    ],
  ])("%s", (_, act, refusal) => {
    expect(refusalOf(act(running()))).toEqual(refusal);
  });

  it("4 before 5: admitted before, and not live by now, is still a replay [A2C-ADM-04]", () => {
    const kernel = running();
    const status_digest = kernel.worker()?.digest;
    const id = admittedId(kernel.correct("orch", { status_digest }));
    kernel.lapse();
    const { answer, events } = kernel.correct("orch", { status_digest });
    expect(answer).toEqual({ kind: "admitted", correctionId: id, replayed: true, deliverable: false });
    expect(events).toEqual([]);
  });

  it("2 before 4: a replay needs the grant too", () => {
    const kernel = running();
    kernel.correct("orch");
    kernel.grant("orchestrator", "orch", { patterns: LANE_ONLY });
    expect(refusalOf(kernel.correct("orch"))).toEqual(NO_GRANT);
  });
});

describe("a DIGEST refusal", () => {
  it("carries the row, and no digest, for a principal that may watch [A2C-ADM-19] [A2C-ADM-20]", () => {
    const { answer } = running().correct("orch", { status_digest: OTHER_DIGEST });
    expect(answer).toMatchObject({ kind: "refused", refusal: DIGEST });
    expect(answer).toHaveProperty("current", {
      schema: "a2achan.worker-status.v1",
      worker_id: "w-1",
      ...SCOPE,
      live: true,
      seq: 1,
      last_action: "read the issue",
    });
  });

  it("carries no row for a principal that may not watch [A2C-ADM-19]", () => {
    const kernel = running();
    kernel.grant("orchestrator", "blind", { verbs: ["correct"] });
    expect(kernel.correct("blind", { status_digest: OTHER_DIGEST }).answer).not.toHaveProperty("current");
  });
});
