import { readFileSync } from "node:fs";
import { createHash } from "node:crypto";
import canonicalize from "canonicalize";
import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { statusDigest, type WorkerStatus } from "../../../src/client/index.js";
import { TestBroker } from "../../support/broker.js";
import {
  ADMISSION_DIFFERENCES,
  reference,
  requestOf,
  subjectOf,
  type Admission,
} from "../../support/reference-vectors.js";
import type { Frame, Wire } from "../../support/wire.js";
import { Scene, WHERE, digestIn, statusOf } from "./support/scene.js";

const url = new URL("../../../spec/vectors/status-digest.json", import.meta.url);
const { vectors } = JSON.parse(readFileSync(url, "utf8")) as {
  vectors: { name: string; row: WorkerStatus; canonical: string; status_digest: string }[];
};
const EVERYWHERE = { worker: "**", issue: "**", lane: "**" };

describe("a digest and a verdict that another language came to", () => {
  it("U04: gives the digests that Python computed and the verdicts of the Go reference", async () => {
    expect([vectors.length, reference.admission.length]).toEqual([28, 88]);
    let published = 0;
    for (const { name, row, status_digest } of vectors) {
      expect(statusDigest(row), name).toBe(status_digest);
      // Liveness and seq are the broker's: it can be brought to those rows that begin.
      if (!row.live || row.seq !== 1) continue;
      published += 1;
      const got = await rowOf(row);
      expect(got, name).toMatchObject({ row, status_digest });
    }
    expect(published).toBe(24);
    for (const vector of reference.admission) {
      const [verdict, reason] = ADMISSION_DIFFERENCES[vector.name] ?? [vector.expect.verdict, vector.expect.reason];
      expect(await verdictOf(vector), vector.name).toEqual([verdict, reason]);
    }
  });
});

describe("an integer that a double cannot hold", () => {
  let scene: Scene;
  beforeEach(async () => {
    scene = await Scene.open();
  });
  afterEach(() => scene.close());

  it("U05: gives rows of different seq different digests, and refuses integers beyond 2^53-1", async () => {
    const { worker, orchestrator, broker } = scene;
    const digests = new Set([scene.digest]);
    for (let n = 0; n < 10; n += 1) digests.add(await scene.publish(n % 2 === 0 ? "plan B" : "plan A"));
    expect(digests.size).toBe(11);
    const row = (await scene.view())["row"] as WorkerStatus;
    const largest = { ...row, seq: 9_007_199_254_740_991 };
    expect(statusDigest(largest)).not.toBe(statusDigest({ ...row, seq: 9_007_199_254_740_990 }));
    for (const text of ["9007199254740992", "9007199254740993", "1.5"]) {
      const read = JSON.parse(`{"seq":${text}}`) as { seq: number };
      expect(() => statusDigest({ ...row, ...read }), text).toThrow(RangeError);
    }

    // A number for an issue is taken as its digits, which a rounded one does not have.
    const sdk = [await scene.sdkWorker("W2"), await scene.sdkOrchestrator()] as const;
    const issue = JSON.parse("9007199254740993") as number;
    await expect(sdk[0].status({ ...WHERE, issue })).rejects.toThrow(RangeError);
    await expect(sdk[1].correct(row, "stay in lane", { scope: { ...WHERE, issue } })).rejects.toThrow(RangeError);
    await expect(sdk[1].list({ issue })).rejects.toThrow(RangeError);
    expect(await sdk[1].get("W2")).toMatchObject({ row: { issue: "2162", seq: 1 } });

    const auditor = await broker.auditor("A1");
    const shape = { reason: "MALFORMED", detail: "SHAPE" };
    const fields = [
      [worker, statusOf("plan C"), "expect_seq"],
      [orchestrator, { type: "correct", ...EVERYWHERE, worker_id: "W1", message: "x" }, "ttl_ms"],
      [orchestrator, { type: "correct", ...EVERYWHERE, worker_id: "W1", message: "x" }, "max_bytes"],
      [orchestrator, { type: "list" }, "limit"],
      [auditor, { type: "log" }, "after"],
    ] as const;
    for (const [wire, frame, field] of fields) {
      for (const text of ["9007199254740992", "9007199254740993", "-9007199254740993", "1e16", "1e400", "-0"]) {
        wire.raw(JSON.stringify({ ...frame, id: "big", [field]: 0 }).replace(`"${field}":0`, `"${field}":${text}`));
        expect(await wire.push(({ id }) => id === "big"), `${field} ${text}`).toMatchObject({ ...shape, path: field });
      }
    }
    expect(await worker.ask({ ...statusOf("plan C"), expect_seq: 9_007_199_254_740_991 })).toMatchObject({
      detail: "SEQ",
    });
    expect((await scene.view())["status_digest"]).toBe(statusDigest(row));
  });

  describe("law: the digest is that of RFC 8785", () => {
    it("whatever row its worker publishes, and no two rows share one", async () => {
      const { worker, broker } = scene;
      const part = fc.constantFrom("a", "é", "e\u0301", "漢", "😀", '"', "\\", "/", "\n", "\t", "<", "&", "1");
      const text = fc.array(part, { minLength: 1, maxLength: 6 }).map((parts) => `x${parts.join("")}`);
      const id = fc.array(fc.constantFrom("a", "B", "/x", "#1", "%2F", "~", "{", ","), { minLength: 1, maxLength: 4 });
      const fields = fc.record(
        {
          issue: id.map((parts) => parts.join("")),
          lane: id.map((parts) => parts.join("")),
          task_id: id.map((parts) => parts.join("")),
          last_action: text,
          next_action: fc.record({ summary: text, reflects: fc.constantFrom([], [`corr_${"0a".repeat(16)}`]) }),
        },
        { requiredKeys: ["issue", "lane"] },
      );
      const digests = new Set([scene.digest]);
      let rows = 1;
      await fc.assert(
        fc.asyncProperty(fields, async (row) => {
          await broker.advance(100, worker);
          const got = await worker.ask({ type: "status", ...row });
          expect(got).toMatchObject({ type: "row", row });
          const canonical = canonicalize(got["row"]) ?? "";
          expect(got["status_digest"]).toBe(`sha256:${createHash("sha256").update(canonical).digest("hex")}`);
          if (got["changed"] === true) rows += 1;
          digests.add(digestIn(got));
        }),
        { numRuns: 100 },
      );
      expect(digests.size).toBe(rows);
    });
  });
});

