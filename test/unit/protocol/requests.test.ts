import { describe, expect, it } from "vitest";
import { REQUESTS, parseRequest, type Parsed, type RequestType } from "../../../src/protocol/index.js";

const ID = `corr_${"a".repeat(32)}`;
const DIGEST = `sha256:${"0".repeat(64)}`;

/** One good frame of each type, with every field that it can have. */
const GOOD: Readonly<Record<RequestType, object>> = {
  hello: {
    role: "worker",
    token: "a2t_x",
    worker_id: "w-1",
    lease_ms: 60_000,
    inbox: false,
    resume_from: "c",
    client: "sdk/1",
  },
  status: {
    issue: "2162",
    task_id: "gh-2162",
    lane: "internal/a2achan",
    last_action: "read the issue",
    next_action: { summary: "edit", reflects: [ID], via: "plan" },
    expect_seq: 0,
  },
  receive: { correction_id: ID },
  ack: { correction_id: ID, status_digest: DIGEST, next_action: { summary: "edit" } },
  decline: { correction_id: ID, status_digest: DIGEST, reason: "no" },
  inbox: { open: true },
  bye: { outcome: "completed" },
  get: { worker_id: "w-1" },
  list: { filter: { worker_id: "**", issue: "*", lane: "internal/*", live: true }, after: "w-1", limit: 1_000 },
  watch: { filter: { live: false } },
  unwatch: {},
  correct: {
    worker_id: "w-1",
    issue: "2162",
    task_id: "gh-2162",
    lane: "internal/a2achan",
    message: "Stay.",
    status_digest: DIGEST,
    key: "A.z:9-_",
    max_bytes: 9_007_199_254_740_991,
    ttl_ms: 3_600_000,
    priority: "halt",
    freshness: "exact",
    supersedes: ID,
    orchestrator_id: "orch",
  },
  withdraw: { correction_id: ID },
  stage: { correction_id: ID },
  log: { after: 0, limit: 1, worker_id: "w-1", correction_id: ID },
  follow: { after: 0, limit: 1, worker_id: "w-1", correction_id: ID },
  progress: { steps: [{ label: "a", state: "done", note: "n" }], markdown: "m" },
  evidence: { refs: [{ kind: "commit", ref: "abc" }] },
  checkpoint: {},
  prove: { index: 0 },
  ping: {},
};
/** The fields without which a frame is none. */
const NEEDED: Readonly<Partial<Record<RequestType, string[]>>> = {
  hello: ["role"],
  status: ["issue", "lane"],
  receive: ["correction_id"],
  ack: ["correction_id", "status_digest"],
  decline: ["correction_id", "status_digest", "reason"],
  inbox: ["open"],
  get: ["worker_id"],
  correct: ["worker_id", "issue", "lane", "message"],
  withdraw: ["correction_id"],
  stage: ["correction_id"],
  log: ["after"],
  follow: ["after"],
  evidence: ["refs"],
};
const types = Object.keys(REQUESTS) as RequestType[];

const frame = (type: RequestType, fields: object = {}): object => ({ type, id: "r 1", ...GOOD[type], ...fields });
/** The same with what it cannot do without, and nothing else. */
const plain = (type: RequestType): object => {
  const good = GOOD[type] as Record<string, unknown>;
  return { type, id: "r 1", ...Object.fromEntries((NEEDED[type] ?? []).map((field) => [field, good[field]])) };
};
const refusal = (parsed: Parsed): unknown => (parsed.kind === "malformed" ? parsed.malformed.refusal : parsed.kind);

