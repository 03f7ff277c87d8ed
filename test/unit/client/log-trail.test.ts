import { mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { checkpointFile } from "../../../src/client/checkpoint-file.js";
import type { ConnectOptions } from "../../../src/client/connect-options.js";
import type { A2achanError } from "../../../src/client/errors.js";
import { LogTrail } from "../../../src/client/log-trail.js";
import { openOrchestrator, type Orchestrator } from "../../../src/client/orchestrator.js";
import { LyingLog } from "../../support/lying-log.js";
import { FIRST_RETRY_MS, ScriptedBroker, stillRuntime, type Script } from "../../support/scripted-broker.js";

let broker: ScriptedBroker;
let runtime: ReturnType<typeof stillRuntime>;

beforeEach(async () => {
  broker = await ScriptedBroker.start();
  runtime = stillRuntime();
});
afterEach(() => broker.stop());

type Trust = Pick<ConnectOptions, "logKey" | "checkpoints">;

const connect = (trust: Trust = {}): Promise<Orchestrator> =>
  openOrchestrator({ url: broker.url, token: "t", ...trust }, runtime);

/** A connected client that was shown `log`. */
async function shown(log: string, trust: Trust = {}): Promise<{ client: Orchestrator; script: Script }> {
  const opening = connect(trust);
  const script = await broker.accept();
  await script.welcome("orchestrator", { log });
  return { client: await opening, script };
}

/** The client's next connection, after this one is lost. */
async function again(script: Script, log?: string, retryMs = FIRST_RETRY_MS): Promise<Script> {
  script.drop();
  await runtime.clock.fire(retryMs);
  const next = await broker.accept();
  await next.welcome("orchestrator", log === undefined ? {} : { log });
  return next;
}

const failureOf = (work: Promise<unknown>): Promise<A2achanError> =>
  work.then(
    () => expect.fail("it did not fail"),
    (error: A2achanError) => error,
  );

/** What a client's stream of stages ends with. */
const endOf = (client: Orchestrator): Promise<A2achanError> => failureOf(client.stages().next());

const answer = (script: Script, id: unknown, proof: Record<string, unknown>): void =>
  script.send({ type: "proof", id, ...proof });

describe("a log that grew", () => {
  it("must prove it before anything else goes on [A2C-PRV-11]", async () => {
    const log = LyingLog.of(20);
    const { client, script } = await shown(log.checkpoint(5));
    const stages = client.stages();
    const waiting = stages.next();
    let early = false;
    void waiting.then(() => (early = true));
    const next = await again(script, log.checkpoint(20));
    const asked = await next.next();
    expect(asked).toMatchObject({ type: "prove", from_size: 5 });
    const call = client.list();
    const stage = { type: "stage", correction_id: `corr_${"1".repeat(32)}`, worker_id: "w", stage: "ACKED", index: 9 };
    next.send({ ...stage, at: 1, cursor: "log.11" });
    await next.ping();
    expect([next.unread, early]).toEqual([[], false]);
    answer(next, asked["id"], log.consistency(5));
    const listed = await next.next();
    expect(listed).toMatchObject({ type: "list" });
    next.send({ type: "rows", id: listed["id"], rows: [] });
    expect(await call).toEqual({ rows: [] });
    expect((await waiting).value).toMatchObject({ stage: "ACKED", index: 9 });
    const third = await again(next, log.checkpoint(20), 2 * FIRST_RETRY_MS);
    expect(third.unread).toEqual([]);
    await client.close();
  });

  it("is asked anew when the connection is lost before its proof, and when the proof is late [A2C-PRV-11]", async () => {
    const log = LyingLog.of(8);
    const { client, script } = await shown(log.checkpoint(3));
    const second = await again(script, log.checkpoint(8));
    await second.next();
    second.drop();
    await runtime.clock.fire(2 * FIRST_RETRY_MS);
    const third = await broker.accept();
    await third.welcome("orchestrator", { log: log.checkpoint(8) });
    expect(await third.next()).toMatchObject({ type: "prove", from_size: 3 });
    await runtime.clock.fire(10_000);
    expect(await third.closed).toBe(1006);
    await client.close();
  });
});

describe("a log that is not the one it was", () => {
  const sizes = fc.tuple(fc.integer({ min: 1, max: 40 }), fc.integer({ min: 0, max: 40 }));

  it("ends the client when it was rolled back from n to k, with both checkpoints [A2C-PRV-12]", async () => {
    await fc.assert(
      fc.asyncProperty(sizes, async ([n, other]) => {
        const [log, k] = [LyingLog.of(n), other % n];
        const { client, script } = await shown(log.checkpoint(n));
        const ended = endOf(client);
        await again(script, log.checkpoint(k));
        expect(await ended).toMatchObject({
          code: "log_forked",
          checkpoints: { kept: log.checkpoint(n), shown: log.checkpoint(k) },
        });
        expect(await failureOf(client.list())).toBe(await ended);
      }),
      { numRuns: 15 },
    );
  });

  it("ends the client when it was forked at k, grown or not, whatever it proves [A2C-PRV-12]", async () => {
    await fc.assert(
      fc.asyncProperty(sizes, fc.integer({ min: 0, max: 9 }), fc.boolean(), async ([n, other], more, honest) => {
        const k = other % n;
        const [log, fork] = [LyingLog.of(n + more), LyingLog.of(n + more, k, "other")];
        const { client, script } = await shown(log.checkpoint(n));
        const ended = endOf(client);
        const next = await again(script, fork.checkpoint());
        if (more > 0) {
          const { id } = await next.next();
          // Its own tree's proof, or the proof of the log that was, beside the fork's checkpoint.
          answer(next, id, { ...(honest ? fork : log).consistency(n), checkpoint: fork.checkpoint() });
        }
        expect(await ended).toMatchObject({
          code: "log_forked",
          checkpoints: { kept: log.checkpoint(n), shown: fork.checkpoint() },
        });
      }),
      { numRuns: 25 },
    );
  });

  it.each([
    ["shows another origin", new LyingLog(LyingLog.of(9).lines, "test/other").checkpoint()],
    ["shows something that is no checkpoint", "log\n"],
  ])("ends the client when it %s [A2C-PRV-12]", async (_, log) => {
    const { client, script } = await shown(LyingLog.of(5).checkpoint());
    const ended = endOf(client);
    await again(script, log);
    expect(await ended).toMatchObject({ code: "log_forked", checkpoints: { shown: log } });
  });

  it.each([{ hashes: undefined }, { hashes: [] }, { hashes: ["AAAA"] }])(
    "ends the client when its proof is none: %o [A2C-PRV-12]",
    async (bent) => {
      const log = LyingLog.of(9);
      const { client, script } = await shown(log.checkpoint(5));
      const ended = endOf(client);
      const next = await again(script, log.checkpoint());
      const { id } = await next.next();
      answer(next, id, { ...log.consistency(5), ...bent });
      expect(await ended).toMatchObject({ code: "log_forked" });
    },
  );

  it("ends the client when it shows no checkpoint any more", async () => {
    const { client, script } = await shown(LyingLog.of(5).checkpoint());
    const ended = endOf(client);
    await again(script);
    expect(await ended).toMatchObject({ code: "unverifiable" });
  });
});

describe("a client with the log's key", () => {
  const log = LyingLog.of(5);
  const { logKey } = log;

  it("takes what the key signed, and nothing else [A2C-PRV-13]", async () => {
    const { client, script } = await shown(log.checkpoint(4), { logKey });
    const ended = endOf(client);
    const other = new LyingLog(log.lines, "test/log", 8).checkpoint(4);
    await again(script, other);
    expect(await ended).toMatchObject({ code: "log_forked", checkpoints: { kept: log.checkpoint(4), shown: other } });
  });

  it("does not connect when the first checkpoint is another's, bent, or missing [A2C-PRV-13]", async () => {
    const bent = log.checkpoint().replace("\n5\n", "\n6\n");
    for (const [note, code] of [
      [new LyingLog(log.lines, "test/log", 8).checkpoint(), "log_forked"],
      [bent, "log_forked"],
      [undefined, "unverifiable"],
    ] as const) {
      const failed = failureOf(connect({ logKey }));
      const script = await broker.accept();
      await script.welcome("orchestrator", note === undefined ? {} : { log: note });
      expect(await failed).toMatchObject({ code });
    }
  });

  it("is not one when the key is none", async () => {
    expect(await failureOf(connect({ logKey: `${logKey}A` }))).toMatchObject({ code: "unverifiable" });
  });
});

describe("a checkpoint that outlives its client", () => {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), "a2achan-checkpoint-"));
  });
  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  it("holds the next client to it from its first connection on [A2C-PRV-11]", async () => {
    const [log, path] = [LyingLog.of(12), join(folder, "checkpoint")];
    const first = await shown(log.checkpoint(7), { checkpoints: checkpointFile(path) });
    await first.client.close();
    expect(readFileSync(path, "utf8")).toBe(log.checkpoint(7));

    const opening = connect({ checkpoints: checkpointFile(path) });
    const script = await broker.accept();
    await script.welcome("orchestrator", { log: log.checkpoint(12) });
    const asked = await script.next();
    expect(asked).toMatchObject({ type: "prove", from_size: 7 });
    answer(script, asked["id"], log.consistency(7));
    await (await opening).close();
    expect(readFileSync(path, "utf8")).toBe(log.checkpoint(12));
    expect(readdirSync(folder)).toEqual(["checkpoint"]);

    const failed = failureOf(connect({ checkpoints: checkpointFile(path) }));
    await (await broker.accept()).welcome("orchestrator", { log: log.checkpoint(9) });
    expect(await failed).toMatchObject({ code: "log_forked", checkpoints: { kept: log.checkpoint(12) } });
    expect(readFileSync(path, "utf8")).toBe(log.checkpoint(12));
  });

  it("is unverifiable when it is damaged, cannot be read, or cannot be saved", async () => {
    const path = join(folder, "checkpoint");
    writeFileSync(path, "half a che");
    expect(await failureOf(connect({ checkpoints: checkpointFile(path) }))).toMatchObject({ code: "unverifiable" });
    expect(await failureOf(connect({ checkpoints: checkpointFile(folder) }))).toMatchObject({ code: "unverifiable" });
    const { client } = await shown(LyingLog.of(3).checkpoint(), {
      checkpoints: checkpointFile(join(folder, "nowhere", "checkpoint")),
    });
    expect(await endOf(client)).toMatchObject({ code: "unverifiable" });
  });
});

describe("what was proved", () => {
  it("stays the highest when an answer comes behind a later one [A2C-PRV-11]", () => {
    const log = LyingLog.of(20);
    const trail = new LogTrail({}, () => {});
    trail.welcomed(log.checkpoint(5));
    const kept = trail.kept;
    trail.keep(trail.judge(log.checkpoint(20)));
    trail.keep(trail.judge(log.checkpoint(10), kept));
    expect(trail.kept?.size).toBe(20);
  });
});
