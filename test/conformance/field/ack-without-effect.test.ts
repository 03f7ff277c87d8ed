import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { TestBroker } from "../../support/broker.js";
import { admit, correctionOf, publish, statusOf } from "../../support/scenes.js";
import type { Wire } from "../../support/wire.js";
import { entriesOf, stepsIn, type Entry } from "./support/log.js";
import { ack, deliveries, idIn, receive, stageOf, told } from "./support/talk.js";
import { Traffic, anyMoves } from "./support/traffic.js";
import { freeze, workerProgram } from "./support/worker-program.js";

let broker: TestBroker;
let worker: Wire;
let lead: Wire;
let digest: string;

const PLAN_A = { next_action: { summary: "plan A" } };

beforeEach(async () => {
  broker = await TestBroker.start();
  worker = await broker.worker("w-1");
  lead = await broker.orchestrator("lead");
  digest = await publish(worker, "read the issue", PLAN_A);
});
afterEach(() => broker.stop());

describe("ack_without_effect", () => {
  it("A01: takes an ack alone for ACKED, and the next plan that does not name it for UNREFLECTED", async () => {
    const id = await admit(lead, "w-1", digest, "Edit the right file first.");
    expect(await worker.ask(ack(id, digest))).toMatchObject({ stage: "ACKED" });
    expect(await stageOf(lead, id)).toBe("ACKED");
    const next = await worker.ask(statusOf("read the tests", { next_action: { summary: "plan B", reflects: [] } }));
    expect(next).toMatchObject({ outcomes: [{ correction_id: id, stage: "UNREFLECTED" }] });
    // To name it later is too late.
    await worker.ask(statusOf("read on", { next_action: { summary: "plan C", reflects: [id] } }));
    expect(await told(lead, id)).toEqual(["DELIVERED", "ACKED", "UNREFLECTED"]);
    expect(await entriesOf(broker, "witnessed")).toEqual([]);
  });

  it("A02: takes a correction for WITNESSED when it was acked and the next planned action names it", async () => {
    const id = await admit(lead, "w-1", digest, "Edit the right file first.");
    await worker.ask(ack(id, digest));
    expect(await stageOf(lead, id)).toBe("ACKED");
    const next_action = { summary: "edit the right file first", reflects: [id] };
    const row = await worker.ask(statusOf("read the issue", { next_action }));
    expect(row).toMatchObject({ row: { next_action }, outcomes: [{ correction_id: id, stage: "WITNESSED" }] });
    expect(await told(lead, id)).toEqual(["DELIVERED", "ACKED", "WITNESSED"]);
  });

  it("takes a plan that names a correction that was not acked for nothing", async () => {
    const id = await admit(lead, "w-1", digest, "Edit the right file first.");
    await worker.ask(receive(id));
    const next_action = { summary: "edit the right file first", reflects: [id] };
    expect(await worker.ask(statusOf("read the issue", { next_action }))).toMatchObject({ outcomes: [] });
    expect(await stageOf(lead, id)).toBe("DELIVERED");
  });

  it("A03: sets each stage by the word of the side that knows, and never an earlier one again", async () => {
    const id = await admit(lead, "w-1", digest, "Edit the right file first.");
    const plan = { summary: "edit the right file first", reflects: [id] };
    expect((await deliveries(worker)).map(idIn)).toEqual([id]);
    expect(await stageOf(lead, id)).toBe("ADMITTED");
    await worker.ask(receive(id));
    expect(await stageOf(lead, id)).toBe("DELIVERED");
    await worker.ask(ack(id, digest));
    expect(await stageOf(lead, id)).toBe("ACKED");
    expect(await worker.ask(receive(id))).toMatchObject({ stage: "ACKED" });
    await worker.ask(statusOf("read the issue", { next_action: plan }));
    expect(await stageOf(lead, id)).toBe("WITNESSED");

    for (const late of [receive(id), ack(id, digest, { summary: "plan B" })]) {
      expect(await worker.ask(late)).toMatchObject({ type: "stage", stage: "WITNESSED" });
    }
    expect(await lead.ask({ type: "withdraw", correction_id: id })).toMatchObject({ stage: "WITNESSED" });
    expect(await told(lead, id)).toEqual(["DELIVERED", "ACKED", "WITNESSED"]);
    const by = (await broker.entries()).filter((entry) => entry["correction_id"] === id);
    expect(by).toMatchObject([
      { kind: "admitted", by: { role: "orchestrator", subject: "lead" } },
      { kind: "delivered", by: { role: "worker", subject: "w-1" } },
      { kind: "acked", by: { role: "worker", subject: "w-1" } },
      { kind: "witnessed", by: { role: "worker", subject: "w-1" } },
    ]);
  });

  it("A04: ends what was delivered and never acked as EXPIRED at its time, and tells its sender", async () => {
    const id = await admit(lead, "w-1", digest, "Edit the right file first.", { ttl_ms: 30_000 });
    await worker.ask(receive(id));
    await broker.advance(29_999, worker, lead);
    expect(await told(lead, id)).toEqual(["DELIVERED"]);
    await broker.advance(1, worker, lead);
    expect(await told(lead, id)).toEqual(["DELIVERED", "EXPIRED"]);
    expect(await worker.ask(ack(id, digest))).toMatchObject({ stage: "EXPIRED" });
    expect(await stageOf(lead, id)).toBe("EXPIRED");
  });

  it("A05: leaves a correction ADMITTED whose frame was written to a frozen worker, until it thaws", async () => {
    const { token } = await broker.running.addToken({ role: "worker", subject: "w-2", issue: "**", lane: "**" });
    using frozen = await workerProgram(broker.url, token, "w-2");
    await freeze(frozen);
    const view = await lead.ask({ type: "get", worker_id: "w-2" });
    const receipt = await lead.ask(correctionOf("w-2", view["status_digest"], "Edit the right file first."));
    expect(receipt).toMatchObject({ verdict: "ALLOW", deliverable: true });
    const id = String(receipt["correction_id"]);
    expect(await stageOf(lead, id)).toBe("ADMITTED");
    // It is not missed before it was pinged twice.
    await broker.advance(45_000, worker, lead);
    expect(await lead.ask({ type: "get", worker_id: "w-2" })).toMatchObject({ liveness: "suspect", pending: 1 });
    expect(await stageOf(lead, id)).toBe("ADMITTED");
    expect(await told(lead, id)).toEqual([]);

    frozen.signal("SIGCONT");
    expect(await frozen.line()).toBe(`took ${id}`);
    await lead.push(({ stage }) => stage === "WITNESSED");
    expect(await told(lead, id)).toEqual(["DELIVERED", "ACKED"]);
  });

  it("A07: refuses a status with a key that it does not know, and lets the old row stand", async () => {
    const before = await lead.ask({ type: "get", worker_id: "w-1" });
    for (const claim of [{ claimed: true }, { live: true }, { seq: 9 }, { done: "all of it" }]) {
      const refused = await worker.ask(statusOf("did everything", claim));
      expect(refused).toMatchObject({ type: "refusal", reason: "MALFORMED", detail: "SHAPE" });
    }
    const nested = { next_action: { summary: "done", reflects: [], done: true } };
    expect(await worker.ask(statusOf("did everything", nested))).toMatchObject({
      reason: "MALFORMED",
      detail: "SHAPE",
    });
    const after = await lead.ask({ type: "get", worker_id: "w-1" });
    expect({ ...after, id: "" }).toEqual({ ...before, id: "" });
    expect(after).toMatchObject({ status_digest: digest, row: { seq: 1, last_action: "read the issue" } });
  });

  it("refuses a receipt, an ack and a decline that claim more than they can, and lets the stage stand", async () => {
    const id = await admit(lead, "w-1", digest, "Edit the right file first.");
    const cited = { correction_id: id, status_digest: digest };
    for (const frame of [
      { ...receive(id), read: true },
      { ...ack(id, digest), applied: true },
      { ...ack(id, digest, { summary: "as told", reflects: [id] }), stage: "WITNESSED" },
      { type: "decline", ...cited, reason: "Done already.", witnessed: true },
    ]) {
      expect(await worker.ask(frame)).toMatchObject({ type: "refusal", reason: "MALFORMED", detail: "SHAPE" });
    }
    expect(await stageOf(lead, id)).toBe("ADMITTED");
  });

  it("A09: tells a stop order that was acked and not taken up at once, and one that is waited out by its window", async () => {
    const [stop, again] = [
      await admit(lead, "w-1", digest, "STOP.", { priority: "halt" }),
      await admit(lead, "w-1", digest, "STOP!", { priority: "halt" }),
    ];
    await worker.ask(ack(stop, digest));
    const other = await worker.ask(statusOf("read on", { next_action: { summary: "rewrite the parser" } }));
    expect(other).toMatchObject({ outcomes: [{ correction_id: stop, stage: "UNREFLECTED" }] });
    expect(await told(lead, stop)).toEqual(["DELIVERED", "ACKED", "UNREFLECTED"]);

    await worker.ask(ack(again, digest));
    for (const report of ["read on", "read further"]) {
      const restated = await worker.ask(statusOf(report, { next_action: { summary: "rewrite the parser" } }));
      expect(restated).toMatchObject({ outcomes: [] });
    }
    expect(await stageOf(lead, again)).toBe("ACKED");
    await broker.advance(599_999, worker, lead);
    expect(await stageOf(lead, again)).toBe("ACKED");
    await broker.advance(1, worker, lead);
    expect(await told(lead, again)).toEqual(["DELIVERED", "ACKED", "EXPIRED"]);
    expect(lead.pushes.at(-1)).toMatchObject({ stage: "EXPIRED", detail: "WINDOW" });
  });

  it.each([" ", "\n\t", "", "\u3000"])(
    "A10: refuses a blank next action %j with its whole frame, the ack included",
    async (summary) => {
      const id = await admit(lead, "w-1", digest, "Edit the right file first.");
      await worker.ask(receive(id));
      for (const frame of [ack(id, digest, { summary }), statusOf("read on", { next_action: { summary } })]) {
        expect(await worker.ask(frame)).toMatchObject({
          type: "refusal",
          reason: "MALFORMED",
          detail: "TEXT_BLANK",
          path: "next_action.summary",
        });
      }
      expect(await stageOf(lead, id)).toBe("DELIVERED");
      expect(await entriesOf(broker, "acked")).toEqual([]);
      expect(await lead.ask({ type: "get", worker_id: "w-1" })).toMatchObject({ status_digest: digest });
    },
  );
});

