import { describe, expect, it } from "vitest";
import { admittedId, EVERYWHERE, refusalOf, told } from "../../support/kernel.js";
import { running } from "../../support/kernel-scenes.js";

const NO_GRANT = { reason: "DEFAULT_DENY", detail: "NO_GRANT" };

describe("a grant that is revoked", () => {
  it("ends ADMITTED corrections of its subject, and leaves the others [A2C-LIFE-48] [A2C-LIFE-50]", () => {
    const kernel = running();
    const [admitted = "", delivered = "", acked = ""] = ["1", "2", "3"].map((key) =>
      admittedId(kernel.correct("orch", { key })),
    );
    const others = admittedId(kernel.correct("other"));
    kernel.receive("w-1", delivered);
    kernel.ack("w-1", acked);
    const step = kernel.revoke("t-orch");
    expect(told(step)).toEqual(["grant_revoked", "revoked"]);
    expect(step.events[1]).toMatchObject({ by: { role: "operator", subject: "operator" } });
    expect([admitted, delivered, acked, others].map((id) => kernel.correction(id).stage)).toEqual([
      "REVOKED",
      "DELIVERED",
      "ACKED",
      "ADMITTED",
    ]);
    kernel.ack("w-1", delivered, { summary: "s", reflects: [delivered, acked] });
    expect(kernel.correction(acked).stage).toBe("WITNESSED");
  });

  it("ends nothing that another valid token of the subject covers [A2C-LIFE-48]", () => {
    const kernel = running();
    kernel.grant("orchestrator", "orch", { token: "t-second" });
    const id = admittedId(kernel.correct("orch"));
    expect(told(kernel.revoke("t-orch"))).toEqual(["grant_revoked"]);
    expect(kernel.correction(id).stage).toBe("ADMITTED");
    expect(told(kernel.revoke("t-second"))).toEqual(["grant_revoked", "revoked"]);
  });

  it.each([
    ["covers another lane", { patterns: { ...EVERYWHERE, lane: "cmd/**" } }],
    ["may only watch", { verbs: ["watch" as const] }],
    ["has expired", { expires_at: 1_000_000 }],
    ["is another subject's", { subject: "third" }],
  ])("ends them when the other token %s [A2C-LIFE-48]", (_, more) => {
    const kernel = running();
    kernel.grant("orchestrator", "orch", { token: "t-second", ...more });
    kernel.correct("orch");
    expect(told(kernel.revoke("t-orch"))).toEqual(["grant_revoked", "revoked"]);
  });

  it("ends them when the other token has since been granted anew, to watch alone [A2C-LIFE-48]", () => {
    const kernel = running();
    kernel.grant("orchestrator", "orch", { token: "t-second" });
    kernel.grant("orchestrator", "orch", { token: "t-second", verbs: ["watch"] });
    kernel.correct("orch");
    expect(told(kernel.revoke("t-orch"))).toEqual(["grant_revoked", "revoked"]);
  });

  it("ends corrections that another, narrower token sent, once none covers them [A2C-LIFE-48]", () => {
    const kernel = running();
    kernel.grant("orchestrator", "orch", { token: "t-second", patterns: { ...EVERYWHERE, lane: "internal/*" } });
    kernel.correct("orch", {}, { token: "t-second" });
    expect(told(kernel.revoke("t-second"))).toEqual(["grant_revoked"]);
    expect(told(kernel.revoke("t-orch"))).toEqual(["grant_revoked", "revoked"]);
  });

  it("ends nothing when it is a worker's, an observer's, unknown, or revoked already", () => {
    const kernel = running();
    kernel.grant("orchestrator", "orch", { token: "t-observer", verbs: ["watch"] });
    kernel.correct("orch");
    expect(told(kernel.revoke("t-w-1"))).toEqual(["grant_revoked"]);
    expect(told(kernel.revoke("t-observer"))).toEqual(["grant_revoked"]);
    expect(told(kernel.revoke("t-observer"))).toEqual([]);
    expect(told(kernel.revoke("t-unknown"))).toEqual([]);
  });

  it("refuses every later request with REVOKED, by its token only [A2C-REF-01]", () => {
    const kernel = running();
    kernel.grant("orchestrator", "orch", { token: "t-second" });
    const id = admittedId(kernel.correct("orch"));
    kernel.revoke("t-orch");
    const revoked = { reason: "DEFAULT_DENY", detail: "REVOKED" };
    for (const step of [
      kernel.correct("orch"),
      kernel.stage("orch", id),
      kernel.withdraw("orch", id),
      kernel.read("orchestrator", "orch", "get"),
      kernel.read("orchestrator", "orch", "ping"),
      kernel.frame("orch", { type: "correct", id: "1" }),
    ]) {
      expect(refusalOf(step)).toEqual(revoked);
    }
    expect(refusalOf(kernel.correct("orch", {}, { token: "t-second" }))).toBeUndefined();
    kernel.revoke("t-w-1");
    expect(refusalOf(kernel.status("w-1"))).toEqual(revoked);
    expect(refusalOf(kernel.connect("w-1", "s-2"))).toEqual(revoked);
  });
});

