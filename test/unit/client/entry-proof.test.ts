import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { openAuditor, type Auditor } from "../../../src/client/auditor.js";
import type { LoggedAnswer } from "../../../src/client/entry-proof.js";
import type { A2achanError } from "../../../src/client/errors.js";
import { openOrchestrator, type Orchestrator } from "../../../src/client/orchestrator.js";
import { LyingLog } from "../../support/lying-log.js";
import { ScriptedBroker, stillRuntime, type Script } from "../../support/scripted-broker.js";

const ID = `corr_${"1".repeat(32)}`;
const LINES = [
  `{"index":0,"kind":"log_opened"}`,
  `{"deliverable":true,"correction_id":"${ID}","expires_at":90,"index":1,"kind":"admitted","worker_id":"w"}`,
  `{"index":2,"kind":"refused","reason":"UNWITNESSED","detail":"DIGEST"}`,
  `{"at":50,"correction_id":"${ID}","index":3,"kind":"witnessed","worker_id":"w"}`,
  `{"index":4,"kind":"broker_stopped"}`,
];
const log = new LyingLog(LINES);

let broker: ScriptedBroker;
let script: Script;
let client: Orchestrator;

const failureOf = (work: Promise<unknown>): Promise<A2achanError> =>
  work.then(
    () => expect.fail("it did not fail"),
    (error: A2achanError) => error,
  );

async function connected<T>(
  role: string,
  size: number,
  open: typeof openOrchestrator | typeof openAuditor,
): Promise<T> {
  broker = await ScriptedBroker.start();
  const opening = open({ url: broker.url, token: "t", logKey: log.logKey }, stillRuntime());
  script = await broker.accept();
  await script.welcome(role, { log: log.checkpoint(size) });
  return (await opening) as T;
}

describe("a proof", () => {
  beforeEach(async () => {
    client = await connected<Orchestrator>("orchestrator", 4, openOrchestrator);
  });
  afterEach(async () => {
    await client.close();
    await broker.stop();
  });

  /** Answers a `prove` of an entry and the growth asked with it, at the sizes given. */
  async function prove(index: number, entry: object = { entry: LINES[index] }, sizes = [5, 5]): Promise<void> {
    const [asked, growth] = [await script.next(), await script.next()];
    expect([asked, growth]).toMatchObject([
      { type: "prove", index },
      { type: "prove", from_size: 4 },
    ]);
    script.send({ type: "proof", id: asked["id"], ...log.inclusion(index, sizes[0]), ...entry });
    script.send({ type: "proof", id: growth["id"], ...log.consistency(4, sizes[1]) });
  }

  it("is checked under a checkpoint that extends what was kept", async () => {
    const proof = client.prove(1);
    await prove(1);
    const { hashes } = log.inclusion(1, 5);
    expect(await proof).toEqual({ index: 1, entry: LINES[1], hashes, checkpoint: log.checkpoint(5), signed: true });
  });

  it("is asked for again when the log grew between its two halves", async () => {
    const proof = client.prove(1);
    await prove(1, {}, [4, 5]);
    const [asked, growth] = [await script.next(), await script.next()];
    expect(growth).toMatchObject({ type: "prove", from_size: 5 });
    script.send({ type: "proof", id: asked["id"], ...log.inclusion(1), entry: LINES[1] });
    script.send({ type: "proof", id: growth["id"], ...log.consistency(5) });
    expect(await proof).toMatchObject({ index: 1, entry: LINES[1] });
  });

  it("may come behind the answer to a later one, from a smaller log", async () => {
    const both = Promise.all([client.prove(1), client.prove(2)]);
    const asked = [await script.next(), await script.next(), await script.next(), await script.next()];
    const ids = asked.map(({ id }) => id);
    script.send({ type: "proof", id: ids[2], ...log.inclusion(2, 5), entry: LINES[2] });
    script.send({ type: "proof", id: ids[3], ...log.consistency(4, 5) });
    script.send({ type: "proof", id: ids[0], ...log.inclusion(1, 4), entry: LINES[1] });
    script.send({ type: "proof", id: ids[1], ...log.consistency(4, 4) });
    expect((await both).map((proof) => proof !== undefined && "index" in proof && proof.index)).toEqual([1, 2]);
  });

  it("is unchecked without the line, and undefined where the log ends before it", async () => {
    const bare = client.prove(0);
    await prove(0, {});
    expect(await bare).toEqual({ index: 0, hashes: expect.any(Array), checkpoint: log.checkpoint(5), signed: true });
    const beyond = client.prove(5);
    const [asked, growth] = [await script.next(), await script.next()];
    script.send({ type: "proof", id: asked["id"], checkpoint: log.checkpoint(), index: 5 });
    script.send({ type: "proof", id: growth["id"], ...log.consistency(5) });
    expect(await beyond).toBeUndefined();
  });

  it.each([
    ["the line is another's", { entry: LINES[2] }],
    [
      "a hash is bent",
      { entry: LINES[1], hashes: [...(log.inclusion(1)["hashes"] as string[]).slice(1), "A".repeat(43) + "="] },
    ],
    ["there is none for an entry that the log has", { hashes: undefined }],
  ])("ends the client when %s [A2C-PRV-12]", async (_, bent) => {
    const failed = failureOf(client.prove(1));
    await prove(1, bent);
    expect(await failed).toMatchObject({ code: "log_forked", checkpoints: { shown: log.checkpoint() } });
    expect(await failureOf(client.list())).toBe(await failed);
  });

  const told = { correction_id: ID, index: 1 } as const;
  it.each<[string, LoggedAnswer, boolean]>([
    ["a receipt", { ...told, verdict: "ALLOW", expires_at: 90, deliverable: true }, true],
    ["a replayed receipt", { ...told, verdict: "ALLOW", expires_at: 91, deliverable: false, replayed: true }, true],
    ["another expiry", { ...told, verdict: "ALLOW", expires_at: 91, deliverable: true }, false],
    ["another correction", { ...told, verdict: "ALLOW", correction_id: `corr_${"2".repeat(32)}` }, false],
    ["an admission for a refusal", { ...told, verdict: "DENY", reason: "UNWITNESSED", detail: "DIGEST" }, false],
    ["a refusal", { index: 2, verdict: "DENY", reason: "UNWITNESSED", detail: "DIGEST" }, true],
    ["another reason", { index: 2, verdict: "DENY", reason: "OVERSIZE" }, false],
    ["an outcome", { ...told, index: 3, worker_id: "w", stage: "WITNESSED", at: 50 }, true],
    ["another stage", { ...told, index: 3, worker_id: "w", stage: "EXPIRED", at: 50 }, false],
    ["another time", { ...told, index: 3, worker_id: "w", stage: "WITNESSED", at: 51 }, false],
  ])("of what an answer named shows whether the entry says so: %s", async (_, answer, holds) => {
    const confirmed = client.confirm(answer).catch((error: unknown) => error);
    await prove(answer.index ?? 0);
    const result = await confirmed;
    const proof = { index: answer.index, entry: LINES[answer.index ?? 0] };
    expect(result).toMatchObject(holds ? proof : { code: "log_forked", checkpoints: { kept: log.checkpoint() } });
  });

  it("cannot be made of a refusal without an entry of its own", async () => {
    expect(await failureOf(client.confirm({ verdict: "DENY" }))).toMatchObject({ code: "unverifiable" });
  });
});