/** The row as a broker takes it from its worker. */
async function rowOf({ schema: _schema, live: _live, seq: _seq, worker_id, ...said }: WorkerStatus): Promise<Frame> {
  const broker = await TestBroker.start();
  try {
    return await (await broker.worker(worker_id)).ask({ type: "status", ...said });
  } finally {
    await broker.stop();
  }
}

/** What a broker answers to a request of the reference, its worker's row being what the reference says. */
async function verdictOf(vector: Admission): Promise<unknown[]> {
  const { row, caps } = vector;
  const broker = await TestBroker.start();
  try {
    const current = await publishRow(broker, row);
    const rights = caps.includes("a2a.send") ? {} : { watchOnly: true };
    const subject = subjectOf(vector);
    const granted = await broker.running.addToken({ role: "orchestrator", subject, ...EVERYWHERE, ...rights });
    const orchestrator = await broker.open(granted.token);
    await orchestrator.ask({ type: "hello", role: "orchestrator" });
    orchestrator.raw(requestOf(vector, current));
    return await judged(orchestrator);
  } finally {
    await broker.stop();
  }
}

/** Brings the worker to the row of the reference, where there can be such a row; the digest that it then has. */
async function publishRow(broker: TestBroker, row: Admission["row"]): Promise<string> {
  const { worker_id, issue, task_id, lane, last_action, live, seq } = row as Record<string, string>;
  if (worker_id === undefined || worker_id === "" || !isSeq(seq)) return "none";
  const worker = await broker.worker(worker_id);
  const told = { ...(task_id !== "" && { task_id }), ...(last_action !== "" && { last_action }) };
  await worker.ask({ type: "status", issue, lane, ...told });
  if (!live) {
    worker.drop();
    broker.clock.advance(60_000);
  }
  const reader = await broker.orchestrator("reader");
  return ((await reader.ask({ type: "get", worker_id }))["status_digest"] as string | undefined) ?? "none";
}

/** Whether the protocol has rows of this seq at all. */
function isSeq(seq: unknown): boolean {
  return Number(seq) >= 1 && Number.isSafeInteger(Number(seq));
}

async function judged(wire: Wire): Promise<unknown[]> {
  const receipt = wire.push(({ type }) => type === "receipt").then(({ verdict, reason = "" }) => [verdict, reason]);
  return Promise.race([receipt, wire.closed.then(({ code }) => ["CLOSE", String(code)])]);
}
