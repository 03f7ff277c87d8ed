import { afterEach, describe, expect, it } from "vitest";
import { brokerSource } from "../../src/cli/audit/source.js";
import { Verifier } from "../../src/cli/audit/verifier.js";
import type { LoggedAnswer } from "../../src/client/entry-proof.js";
import {
  connectOrchestrator,
  connectWorker,
  isRefused,
  type A2achanError,
  type Orchestrator,
  type Worker,
} from "../../src/client/index.js";
import { MemoryStore } from "../../src/index.js";
import { TestBroker } from "../support/broker.js";
import { LIES, LyingStore } from "../support/lies.js";
import { LyingRelay } from "../support/lying-relay.js";
import type { Frame } from "../support/wire.js";

const EVERYWHERE = { worker: "**", issue: "**", lane: "**" };

let broker: TestBroker;
let relay: LyingRelay | undefined;
let clients: { worker: Worker; orchestrator: Orchestrator };

afterEach(async () => {
  await Promise.all([clients.worker.close(), clients.orchestrator.close()]);
  await relay?.stop();
  relay = undefined;
  await broker.stop();
});

/** What two clients are told in a short story that has every kind of answer; `lie` is told them instead. */
async function story(store = new MemoryStore(), lie?: (frame: Frame) => Frame): Promise<Record<string, LoggedAnswer>> {
  broker = await TestBroker.start({ store });
  if (lie !== undefined) relay = await LyingRelay.start(broker.url, lie);
  const trust = { url: relay?.url ?? broker.url, logKey: broker.running.broker.logKey, codec: "json" } as const;
  const made = await broker.running.addToken({ role: "worker", subject: "w-1", issue: "**", lane: "**" });
  const lead = await broker.running.addToken({ role: "orchestrator", subject: "lead", ...EVERYWHERE });
  const worker = await connectWorker({ ...trust, token: made.token, workerId: "w-1" });
  const orchestrator = await connectOrchestrator({ ...trust, token: lead.token });
  clients = { worker, orchestrator };

  const status = await worker.status({ issue: "7", lane: "src", next_action: { summary: "go" } });
  if (isRefused(status)) throw new Error("refused");
  const denied = await orchestrator.correct(status, "Stop.", { supersedes: `corr_${"0".repeat(32)}` });
  const oversize = await orchestrator.correct(status, "x".repeat(1_025));
  const malformed = await orchestrator.correct(status, "Stop\u202e.");
  const admitted = await orchestrator.correct(status, "Stop.");
  const other = await orchestrator.correct(status, "Wait.");
  if (admitted.verdict !== "ALLOW" || other.verdict !== "ALLOW") return { admitted, denied };
  const taken = await worker.take();
  const [acked] = await Promise.all(taken.map((correction) => correction.ack()));
  await worker.plan("stop", { reflects: [admitted.correction_id] });
  const [witnessed, unreflected] = await Promise.all([admitted.outcome, other.outcome]);
  if (acked === undefined || isRefused(acked)) throw new Error("not acked");
  return { admitted, denied, oversize, malformed, acked, witnessed, unreflected };
}

/** What a client finds when it has an answer confirmed: the proof's index, or what ends it. */
async function confirmed(answers: Record<string, LoggedAnswer>, name: string): Promise<unknown> {
  const answer = answers[name];
  if (answer === undefined) throw new Error(`nobody was told ${name}`);
  const client = name === "acked" ? clients.worker : clients.orchestrator;
  const found = await client.confirm(answer).catch((error: A2achanError) => error);
  return "code" in found ? { code: found.code, shown: found.checkpoints?.shown !== undefined } : found;
}

const FORKED = { code: "log_forked", shown: true };

/** What `a2achan verify URL` finds. */
async function verified(): Promise<{ difference?: unknown; agreed: readonly unknown[]; size: number }> {
  const { token } = await broker.running.addToken({ role: "auditor", subject: "eve", text: true });
  const source = await brokerSource({ url: broker.url, token, tokenFrom: "a test" });
  const verifier = new Verifier(source.yardsticks);
  await source.read(verifier, () => {});
  return verifier.end();
}