describe("parseRequest", () => {
  it.each(types)("takes a good %s as it is", (type) => {
    expect(parseRequest(frame(type))).toEqual({ kind: "request", request: frame(type) });
  });

  it.each(types)(
    "refuses %s with a field that it does not have, and does not repeat its name [A2C-FRM-30] [A2C-FRM-33]",
    (type) => {
      const parsed = parseRequest(frame(type, { claimed: true }));
      expect(refusal(parsed)).toEqual({ reason: "MALFORMED", detail: "SHAPE" });
      expect(JSON.stringify(parsed)).not.toContain("claimed");
    },
  );

  it.each<[RequestType, string, unknown]>([
    ["status", "next_action", { summary: "s", obeyed: true }],
    ["ack", "next_action", { summary: "s", obeyed: true }],
    ["list", "filter", { obeyed: true }],
    ["watch", "filter", { obeyed: true }],
  ])(
    "refuses %s with an unknown field inside %s, and names the outer one [A2C-FRM-30] [A2C-FRM-33]",
    (type, field, value) => {
      const parsed = parseRequest(frame(type, { [field]: value }));
      expect(refusal(parsed)).toEqual({ reason: "MALFORMED", detail: "SHAPE", path: field });
    },
  );

  it.each(
    types.flatMap((type) => Object.entries(GOOD[type]).map(([field, good]) => [type, field, typeof good] as const)),
  )("refuses %s with another type of %s than %s: MALFORMED/SHAPE [A2C-ADM-01] [A2C-ID-03]", (type, field, good) => {
    const others = [null, 1.5, good === "string" ? 7 : "7", good === "object" ? true : {}, good === "object" ? 7 : []];
    for (const value of others) {
      const found = refusal(parseRequest(frame(type, { [field]: value })));
      expect(found).toEqual({ reason: "MALFORMED", detail: "SHAPE", path: field });
    }
  });

  it.each(Object.keys(NEEDED) as RequestType[])("takes a %s with no more than it needs", (type) => {
    expect(parseRequest(plain(type))).toEqual({ kind: "request", request: plain(type) });
  });

  it.each(
    Object.entries(NEEDED).flatMap(([type, fields]) => fields.map((field) => [type as RequestType, field] as const)),
  )("refuses %s without %s [A2C-ADM-01]", (type, field) => {
    for (const good of [frame(type), plain(type)]) {
      const { [field]: _gone, ...rest } = good as Record<string, unknown>;
      expect(refusal(parseRequest(rest))).toEqual({ reason: "MALFORMED", detail: "SHAPE", path: field });
    }
  });

  it.each<[RequestType, string, unknown, string]>([
    ["correct", "worker_id", "a b", "ID"],
    ["correct", "issue", "", "ID"],
    ["correct", "task_id", "", "ID"],
    ["correct", "lane", "a..b", "ID"],
    ["correct", "orchestrator_id", " orch ", "ID"],
    ["correct", "supersedes", "corr_1", "ID"],
    ["correct", "message", "", "TEXT_BLANK"],
    ["correct", "message", " \n\t", "TEXT_BLANK"],
    ["correct", "message", "a\u202eb", "TEXT_HIDDEN"],
    ["correct", "message", "a\r\nb", "TEXT_HIDDEN"],
    ["correct", "message", "a\ud83d", "TEXT_ENCODING"],
    ["correct", "status_digest", "x".repeat(129), "SHAPE"],
    ["correct", "key", "", "SHAPE"],
    ["correct", "key", "x".repeat(65), "SHAPE"],
    ["correct", "key", "a/b", "SHAPE"],
    ["correct", "max_bytes", 0, "SHAPE"],
    ["correct", "max_bytes", -1, "SHAPE"],
    ["correct", "max_bytes", 2 ** 53, "SHAPE"],
    ["correct", "ttl_ms", 0, "SHAPE"],
    ["correct", "ttl_ms", 3_600_001, "SHAPE"],
    ["correct", "priority", "urgent", "SHAPE"],
    ["correct", "freshness", "any", "SHAPE"],
    ["status", "last_action", "\u00a0", "TEXT_BLANK"],
    ["status", "last_action", "a\u200bb", "TEXT_HIDDEN"],
    ["status", "expect_seq", -1, "SHAPE"],
    ["decline", "reason", "", "TEXT_BLANK"],
    ["hello", "lease_ms", 44_999, "SHAPE"],
    ["hello", "lease_ms", 900_001, "SHAPE"],
    ["hello", "role", "operator", "SHAPE"],
    ["list", "limit", 0, "SHAPE"],
    ["list", "limit", 1_001, "SHAPE"],
    ["log", "after", -1, "SHAPE"],
    ["bye", "outcome", "done", "SHAPE"],
  ])("refuses %s with %s %j as MALFORMED/%s [A2C-ADM-01] [A2C-TXT-01]", (type, path, value, detail) => {
    for (const good of [frame(type), plain(type)]) {
      expect(refusal(parseRequest({ ...good, [path]: value }))).toEqual({ reason: "MALFORMED", detail, path });
    }
  });

  it.each<[string, object, object]>([
    ["a blank summary", { summary: " " }, { detail: "TEXT_BLANK", path: "next_action.summary" }],
    ["no summary", { reflects: [] }, { detail: "SHAPE", path: "next_action.summary" }],
    ["an id that repeats", { summary: "s", reflects: [ID, ID] }, { detail: "SHAPE", path: "next_action.reflects" }],
    [
      "ten ids",
      { summary: "s", reflects: Array.from({ length: 10 }, (_, n) => `corr_${String(n).repeat(32)}`) },
      { detail: "SHAPE", path: "next_action.reflects" },
    ],
    [
      "an id that is none",
      { summary: "s", reflects: [ID, "corr_x"] },
      { detail: "ID", path: "next_action.reflects.1" },
    ],
    ["another via", { summary: "s", via: "guess" }, { detail: "SHAPE", path: "next_action.via" }],
  ])("refuses a whole status or ack for %s in its next action [A2C-ROW-11] [A2C-ID-05]", (_, next_action, why) => {
    for (const type of ["status", "ack"] as const) {
      expect(refusal(parseRequest(frame(type, { next_action })))).toEqual({ reason: "MALFORMED", ...why });
    }
  });

  it("takes nine ids in one plan [A2C-ROW-11]", () => {
    const reflects = Array.from({ length: 9 }, (_, n) => `corr_${String(n).repeat(32)}`);
    expect(refusal(parseRequest(frame("ack", { next_action: { summary: "s", reflects } })))).toBe("request");
  });

  it.each<[RequestType, object, object]>([
    ["status", { last_action: "x".repeat(513) }, { bytes: 513, max_bytes: 512, path: "last_action" }],
    [
      "status",
      { next_action: { summary: "\u00e9".repeat(257) } },
      { bytes: 514, max_bytes: 512, path: "next_action.summary" },
    ],
    ["ack", { next_action: { summary: "x".repeat(513) } }, { bytes: 513, max_bytes: 512, path: "next_action.summary" }],
    ["decline", { reason: "x".repeat(257) }, { bytes: 257, max_bytes: 256, path: "reason" }],
  ])("refuses %s with a text that is too long as OVERSIZE [A2C-TXT-03] [A2C-REF-11]", (type, fields, why) => {
    expect(refusal(parseRequest(frame(type, fields)))).toEqual({ reason: "OVERSIZE", ...why });
  });

  it("takes texts at their limits, and leaves the length of a message to the admission [A2C-TXT-03]", () => {
    expect(refusal(parseRequest(frame("status", { last_action: "\u00e9".repeat(256) })))).toBe("request");
    expect(refusal(parseRequest(frame("decline", { reason: "x".repeat(256) })))).toBe("request");
    expect(refusal(parseRequest(frame("correct", { message: "x".repeat(60_000) })))).toBe("request");
  });

  it.each<[string, object, object]>([
    ["after it", { last_action: "x".repeat(513), next_action: { summary: "" } }, { detail: "TEXT_BLANK" }],
    ["before it", { issue: "a b", last_action: "x".repeat(513) }, { detail: "ID" }],
    ["as an unknown field", { last_action: "x".repeat(513), more: 1 }, { detail: "SHAPE" }],
    ["in the same text", { last_action: " ".repeat(513) }, { detail: "TEXT_BLANK" }],
  ])("lets a MALFORMED fault win over a text that is too long, %s [A2C-ADM-36]", (_, fields, why) => {
    expect(refusal(parseRequest(frame("status", fields)))).toMatchObject({ reason: "MALFORMED", ...why });
  });

  it("takes any digest of up to 128 bytes as cited, and none [A2C-ADM-18]", () => {
    for (const status_digest of ["", "x", "\u00e9".repeat(64), " sha256: "]) {
      expect(refusal(parseRequest(frame("correct", { status_digest })))).toBe("request");
    }
    expect(refusal(parseRequest(frame("correct", { status_digest: "\u00e9".repeat(65) })))).toMatchObject({
      detail: "SHAPE",
    });
  });

  it.each([{}, { index: 0, from_size: 0 }])("refuses a prove of both or neither: %o", (fields) => {
    expect(refusal(parseRequest({ type: "prove", id: "1", ...fields }))).toEqual({
      reason: "MALFORMED",
      detail: "SHAPE",
    });
  });
});