describe("the verified log", () => {
  let auditor: Auditor;
  afterEach(async () => {
    await auditor.close();
    await broker.stop();
  });

  const entry = (index: number, worker: string, count?: number): string =>
    JSON.stringify({ index, worker_id: worker, ...(count !== undefined && { worker_entry: count }) });
  const HONEST = [entry(0, "a"), entry(1, "a", 1), entry(2, "b", 1), entry(3, "a", 2), entry(4, "b", 2)];

  /** What an auditor reads when `lines` come in one page while the checkpoints are those of `signed`. */
  async function read(lines: readonly string[], signed: LyingLog, welcomed = signed): Promise<unknown[]> {
    broker = await ScriptedBroker.start();
    const options = { url: broker.url, token: "t", logKey: signed.logKey };
    const opening = openAuditor(options, stillRuntime());
    script = await broker.accept();
    await script.welcome("auditor", { log: welcomed.checkpoint(3) });
    auditor = await opening;
    const items = auditor.verified();
    const follow = await script.next();
    expect(follow).toMatchObject({ type: "follow", after: 0 });
    script.send({ type: "entries", id: follow["id"], entries: lines, next: lines.length });
    const answering = async (): Promise<void> => {
      const { id } = await script.next();
      script.send({ type: "proof", id, checkpoint: signed.checkpoint() });
      return answering();
    };
    void answering();
    const seen: unknown[] = [];
    for await (const item of items) {
      seen.push("line" in item ? item.index : item);
      if ("covered" in item && item.covered === lines.length) break;
    }
    return seen;
  }

  it("is every entry, and the checkpoint that covers them", async () => {
    const log = new LyingLog(HONEST);
    expect(await read(HONEST, log)).toEqual([
      0,
      1,
      2,
      3,
      4,
      { covered: 5, checkpoint: log.checkpoint(), signed: true },
    ]);
  });

  const bent = (at: number, line: string): string[] => HONEST.with(at, line);
  const first = bent(1, entry(1, "a", 1).replace("}", `,"more":1}`));
  it.each([
    ["an entry is not the one that was signed", bent(3, `{"index":3}`), HONEST, HONEST, "The first 5 entries do not"],
    ["an early one is not what an older checkpoint says", first, first, HONEST, "The first 3 entries do not"],
    ["an index is left out", HONEST.toSpliced(2, 1), HONEST, HONEST, "Entry 3 comes where entry 2 belongs."],
    ["a worker's entry is left out", bent(3, entry(3, "a", 3)), undefined, undefined, "Entry 3 is not entry 2 of a."],
    ["a worker's entry is not counted", bent(3, entry(3, "a")), undefined, undefined, "Entry 3 is not entry 2 of a."],
    [
      "more is shown than signed",
      [...HONEST, entry(5, "a", 3)],
      HONEST.slice(0, 3),
      HONEST,
      "The log has 4 entries, and",
    ],
  ])("ends the client when %s [A2C-PRV-12]", async (_, lines, signed = lines, welcomed = lines, why) => {
    const failure = await failureOf(read(lines, new LyingLog(signed), new LyingLog(welcomed)));
    expect([failure.code, failure.message]).toEqual(["log_forked", expect.stringContaining(why)]);
    expect(await failureOf(auditor.log())).toMatchObject({ code: "log_forked" });
  });
});