describe("a broker that does not lie", () => {
  it("is confirmed, answer by answer, and verified", async () => {
    const answers = await story();
    for (const name of Object.keys(answers)) {
      expect(await confirmed(answers, name)).toMatchObject({ index: answers[name]?.index, signed: true });
    }
    expect(Object.keys(answers)).toHaveLength(7);
    const { difference, agreed, size } = await verified();
    expect([difference, agreed]).toEqual([undefined, [{ name: "the broker's checkpoint", size }]]);
  });
});

describe("a broker that lies in its log", () => {
  it.each(Object.entries(LIES))("about %s is found by who verifies it, at that entry", async (_, lie) => {
    const store = new LyingStore(lie);
    await story(store);
    expect(store.told).toBeDefined();
    expect(await verified()).toMatchObject({ difference: { index: store.told } });
  });

  it.each([
    ["a verdict", "denied"],
    ["a reason", "denied"],
    ["a stage", "unreflected"],
  ] as const)("about %s is found by the client that was answered otherwise [A2C-PRV-12]", async (lie, name) => {
    const store = new LyingStore(LIES[lie]);
    const answers = await story(store);
    expect(answers[name]?.index).toBe(store.told);
    expect(await confirmed(answers, name)).toEqual(FORKED);
  });
});

/** Tells frames of a type, that match, otherwise. */
const instead =
  (type: string, matches: Frame | object, lie: (frame: Frame) => object) =>
  (frame: Frame): Frame => {
    const applies = Object.entries(matches).every(([key, value]) => frame[key] === value);
    return frame.type === type && applies ? { ...frame, ...lie(frame) } : frame;
  };

describe("a broker that answers otherwise than its log says", () => {
  const ALLOWED = { verdict: "ALLOW", stage: "ADMITTED", expires_at: 9, deliverable: true };
  it.each<[string, string, (frame: Frame) => Frame]>([
    ["ALLOW for DENY", "denied", instead("receipt", { reason: "TRUST_VIOLATION" }, () => ALLOWED)],
    [
      "DENY for ALLOW",
      "admitted",
      instead("receipt", { verdict: "ALLOW" }, () => ({ verdict: "DENY", reason: "UNWITNESSED", detail: "DIGEST" })),
    ],
    ["another reason", "denied", instead("receipt", { verdict: "DENY" }, () => ({ reason: "UNWITNESSED" }))],
    ["another detail", "denied", instead("receipt", { verdict: "DENY" }, () => ({ detail: "SCOPE" }))],
    ["another limit", "oversize", instead("receipt", { reason: "OVERSIZE" }, () => ({ max_bytes: 2_048 }))],
    ["another place", "malformed", instead("receipt", { reason: "MALFORMED" }, () => ({ path: "key" }))],
    [
      "a later time to ack",
      "admitted",
      instead("receipt", { verdict: "ALLOW" }, ({ expires_at }) => ({ expires_at: Number(expires_at) + 1 })),
    ],
    ["another entry", "admitted", instead("receipt", { verdict: "ALLOW" }, () => ({ index: 0 }))],
    ["an entry that there is not", "admitted", instead("receipt", { verdict: "ALLOW" }, () => ({ index: 1_000 }))],
    ["another stage to the worker", "acked", instead("stage", { stage: "ACKED" }, () => ({ stage: "DELIVERED" }))],
    [
      "WITNESSED for UNREFLECTED",
      "unreflected",
      instead("stage", { stage: "UNREFLECTED" }, () => ({ stage: "WITNESSED" })),
    ],
    ["that a plan echoes", "witnessed", instead("stage", { stage: "WITNESSED" }, () => ({ echo: true }))],
    ["another time", "witnessed", instead("stage", { stage: "WITNESSED" }, ({ at }) => ({ at: Number(at) - 1 }))],
  ])("%s is found by the client that has its answer confirmed [A2C-PRV-12]", async (_, name, lie) => {
    const answers = await story(new MemoryStore(), lie);
    expect(await confirmed(answers, name)).toEqual(FORKED);
    const client = name === "acked" ? clients.worker : clients.orchestrator;
    await expect(client.prove(0)).rejects.toMatchObject({ code: "log_forked" });
    expect(await verified()).not.toHaveProperty("difference");
  });
});