describe("law: receipt and withdrawal exclude each other", () => {
  it("lets one of two that cross stand, and tells both sides the same", async () => {
    const race = fc.array(fc.constantFrom("receive", "withdraw", "ack"), { minLength: 2, maxLength: 6 });
    await fc.assert(
      fc.asyncProperty(race, async (moves) => {
        const field = await TestBroker.start();
        const [taker, giver] = [await field.worker("w-1"), await field.orchestrator("lead")];
        const cited = await publish(taker);
        const id = await admit(giver, "w-1", cited, "Edit the right file first.");
        const answers = await Promise.all(
          moves.map(async (move) => {
            if (move === "withdraw") return giver.ask({ type: "withdraw", correction_id: id });
            return taker.ask(move === "ack" ? ack(id, cited) : receive(id));
          }),
        );
        const stages = new Set(answers.map(({ stage }) => stage));
        expect(stages.has("WITHDRAWN")).toBe(!stages.has("DELIVERED") && !stages.has("ACKED"));
        const steps = stepsIn(await field.entries()).map(({ stage }) => stage);
        const taken = ["ADMITTED", "DELIVERED", ...(moves.includes("ack") ? ["ACKED"] : [])];
        expect(steps).toEqual(stages.has("WITHDRAWN") ? ["ADMITTED", "WITHDRAWN"] : taken);
        expect(await told(giver, id)).toEqual(steps.slice(1));
        await field.stop();
      }),
      { numRuns: 40 },
    );
  });
});

