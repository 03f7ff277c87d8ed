import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { REQUESTS } from "../../src/protocol/index.js";
import { validRequest } from "../../src/protocol/valid-requests.js";

const CORRECTION = "corr_0123456789abcdef0123456789abcdef";
const OTHER = "corr_fedcba9876543210fedcba9876543210";

// Good and bad values of each kind of field, so that whole frames are often good and often wrong in one place.
const id = fc.constantFrom("w-1", "a/b", "**", "a b", "a//b", "", "x".repeat(128), "x".repeat(129), 7, null, "a..b");
const text = fc.constantFrom("fix it", "", " \n", "a\u202eb", "a\r\n", "é".repeat(256), "é".repeat(257), "x\ud800", 1);
const digest = fc.constantFrom("sha256:00", "", "x".repeat(128), "é".repeat(65), 5, null);
const correction = fc.constantFrom(CORRECTION, OTHER, "corr_00", "", 3);
const requestId = fc.constantFrom("1", "", "x".repeat(64), "x".repeat(65), "é", 1);
const number = fc.constantFrom(1, 0, -1, 1.5, 3_600_000, 3_600_001, 2 ** 53, "1", null);
const reflects = fc.oneof(
  fc.array(correction, { maxLength: 3 }),
  fc.constantFrom(
    [],
    Array.from({ length: 10 }, () => CORRECTION),
    [CORRECTION, CORRECTION],
    "x",
  ),
);
const nextAction = fc.oneof(
  fc.record(
    { summary: text, reflects, via: fc.constantFrom("plan", "thought", 1), extra: fc.constant(1) },
    { requiredKeys: ["summary"] },
  ),
  fc.constantFrom(null, "plan", [], {}),
);

const frames = {
  correct: fc.record(
    {
      type: fc.constant("correct"),
      id: requestId,
      worker_id: id,
      issue: id,
      lane: id,
      message: text,
      task_id: id,
      status_digest: digest,
      key: fc.constantFrom("k", "", "a b", "x".repeat(64), "x".repeat(65), 1),
      ttl_ms: number,
      max_bytes: number,
      priority: fc.constantFrom("normal", "halt", "urgent", 1),
      freshness: fc.constantFrom("run", "exact", "never"),
      supersedes: correction,
      orchestrator_id: id,
      approved: fc.constant(true),
    },
    { requiredKeys: ["type", "id"] },
  ),
  ack: fc.record(
    {
      type: fc.constant("ack"),
      id: requestId,
      correction_id: correction,
      status_digest: digest,
      next_action: nextAction,
      claimed: fc.constant(true),
    },
    { requiredKeys: ["type", "id"] },
  ),
  receive: fc.record(
    { type: fc.constant("receive"), id: requestId, correction_id: correction, more: fc.constant(1) },
    { requiredKeys: ["type", "id"] },
  ),
} as const;

describe("the quick check of a frequent request", () => {
  it.each(["correct", "ack", "receive"] as const)("takes of %s only what the schema takes, and as the same", (type) => {
    let taken = 0;
    const good = fc.constantFrom<object>(
      { type, id: "1", correction_id: CORRECTION },
      {
        type,
        id: "1",
        correction_id: CORRECTION,
        status_digest: "d",
        next_action: { summary: "s", reflects: [OTHER] },
      },
      { type, id: "1", worker_id: "w", issue: "1", lane: "l", message: "m", status_digest: "d", key: "k" },
    );
    fc.assert(
      fc.property(fc.oneof(frames[type], good), (frame) => {
        const quick = validRequest(frame as Record<string, unknown>, type);
        if (quick === undefined) return;
        taken += 1;
        expect(REQUESTS[type].safeParse(frame)).toEqual({ success: true, data: quick });
        expect(Object.keys(quick)).toEqual(Object.keys(REQUESTS[type].parse(frame)));
      }),
      { numRuns: 5_000 },
    );
    expect(taken).toBeGreaterThan(100);
  });

  it.each([
    { type: "correct", id: "1", worker_id: "w", issue: "1", lane: "l", message: "m", status_digest: "d", key: "k" },
    {
      type: "ack",
      id: "1",
      correction_id: CORRECTION,
      status_digest: "d",
      next_action: { summary: "s", reflects: [] },
    },
    { type: "receive", id: "1", correction_id: CORRECTION },
  ] as const)("takes the usual $type", (frame) => {
    expect<unknown>(validRequest(frame, frame.type)).toEqual(frame);
  });
});
