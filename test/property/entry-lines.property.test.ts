import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { encodeEntry, generalLine } from "../../src/kernel/entries.js";
import type { KernelEvent } from "../../src/kernel/index.js";

const optional = <T>(arbitrary: fc.Arbitrary<T>): { arbitrary: fc.Arbitrary<T>; optional: true } => ({
  arbitrary,
  optional: true,
});

/** A record in which the members marked `optional` are there or not, never undefined. */
function event(fields: Record<string, fc.Arbitrary<unknown> | { arbitrary: fc.Arbitrary<unknown>; optional: true }>) {
  const model = Object.fromEntries(
    Object.entries(fields).map(([name, field]) => [name, "arbitrary" in field ? field.arbitrary : field]),
  );
  const requiredKeys = Object.keys(fields).filter((name) => !("arbitrary" in (fields[name] ?? {})));
  return fc.record(model, { requiredKeys }) as unknown as fc.Arbitrary<KernelEvent>;
}

const id = fc.stringMatching(/^[!#-;=?-[\]-_a-~]{1,20}$/);
const hex = fc.stringMatching(/^[0-9a-f]{32}$/);
const correctionId = hex.map((digits) => `corr_${digits}`);
const digest = hex.map((digits) => `sha256:${digits}${digits}`);
const cited = fc.string({ unit: "grapheme", maxLength: 40 });
const whole = fc.maxSafeNat();
const text = event({
  bytes: whole,
  commitment: hex,
  text: optional(fc.string({ unit: "grapheme" })),
  salt: optional(hex),
}) as unknown as fc.Arbitrary<object>;
const by = event({ role: fc.constantFrom("worker", "orchestrator", "broker"), subject: id, token: optional(id) });
const reflects = fc.array(correctionId, { maxLength: 9 });
const base = { at: whole, by, worker_id: id };
const ofCorrection = { ...base, correction_id: correctionId, orchestrator_id: id };

const content = event({
  worker_id: id,
  issue: id,
  task_id: optional(id),
  lane: id,
  message: text,
  status_digest: optional(cited),
  key: optional(id),
  max_bytes: optional(whole),
  ttl_ms: optional(whole),
  priority: optional(fc.constantFrom("normal", "halt")),
  freshness: optional(fc.constantFrom("run", "exact")),
  supersedes: optional(correctionId),
  orchestrator_id: optional(id),
});
const row = event({
  worker_id: id,
  issue: id,
  task_id: optional(id),
  lane: id,
  live: fc.boolean(),
  seq: whole,
  last_action: optional(text),
  next_action: optional(fc.record({ summary: text, reflects })),
});

const events = fc.oneof(
  event({
    ...ofCorrection,
    kind: fc.constant("admitted"),
    content,
    seq: whole,
    expires_at: whole,
    deliverable: fc.boolean(),
  }),
  event({
    ...ofCorrection,
    kind: fc.constant("delivered"),
    session: hex,
    attempt: whole,
    redelivered: fc.boolean(),
    stale_context: fc.boolean(),
  }),
  event({ ...ofCorrection, kind: fc.constant("acked"), session: hex, expires_at: whole }),
  event({
    ...base,
    kind: fc.constant("planned"),
    summary: text,
    reflects,
    via: optional(fc.constantFrom("declared", "final_text")),
    echo: optional(fc.constant(true)),
  }),
  event({
    ...base,
    kind: fc.constant("status"),
    row,
    status_digest: digest,
    cause: fc.constantFrom("published", "lease_lapsed", "restart", "ended"),
    outcome: optional(fc.constantFrom("completed", "failed", "canceled")),
  }),
  event({
    ...ofCorrection,
    kind: fc.constantFrom(
      "witnessed",
      "unreflected",
      "declined",
      "expired",
      "withdrawn",
      "superseded",
      "stale",
      "orphaned",
      "revoked",
    ),
    detail: optional(fc.constantFrom("RUN_CHANGED", "DIGEST_MOVED", "WINDOW")),
    echo: optional(fc.constant(true)),
    reason: optional(text),
    superseded_by: optional(correctionId),
  }),
);

describe("the hand-ordered line of a frequent entry", () => {
  it("is byte for byte the general form of the same event, and opens the same texts", () => {
    fc.assert(
      fc.property(events, whole, fc.option(whole, { nil: undefined }), (made, index, workerEntry) => {
        const named: string[] = [];
        const general = generalLine(made, index, workerEntry, (field, { text: utf8, salt }) => {
          if (utf8 !== undefined && salt !== undefined) named.push(`${field} ${salt} ${utf8}`);
        });
        const { line, texts } = encodeEntry(made, index, workerEntry);
        expect(line).toBe(general);
        expect(texts.map(({ field, salt, utf8 }) => `${field} ${salt} ${utf8}`)).toEqual(named);
      }),
      { numRuns: 3_000 },
    );
  });
});