describe("law: witnessed is acked, then named in the next plan", () => {
  it("holds in the log for every correction, and for no other", async () => {
    await fc.assert(
      fc.asyncProperty(anyMoves, (moves) =>
        Traffic.judge(moves, async (traffic) => {
          const entries = await traffic.entries();
          const judged = entries.filter(({ kind }) => kind === "witnessed" || kind === "unreflected");
          expect(judged.map(({ correction_id, kind }) => `${String(kind)} ${String(correction_id)}`)).toEqual(
            verdicts(entries),
          );
        }),
      ),
      { numRuns: 40 },
    );
  });
});

/** What a reader of the log says of each plan: the acked corrections that it names, and those that it does not. */
function verdicts(entries: readonly Entry[]): string[] {
  const acked = new Set<string>();
  const admissions: string[] = [];
  const said: string[] = [];
  for (const { kind, correction_id, reflects } of entries) {
    const id = String(correction_id);
    if (kind === "admitted") admissions.push(id);
    else if (kind === "acked") acked.add(id);
    else if (kind === "planned") {
      const named = reflects as string[];
      const open = admissions.filter((one) => acked.has(one));
      said.push(...open.map((one) => `${named.includes(one) ? "witnessed" : "unreflected"} ${one}`));
      acked.clear();
    } else acked.delete(id);
  }
  return said;
}