describe("a grant that takes the place of its token's earlier one", () => {
  it("ends what only the earlier one covered, and frees a revoked token [A2C-LIFE-48]", () => {
    const kernel = running();
    kernel.correct("orch");
    expect(told(kernel.grant("orchestrator", "orch"))).toEqual(["grant_added"]);
    const elsewhere = { ...EVERYWHERE, lane: "cmd/**" };
    expect(told(kernel.grant("orchestrator", "orch", { patterns: elsewhere }))).toEqual(["grant_added", "revoked"]);
    kernel.revoke("t-orch");
    kernel.grant("orchestrator", "orch");
    expect(refusalOf(kernel.correct("orch", { key: "again" }))).toBeUndefined();
  });

  it("covers nothing of the subject that the token was taken from [A2C-LIFE-48]", () => {
    const kernel = running();
    kernel.correct("orch");
    expect(told(kernel.grant("orchestrator", "third", { token: "t-orch" }))).toEqual(["grant_added", "revoked"]);
    expect(refusalOf(kernel.correct("orch"))).toEqual(NO_GRANT);
  });

  it("does not inherit an expiry", () => {
    const kernel = running();
    kernel.grant("orchestrator", "guest", { expires_at: 1_005_000 });
    kernel.now = 1_004_999;
    kernel.correct("guest");
    expect(told(kernel.grant("orchestrator", "guest"))).toEqual(["grant_added"]);
    kernel.now = 1_005_000;
    expect(told(kernel.tick())).toEqual([]);
  });
});

describe("a grant that expires", () => {
  it("holds until just before its time, and ends corrections at it [A2C-AUTH-08] [A2C-LIFE-49]", () => {
    const kernel = running();
    kernel.grant("orchestrator", "guest", { expires_at: 1_005_000 });
    const id = admittedId(kernel.correct("guest"));
    kernel.now = 1_004_999;
    expect(told(kernel.tick())).toEqual([]);
    expect(refusalOf(kernel.stage("guest", id))).toBeUndefined();
    kernel.now = 1_005_000;
    const step = kernel.tick();
    expect(told(step)).toEqual(["revoked"]);
    expect(step.events[0]).toMatchObject({ by: { role: "broker", subject: "broker" } });
    expect(refusalOf(kernel.stage("guest", id))).toEqual({ reason: "DEFAULT_DENY", detail: "REVOKED" });
  });

  it("ends nothing that another valid token of the subject covers [A2C-LIFE-49]", () => {
    const kernel = running();
    kernel.grant("orchestrator", "orch", { token: "t-short", expires_at: 1_005_000 });
    kernel.correct("orch", {}, { token: "t-short" });
    kernel.now = 1_005_000;
    expect(told(kernel.tick())).toEqual([]);
  });

  it("is judged as of its time, so that a late step tells the same story [A2C-LIFE-49] [A2C-LIFE-52]", () => {
    const story = (times: number[]): string[] => {
      const kernel = running();
      kernel.grant("orchestrator", "guest", { token: "t-first", expires_at: 1_001_000 });
      kernel.grant("orchestrator", "guest", { token: "t-second", expires_at: 1_003_000 });
      kernel.correct("guest", { ttl_ms: 2_000 }, { token: "t-first" });
      return times.flatMap((now) => {
        kernel.now = now;
        return told(kernel.tick());
      });
    };
    expect(story([1_001_000, 1_002_000, 1_003_000])).toEqual(["expired"]);
    expect(story([1_003_000])).toEqual(["expired"]);
  });

  it("says nothing more when it was revoked before", () => {
    const kernel = running();
    kernel.grant("orchestrator", "guest", { expires_at: 1_005_000 });
    kernel.correct("guest");
    expect(told(kernel.revoke("t-guest"))).toEqual(["grant_revoked", "revoked"]);
    kernel.now = 1_005_000;
    expect(told(kernel.tick())).toEqual([]);
  });
});

describe("a worker's token", () => {
  it("speaks for the worker that is its subject only", () => {
    const kernel = running();
    kernel.grant("worker", "w-1", { patterns: EVERYWHERE });
    const by = { role: "worker" as const, subject: "w-1", token: "t-w-1" };
    const open = { kind: "open_session" as const, by, worker_id: "w-2", session: "s-9", lease_ms: 60_000 };
    expect(refusalOf(kernel.do(open))).toEqual(NO_GRANT);
    expect(kernel.worker("w-2")?.session).toBe("w-2-s1");
    const status = { kind: "status" as const, by, worker_id: "w-2", session: "w-2-s1", issue: "1", lane: "l" };
    expect(refusalOf(kernel.do(status))).toEqual(NO_GRANT);
  });
});

describe("a request that a role lacks, or that this version does not serve", () => {
  it.each([
    ["orchestrator", "orch", "log"],
    ["orchestrator", "orch", "follow"],
    ["orchestrator", "orch", "inbox"],
    ["orchestrator", "orch", "status"],
    ["worker", "w-1", "get"],
    ["worker", "w-1", "watch"],
    ["worker", "w-1", "progress"],
    ["worker", "w-1", "evidence"],
    ["orchestrator", "orch", "evidence"],
  ] as const)("is NO_GRANT: %s %s, %s [A2C-REF-01] [A2C-VER-04]", (role, subject, request) => {
    const step = running().read(role, subject, request);
    expect(refusalOf(step)).toEqual(NO_GRANT);
    expect(step.events).toMatchObject([{ kind: "refused", verb: request, ...NO_GRANT }]);
  });

  it.each(["get", "list", "watch", "unwatch", "ping", "checkpoint", "prove"] as const)(
    "is none of: orchestrator, %s",
    (request) => {
      expect(running().read("orchestrator", "orch", request)).toMatchObject({ events: [], answer: { kind: "done" } });
    },
  );

  it("is refused for the verb before its shape is looked at [A2C-VER-04]", () => {
    const malformed = { type: "evidence" as const, id: "1", refusal: { reason: "MALFORMED" as const } };
    expect(refusalOf(running().malformed("orch", malformed))).toEqual(NO_GRANT);
  });
});
