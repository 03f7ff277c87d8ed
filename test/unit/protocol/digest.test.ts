import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import canonicalize from "canonicalize";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  canonicalJson,
  canonicalRow,
  isId,
  statusDigest,
  workerStatus,
  type WorkerStatus,
} from "../../../src/protocol/index.js";

interface Vector {
  name: string;
  row: WorkerStatus;
  canonical: string;
  status_digest: string;
}
const path = new URL("../../../spec/vectors/status-digest.json", import.meta.url);
const { vectors } = JSON.parse(readFileSync(path, "utf8")) as { vectors: Vector[] };

describe("the status digest", () => {
  it("has 28 vectors", () => {
    expect(vectors).toHaveLength(28);
  });

  it.each(vectors)(
    "is, canonical text and hash, what another implementation computed: $name [A2C-ROW-04]",
    (vector) => {
      expect(workerStatus.safeParse(vector.row).error).toBeUndefined();
      expect(canonicalRow(vector.row)).toBe(vector.canonical);
      expect(statusDigest(vector.row)).toBe(vector.status_digest);
    },
  );

  it("does not depend on the order of fields [A2C-ROW-04]", () => {
    for (const { row, status_digest } of vectors) {
      const reversed = Object.fromEntries(Object.entries(row).reverse()) as WorkerStatus;
      expect(statusDigest(reversed)).toBe(status_digest);
    }
  });

  it.each([2 ** 53, 2 ** 53 + 2, 1.5, Number.NaN])("is refused for the seq %d, which no row has", (seq) => {
    const { row } = vectors[0] as Vector;
    expect(() => statusDigest({ ...row, seq })).toThrow(RangeError);
    expect(statusDigest({ ...row, seq: 2 ** 53 - 1 })).toMatch(/^sha256:[0-9a-f]{64}$/);
  });

  it("differs between all vectors, composed and decomposed letters included [A2C-ROW-04]", () => {
    expect(new Set(vectors.map(({ row }) => statusDigest(row))).size).toBe(28);
  });
});

describe("a row", () => {
  const row = { schema: "a2achan.worker-status.v1", worker_id: "w-1", issue: "2162", lane: "cmd", live: true, seq: 1 };

  it("has exactly its fields [A2C-ROW-01]", () => {
    const fields = ["schema", "worker_id", "issue", "task_id", "lane", "live", "seq", "last_action", "next_action"];
    expect(Object.keys(workerStatus.shape)).toEqual(fields);
    expect(workerStatus.safeParse(row).success).toBe(true);
    expect(workerStatus.safeParse({ ...row, progress: 1 }).success).toBe(false);
  });

  it.each(Object.keys(row))("is none without %s [A2C-ROW-01]", (field) => {
    const { [field]: _gone, ...rest } = row as Record<string, unknown>;
    expect(workerStatus.safeParse(rest).success).toBe(false);
  });

  it.each([
    { task_id: "" },
    { last_action: "" },
    { task_id: null },
    { next_action: { summary: "s" } },
    { seq: 0 },
    { live: 1 },
  ])("is none with %o [A2C-ROW-01] [A2C-ROW-02] [A2C-ROW-03]", (field) => {
    expect(workerStatus.safeParse({ ...row, ...field }).success).toBe(false);
  });
});

const id = fc.string({ unit: "grapheme-ascii", minLength: 1, maxLength: 20 }).filter(isId);
const text = fc.oneof(fc.string({ unit: "binary", maxLength: 20 }), fc.string({ maxLength: 20 }));
const reflects = fc.array(fc.stringMatching(/^corr_[0-9a-f]{32}$/), { maxLength: 9 });
const row: fc.Arbitrary<WorkerStatus> = fc.record(
  {
    schema: fc.constant("a2achan.worker-status.v1" as const),
    worker_id: id,
    issue: id,
    task_id: id,
    lane: id,
    live: fc.boolean(),
    seq: fc.integer({ min: 1, max: Number.MAX_SAFE_INTEGER }),
    last_action: text,
    next_action: fc.record({ summary: text, reflects }),
  },
  { requiredKeys: ["schema", "worker_id", "issue", "lane", "live", "seq"] },
);

describe("canonicalRow", () => {
  it("equals a general implementation of RFC 8785 on any row [A2C-ROW-04]", () => {
    fc.assert(
      fc.property(row, (any) => {
        const canonical = canonicalize(any) ?? "";
        expect(canonicalRow(any)).toBe(canonical);
        expect(statusDigest(any)).toBe(`sha256:${createHash("sha256").update(canonical).digest("hex")}`);
      }),
      { numRuns: 10_000, seed: 1 },
    );
  });
});

describe("canonicalJson", () => {
  it("equals a general implementation of RFC 8785 on any value of this protocol, undefined members left out", () => {
    const key = fc.stringMatching(/^[a-z][a-z0-9_]{0,8}$/);
    const { value } = fc.letrec((tie) => ({
      value: fc.oneof(
        { depthSize: "small" },
        text,
        fc.maxSafeInteger(),
        fc.boolean(),
        fc.constant(null),
        tie("list"),
        tie("object"),
      ),
      list: fc.array(tie("value"), { maxLength: 4 }),
      object: fc.dictionary(key, fc.oneof({ weight: 9, arbitrary: tie("value") }, fc.constant(undefined)), {
        maxKeys: 5,
      }),
    }));
    fc.assert(
      fc.property(value, (any) => {
        expect(canonicalJson(any as Parameters<typeof canonicalJson>[0])).toBe(canonicalize(any));
      }),
      { numRuns: 5_000, seed: 1 },
    );
  });
});
