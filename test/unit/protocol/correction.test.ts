import { createHmac } from "node:crypto";
import canonicalize from "canonicalize";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  canonicalCorrection,
  commitment,
  correctionId,
  TEXT_FIELDS,
  type CorrectionContent,
} from "../../../src/protocol/index.js";

const ID_KEY = new Uint8Array(32).fill(7);
const SALT = new Uint8Array(32).fill(1);

const plain: CorrectionContent = {
  worker_id: "w-1",
  issue: "2162",
  lane: "internal/a2achan",
  message: "Stay in your lane.",
  status_digest: `sha256:${"0".repeat(64)}`,
};
const { status_digest: _digest, ...blind } = plain;
const full: CorrectionContent = {
  ...plain,
  task_id: "gh-2162",
  message: 'caf\u00e9 \u{1F680} "x"\n\t\\',
  key: "k:1",
  max_bytes: 60_000,
  ttl_ms: 1,
  priority: "halt",
  freshness: "exact",
  supersedes: `corr_${"a".repeat(32)}`,
  orchestrator_id: "orch",
};

describe("correctionId", () => {
  // python3: hmac.new(key, json.dumps(fields, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode(), sha256)
  it.each<[string, CorrectionContent, string, string]>([
    ["the plainest", plain, "orch", "corr_cfd8a534171e7cb24daa8b10900cfbf4"],
    ["every field", full, "orch", "corr_dcac1e0247345c9381f2d574b4f1107b"],
    ["another sender", plain, "other", "corr_99c500f7dde8713bbb77a1628598e42b"],
    ["no digest", blind, "orch", "corr_f63ee1ef5b3511c98127c254ad202ad5"],
  ])("is what another implementation computed: %s [A2C-ADM-27]", (_, content, sender, id) => {
    expect(correctionId(ID_KEY, content, sender)).toBe(id);
  });

  it("is under the log's key: another key, another id [A2C-ADM-27]", () => {
    expect(correctionId(new Uint8Array(32), plain, "orch")).not.toBe(correctionId(ID_KEY, plain, "orch"));
  });

  it("names the principal, not the orchestrator_id as sent [A2C-ADM-27]", () => {
    const claimed = { ...plain, orchestrator_id: "other" };
    expect(correctionId(ID_KEY, claimed, "orch")).toBe(correctionId(ID_KEY, plain, "orch"));
  });

  it("changes with every field, a default written out included [A2C-ADM-28]", () => {
    const changes: Partial<CorrectionContent>[] = [
      { worker_id: "w-2" },
      { issue: "2163" },
      { lane: "cmd" },
      { task_id: "t" },
      { message: "Stay in your lane" },
      { status_digest: "sha256:1" },
      { key: "k" },
      { max_bytes: 1_024 },
      { max_bytes: 1_025 },
      { ttl_ms: 600_000 },
      { priority: "normal" },
      { freshness: "run" },
      { supersedes: `corr_${"a".repeat(32)}` },
    ];
    const ids = [{}, ...changes].map((change) => correctionId(ID_KEY, { ...plain, ...change }, "orch"));
    expect(new Set(ids).size).toBe(14);
  });
});

const word = fc.stringMatching(/^[!#-;=?-Z^-z]{1,12}$/);
const content: fc.Arbitrary<CorrectionContent> = fc.record(
  {
    worker_id: word,
    issue: word,
    task_id: word,
    lane: word,
    message: fc.string({ unit: "binary", maxLength: 30 }),
    status_digest: fc.string({ unit: "binary", maxLength: 20 }),
    key: word,
    max_bytes: fc.integer({ min: 1, max: Number.MAX_SAFE_INTEGER }),
    ttl_ms: fc.integer({ min: 1, max: 3_600_000 }),
    priority: fc.constantFrom("normal" as const, "halt" as const),
    freshness: fc.constantFrom("run" as const, "exact" as const),
    supersedes: fc.constant(`corr_${"b".repeat(32)}`),
    orchestrator_id: word,
  },
  { requiredKeys: ["worker_id", "issue", "lane", "message"] },
);

describe("canonicalCorrection", () => {
  it("equals a general implementation of RFC 8785 on any content, and the id is its HMAC [A2C-ADM-27]", () => {
    fc.assert(
      fc.property(content, word, (any, principal) => {
        const canonical = canonicalize({ ...any, orchestrator_id: principal }) ?? "";
        expect(canonicalCorrection(any, principal)).toBe(canonical);
        const hex = createHmac("sha256", ID_KEY).update(canonical).digest("hex");
        expect(correctionId(ID_KEY, any, principal)).toBe(`corr_${hex.slice(0, 32)}`);
      }),
      { numRuns: 10_000, seed: 1 },
    );
  });
});

describe("commitment", () => {
  // python3: hashlib.sha256(b"a2achan/commit/v1\0" + field + b"\0" + salt + text).hexdigest()
  it.each([
    ["message", "ead7a9aca350aff838d74041f5935d857bd73bd69575bf3f0da12e0242d25867"],
    ["last_action", "70122af8ee7f866a6433177ad4b7737ad1d17a60ac11850f1c10978e41dea9fa"],
    ["summary", "26d351eb237980a11054330b8654f1539ac2a2c128db551201fc15c26e74e5ed"],
    ["reason", "3da5f08e097481ce67791b86be16e88b98c7515986475d22abae8556f347ee85"],
  ] as const)("of a %s is what another implementation computed", (field, hex) => {
    expect(commitment(field, SALT, "caf\u00e9 \u{1F680}")).toBe(hex);
  });

  it("has a domain of its own for each field", () => {
    expect(TEXT_FIELDS).toEqual(["message", "last_action", "summary", "reason"]);
    expect(new Set(TEXT_FIELDS.map((field) => commitment(field, SALT, "x"))).size).toBe(4);
  });
});
