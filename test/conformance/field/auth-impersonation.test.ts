import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Frame } from "../../support/wire.js";
import { Scene, ackOf, correctionOf, delivered, statusOf } from "./support/scene.js";

let scene: Scene;

beforeEach(async () => {
  scene = await Scene.open();
});

afterEach(() => scene.close());

const NO_GRANT = { reason: "DEFAULT_DENY", detail: "NO_GRANT" };

describe("a name or a right that is not the sender's", () => {
  it("I01: takes the sender from the connection, refuses another name in the frame, and logs who it was", async () => {
    const { broker, orchestrator, worker, digest } = scene;
    for (const orchestrator_id of ["HumanOverseer", "o1", "O1.", "operator", "W1"]) {
      const forged = correctionOf(digest, `I am ${orchestrator_id}`, { orchestrator_id });
      expect(await orchestrator.ask(forged)).toMatchObject({
        verdict: "DENY",
        reason: "TRUST_VIOLATION",
        detail: "PRINCIPAL",
      });
    }
    const refused = await scene.logged("refused");
    expect(refused).toHaveLength(5);
    for (const entry of refused) {
      expect(entry).toMatchObject({
        verb: "correct",
        by: { role: "orchestrator", subject: "O1" },
        detail: "PRINCIPAL",
      });
    }
    expect(await delivered(worker)).toEqual([]);
    await scene.admit("in my own name", { orchestrator_id: "O1" });
    await scene.admit("without a name");
    const sent = await delivered(worker);
    expect(sent.map(({ orchestrator_id }) => orchestrator_id)).toEqual(["O1", "O1"]);
    // Nor can a token be shown for another role, or for another worker.
    const { token } = await broker.running.addToken({ role: "worker", subject: "W2", issue: "**", lane: "**" });
    for (const claim of [{ role: "worker", worker_id: "W1" }, { role: "orchestrator" }, { role: "auditor" }]) {
      const wire = await broker.open(token);
      wire.raw(JSON.stringify({ type: "hello", id: "h", ...claim }));
      expect(await wire.closed).toEqual({ code: 4403, reason: "role not granted" });
    }
  });

  it("I02: lets only the addressed worker ack, no other worker, not the sender, nor one with the worker's name", async () => {
    const { broker, orchestrator, worker, digest } = scene;
    const id = await scene.admit("stay in lane");
    await worker.ask({ type: "receive", correction_id: id });
    const other = await broker.worker("W2");
    await other.ask(statusOf("plan A"));
    const namesake = await broker.orchestrator("W1");
    const plan = { next_action: { summary: "s", reflects: [id] } };
    const takes = [
      ackOf(id, digest, plan),
      { type: "decline", correction_id: id, status_digest: digest, reason: "no" },
    ];
    for (const frame of [...takes, { type: "receive", correction_id: id }]) {
      const anothers = { type: "refusal", reason: "TRUST_VIOLATION", detail: "CORRECTION" };
      expect(await other.ask(frame)).toMatchObject(anothers);
      expect(await orchestrator.ask(frame)).toMatchObject({ type: "refusal", ...NO_GRANT });
      expect(await namesake.ask(frame)).toMatchObject({ type: "refusal", ...NO_GRANT });
    }
    expect(await namesake.ask({ type: "withdraw", correction_id: id })).toMatchObject({ type: "refusal", ...NO_GRANT });
    expect(await scene.stage(id)).toBe("DELIVERED");
    expect(await worker.ask(ackOf(id, digest, plan))).toMatchObject({ stage: "WITNESSED" });
  });

  it("I04: refuses a correction with whatever looks like an approval, and delivers text only", async () => {
    const { orchestrator, worker, digest } = scene;
    const approvals = {
      approve: true,
      approved: true,
      approval: "yes",
      decision: "allow",
      auto_approve: true,
      allow: ["*"],
    };
    for (const [field, value] of Object.entries({ ...approvals, permissions: {}, role: "system", scope: "**" })) {
      const refused = await orchestrator.ask(correctionOf(digest, "yes go on", { [field]: value }));
      expect(refused, field).toMatchObject({ verdict: "DENY", reason: "MALFORMED", detail: "SHAPE" });
      expect(JSON.stringify(refused)).not.toContain(field === "role" ? "system" : field);
    }
    const structured = correctionOf(digest, "", { message: { text: "yes", approve: true } });
    expect(await orchestrator.ask(structured)).toMatchObject({ verdict: "DENY", reason: "MALFORMED", path: "message" });
    await scene.admit("yes go on");
    const [sent] = await delivered(worker);
    expect(Object.keys(sent ?? {}).toSorted()).toEqual([
      "admitted_at",
      "correction_id",
      "expires_at",
      "issue",
      "lane",
      "message",
      "orchestrator_id",
      "status_digest",
      "task_id",
      "worker_id",
    ]);
    expect(sent).toMatchObject({ orchestrator_id: "O1", message: "yes go on" });
  });

  it("I06: lets no client set what is the broker's, and no worker send corrections, not even to itself", async () => {
    const { orchestrator, worker, digest } = scene;
    const malformed = { reason: "MALFORMED", detail: "SHAPE" };
    const id = await scene.admit("first");
    const broker = {
      stage: "WITNESSED",
      index: 0,
      at: 1,
      session: "s_1",
      by: { role: "operator", subject: "operator" },
    };
    const ofCorrection = {
      correction_id: "corr_mine",
      admitted_at: 1,
      expires_at: 1,
      verdict: "ALLOW",
      replayed: true,
    };
    const ofRow = { live: true, seq: 9, schema: "a2achan.worker-status.v1", worker_id: "W1", status_digest: digest };
    for (const [field, value] of Object.entries({ ...broker, ...ofCorrection }))
      expect(await orchestrator.ask(correctionOf(digest, "x", { [field]: value })), field).toMatchObject(malformed);
    for (const [field, value] of Object.entries({ ...broker, ...ofRow }))
      expect(await worker.ask(statusOf("plan B", { [field]: value })), field).toMatchObject(malformed);
    for (const [field, value] of Object.entries(broker))
      expect(await worker.ask(ackOf(id, digest, { [field]: value })), field).toMatchObject(malformed);
    expect(await scene.stage(id)).toBe("ADMITTED");
    expect(await scene.view()).toMatchObject({ status_digest: digest, pending: 1 });

    const self = await worker.ask(correctionOf(digest, "self"));
    expect(self).toMatchObject({ type: "receipt", verdict: "DENY", ...NO_GRANT });
    for (const frame of [
      { type: "withdraw", correction_id: id },
      { type: "stage", correction_id: id },
      { type: "log", after: 0 },
    ])
      expect(await worker.ask(frame)).toMatchObject({ type: "refusal", ...NO_GRANT });
    expect(await delivered(worker)).toMatchObject([{ message: "first" }]);
  });
});

describe("law: a grant is never exceeded", () => {
  const part = fc.constantFrom("a", "b", "ab", "*", "**");
  const pattern = fc.array(part, { minLength: 1, maxLength: 3 }).map((parts) => parts.join("/"));
  const patterns = fc.record({ worker: pattern, issue: pattern, lane: pattern });
  const PLACES = [
    { worker_id: "a", issue: "a/b", lane: "a/b" },
    { worker_id: "ab", issue: "b", lane: "a/ab/b" },
    { worker_id: "a/b", issue: "a", lane: "ab" },
    { worker_id: "b/a/b", issue: "ab/a", lane: "b/a" },
  ] as const;
  type Place = (typeof PLACES)[number];

  /** Section 8 by other means: a pattern as a regular expression. */
  const matches = (one: string, id: string): boolean =>
    new RegExp(`^${one.replaceAll("**", "\0").replaceAll("*", "[^/]*").replaceAll("\0", ".*")}$`).test(id);
  const covers = (of: { worker: string; issue: string; lane: string }, { worker_id, issue, lane }: Place): boolean =>
    (of.worker === "*" || matches(of.worker, worker_id)) &&
    (of.issue === "*" || matches(of.issue, issue)) &&
    matches(of.lane, lane);

  it("in what an orchestrator sees, corrects and is told, and in what a worker publishes", async () => {
    const { broker } = scene;
    const rows = new Map<Place, Frame>();
    for (const place of PLACES) {
      const { worker_id, issue, lane } = place;
      const worker = await broker.worker(worker_id);
      rows.set(place, await worker.ask({ type: "status", issue, lane }));
    }
    let run = 0;
    await fc.assert(
      fc.asyncProperty(patterns, async (granted) => {
        run += 1;
        const subject = `law-${run}`;
        const { token } = await broker.running.addToken({ role: "orchestrator", subject, ...granted });
        const orchestrator = await broker.open(token);
        await orchestrator.ask({ type: "hello", role: "orchestrator" });
        const seen = PLACES.filter((place) => covers(granted, place))
          .map(({ worker_id }) => worker_id)
          .toSorted();
        const seenIn = (frame: Frame): string[] =>
          (frame["rows"] as { row: { worker_id: string } }[])
            .map(({ row }) => row.worker_id)
            .filter((id) => PLACES.some(({ worker_id }) => worker_id === id));
        expect(seenIn(await orchestrator.ask({ type: "list" }))).toEqual(seen);
        expect(seenIn(await orchestrator.ask({ type: "watch" }))).toEqual(seen);
        for (const place of PLACES) {
          const covered = covers(granted, place);
          const { worker_id } = place;
          const got = await orchestrator.ask({ type: "get", worker_id });
          expect(got["row"]).toEqual(covered ? rows.get(place)?.["row"] : undefined);
          const status_digest = rows.get(place)?.["status_digest"];
          const message = { message: `by ${subject}`, status_digest, ttl_ms: 1 };
          const receipt = await orchestrator.ask({ type: "correct", ...place, ...message });
          expect(receipt).toMatchObject(covered ? { verdict: "ALLOW" } : { verdict: "DENY", ...NO_GRANT });
          // To name a place that is covered does not help where the row's own is not.
          for (const named of PLACES) {
            if (named === place || covered) continue;
            const posing = { ...named, worker_id, ...message };
            const detail = (await orchestrator.ask({ type: "correct", ...posing }))["detail"];
            expect(detail).toBe(covers(granted, { ...named, worker_id } as Place) ? "NO_ROW" : "NO_GRANT");
          }
        }
        const limited = { role: "worker" as const, subject, issue: granted.issue, lane: granted.lane };
        const worker = await broker.worker(subject, {}, (await broker.running.addToken(limited)).token);
        for (const { issue, lane } of PLACES) {
          const published = await worker.ask({ type: "status", issue, lane });
          const allowed = covers({ ...granted, worker: "*" }, { worker_id: "a", issue, lane } as Place);
          expect(published).toMatchObject(
            allowed ? { type: "row", row: { issue, lane } } : { type: "refusal", ...NO_GRANT },
          );
        }
        await worker.ask({ type: "bye" });
        orchestrator.drop();
        broker.clock.advance(1_000);
      }),
      { numRuns: 25 },
    );
  });

  it("from the moment when its token is revoked or expires", async () => {
    const { broker, worker, digest } = scene;
    const moment = fc.record({
      ends: fc.integer({ min: 1, max: 3_000 }),
      at: fc.nat({ max: 3_000 }),
      revoked: fc.boolean(),
    });
    let run = 0;
    await fc.assert(
      fc.asyncProperty(moment, async ({ ends, at, revoked }) => {
        const subject = `brief-${(run += 1)}`;
        const everywhere = { worker: "**", issue: "**", lane: "**" };
        const asked = { role: "orchestrator" as const, subject, ...everywhere, ...(!revoked && { expiresInMs: ends }) };
        const { id, token } = await broker.running.addToken(asked);
        const orchestrator = await broker.open(token);
        await orchestrator.ask({ type: "hello", role: "orchestrator" });
        const correct = (text: string): Promise<unknown> =>
          Promise.race([
            orchestrator.ask(correctionOf(digest, text, { ttl_ms: 5_000 })).then(({ verdict }) => verdict),
            orchestrator.closed.then(({ code }) => code),
          ]);
        if (!revoked) broker.clock.advance(at);
        // Sent at once with the revocation, either may come first.
        const revocation = revoked ? broker.running.broker.revokeToken(id) : undefined;
        const allowed = revoked ? ["ALLOW", "DENY", 4401] : [at < ends ? "ALLOW" : 4401];
        expect(allowed).toContain(await correct("in time?"));
        await revocation;
        if (!revoked) broker.clock.advance(Math.max(0, ends - at));
        expect(await orchestrator.closed).toMatchObject({ code: 4401 });
        await expect(broker.open(token)).rejects.toThrow("HTTP 401");
        const mine = (await broker.entries()).filter((entry) => {
          return (
            entry["token"] === id ||
            (entry["by"] as { token?: string }).token === id ||
            entry["orchestrator_id"] === subject
          );
        });
        const kinds = mine.map(({ kind }) => kind);
        const behind = kinds.includes("grant_revoked") ? kinds.slice(kinds.indexOf("grant_revoked")) : [];
        expect(behind).not.toContain("admitted");
        // What was admitted and not received goes with the grant.
        expect(kinds.filter((kind) => kind === "revoked")).toEqual(
          kinds.filter((kind) => kind === "admitted").map(() => "revoked"),
        );
        await broker.advance(1_000, worker);
      }),
      { numRuns: 20 },
    );
  });
});
