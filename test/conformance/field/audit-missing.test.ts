import { appendFileSync, cpSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { EVERYWHERE, Serve, dataDirectory, operatorToken, serveProgram } from "../../support/serve.js";
import { Wire, type Frame } from "../../support/wire.js";
import { Scene, ackOf, correctionOf, digestIn, statusOf } from "./support/scene.js";
import { commitmentOf, rootOf } from "./support/tree.js";

describe("what the log tells of a broker on a fake clock", () => {
  let scene: Scene;
  beforeEach(async () => {
    scene = await Scene.open();
  });
  afterEach(() => scene.close());

  it("G01: logs each of five attempts with principal, reason, bytes and commitment, and no text", async () => {
    const { orchestrator, digest, broker } = scene;
    const attempts = [
      correctionOf("sha256:stale", "stay in lane"),
      correctionOf(digest, "stay in lane", { lane: "other" }),
      correctionOf(digest, "x".repeat(2_000)),
      correctionOf(digest, "  "),
      correctionOf(digest, "secret text 4711"),
    ];
    const answers: Frame[] = [];
    for (const attempt of attempts) answers.push(await orchestrator.ask(attempt));

    const log = await wholeLog(await broker.auditor("A1", true));
    const entries = log.lines.map((line) => JSON.parse(line) as Record<string, unknown>);
    const tried = entries.filter(({ kind, verb }) => kind === "admitted" || verb === "correct");
    expect(tried.map(({ kind, reason, detail }) => [kind, reason, detail])).toEqual([
      ["refused", "UNWITNESSED", "DIGEST"],
      ["refused", "TRUST_VIOLATION", "SCOPE"],
      ["refused", "OVERSIZE", undefined],
      ["refused", "MALFORMED", "TEXT_BLANK"],
      ["admitted", undefined, undefined],
    ]);
    expect(tried.map(({ index }) => index)).toEqual(answers.map(({ index }) => index));
    for (const { by } of tried) expect(by).toMatchObject({ role: "orchestrator", subject: "O1" });
    const messages = tried.map(({ content }) => (content as { message: Record<string, unknown> }).message);
    expect(messages.map(({ bytes }) => bytes)).toEqual([12, 12, 2_000, 2, 16]);
    for (const { commitment } of messages) expect(commitment).toMatch(/^[0-9a-f]{64}$/);
    expect(new Set(messages.map(({ commitment }) => commitment)).size).toBe(5);
    // Any four digits may stand in a hash.
    const said = log.lines.join("\n").replaceAll(/[0-9a-f]{8,}/g, "");
    for (const text of ["secret", "4711", "stay in lane", "xxxx", "plan A"]) expect(said).not.toContain(text);
    // Who may read texts can tell that they are those; the one of 2,000 bytes is not kept.
    const opened = log.texts.filter(({ field, index }) => field === "message" && index >= Number(tried[0]?.["index"]));
    expect(opened.map(({ utf8 }) => utf8)).toEqual(["stay in lane", "stay in lane", "  ", "secret text 4711"]);
    const kept = messages.filter(({ bytes }) => bytes !== 2_000).map(({ commitment }) => commitment);
    expect(opened.map(commitmentOf)).toEqual(kept);
    expect((await wholeLog(await broker.auditor("A2"))).texts).toEqual([]);
  });

  describe("law: every attempt is in the log once", () => {
    it("as an entry or in the count of one that folds, and leaves no text", async () => {
      const { broker, orchestrator, worker, digest } = scene;
      const cited = fc.constantFrom(digest, "sha256:stale", undefined);
      const fields = fc.constantFrom(
        {},
        { lane: "other" },
        { ttl_ms: 0 },
        { max_bytes: 1 },
        { approve: true },
        { priority: "halt" },
      );
      const attempt = fc.record({ cited, fields, from: fc.constantFrom(orchestrator, worker) });
      let tried = 0;
      await fc.assert(
        fc.asyncProperty(fc.array(attempt, { minLength: 10, maxLength: 20 }), async (attempts) => {
          for (const one of attempts) {
            const frame = correctionOf(one.cited, `needle ${(tried += 1)}`, one.fields);
            const receipt = await one.from.ask(frame);
            if (receipt["verdict"] === "ALLOW")
              await orchestrator.ask({ type: "withdraw", correction_id: receipt["correction_id"] });
          }
          await broker.advance(1_000, orchestrator, worker);
        }),
        { numRuns: 30 },
      );
      await broker.advance(20_000, orchestrator, worker);
      const lines = (await wholeLog(await broker.auditor("A1"))).lines;
      const entries = lines.map((line) => JSON.parse(line) as Record<string, unknown>);
      const single = entries.filter(
        ({ kind, verb }) => kind === "admitted" || (kind === "refused" && verb === "correct"),
      );
      const folded = entries.filter(({ kind }) => kind === "refusals_folded");
      const counted = folded.flatMap(({ counts }) => Object.values(counts as Record<string, number>));
      expect(folded.length).toBeGreaterThan(0);
      expect(single.length + counted.reduce((sum, count) => sum + count, 0)).toBe(tried);
      expect(lines.join("\n")).not.toContain("needle");
    });
  });
});

describe("what the log tells of a broker process", () => {
  let directory: ReturnType<typeof dataDirectory>;
  let broker: Serve;
  let head: string;
  let tokens: { worker: string; orchestrator: string; auditor: string };

  beforeEach(() => {
    directory = dataDirectory();
    head = join(dirname(directory.path), "elsewhere", "head");
  });
  afterEach(async () => {
    await broker.kill();
    directory[Symbol.dispose]();
  });

  async function start(...flags: string[]): Promise<void> {
    broker = await Serve.start(directory.path, "--head", head, ...flags);
    tokens = {
      worker: (await broker.token({ role: "worker", subject: "W1", issue: "**", lane: "**" })).token,
      orchestrator: (await broker.token({ role: "orchestrator", subject: "O1", ...EVERYWHERE })).token,
      auditor: operatorToken(directory.path),
    };
  }

  const asWorker = (): Promise<Wire> => Wire.hello(broker.url, tokens.worker, { role: "worker", worker_id: "W1" });
  const asOrchestrator = (): Promise<Wire> => Wire.hello(broker.url, tokens.orchestrator, { role: "orchestrator" });
  const asAuditor = (): Promise<Wire> => Wire.hello(broker.url, tokens.auditor, { role: "auditor" });

  /** One correction, admitted; and acked, if so asked. */
  async function correct(message: string, acked = false): Promise<string> {
    const [worker, orchestrator] = [await asWorker(), await asOrchestrator()];
    const digest = digestIn(await worker.ask(statusOf(`before ${message}`)));
    const receipt = await orchestrator.ask(correctionOf(digest, message));
    expect(receipt).toMatchObject({ verdict: "ALLOW" });
    const id = receipt["correction_id"] as string;
    const answer = acked ? await worker.ask(ackOf(id, digest)) : receipt;
    expect(answer["stage"]).toBe(acked ? "ACKED" : "ADMITTED");
    return id;
  }

  const segment = (): string => join(directory.path, "log", "00000000.jsonl");
  const linesOf = (path: string): string[] => readFileSync(path, "utf8").split("\n").slice(0, -1);
  const batchesIn = (lines: readonly string[]): number[] =>
    lines.flatMap((line, at) => (line.startsWith('{"batch":') ? [at] : []));

  it("G03: refuses a log whose newest records were cut off, by the head that is kept outside", async () => {
    await start();
    await correct("stay in lane", true);
    const { lines: held } = await wholeLog(await asAuditor());
    await broker.stop();

    const whole = linesOf(segment());
    const size = whole.filter((line) => line.startsWith('{"at":')).length;
    const [cutAt = 0] = batchesIn(whole).slice(-3);
    const cut = whole.slice(0, cutAt + 1);
    const left = cut.filter((line) => line.startsWith('{"at":'));
    writeFileSync(segment(), `${cut.join("\n")}\n`);
    // By itself what is left checks in every line, and the auditor's own copy goes beyond it.
    const { batch } = JSON.parse(cut.at(-1) ?? "") as { batch: { size: number; root: string } };
    expect(batch).toMatchObject({ size: left.length, root: rootOf(left) });
    expect(rootOf(held.slice(0, left.length))).toBe(batch.root);
    expect(left.length).toBeLessThan(held.length);

    const refused = await serveProgram(directory.path, "--head", head).ended;
    expect(refused).toMatchObject({ code: 1, stdout: "" });
    expect(refused.stderr).toContain(`the log is damaged at entry ${left.length}: `);
    expect(refused.stderr).toContain(`the log ends there, but ${size} entries were durable`);
    expect(linesOf(segment())).toEqual(cut);
  });

  it("refuses a log that was cut and went on otherwise, or that lost its head", async () => {
    await start();
    await correct("first");
    await broker.stop();
    const before = join(dirname(directory.path), "before");
    cpSync(directory.path, before, { recursive: true });
    cpSync(head, join(before, "head"));
    broker = await Serve.start(directory.path, "--head", head);
    await correct("second");
    await broker.stop();

    // An older copy that another history was written to, as long as the one that was lost.
    broker = await Serve.start(before);
    const other = await Wire.hello(broker.url, tokens.worker, { role: "worker", worker_id: "W1" });
    for (let n = 0; n < 10; n += 1) await other.ask(statusOf(`forged ${n}`));
    await broker.stop();
    const refused = await serveProgram(before, "--head", head).ended;
    expect(refused).toMatchObject({ code: 1, stdout: "" });
    expect(refused.stderr).toMatch(/the log is damaged at entry 0: the head knows another log/);

    rmSync(head);
    const headless = await serveProgram(directory.path, "--head", head).ended;
    expect(headless).toMatchObject({ code: 1, stdout: "" });
    expect(headless.stderr).toMatch(/the head file .* is missing/);
  });

  it("G05: keeps the witness log whole at any level of the broker's own logging", async () => {
    await start("--log-level", "silent");
    const id = await correct("stay in lane", true);
    const { lines } = await wholeLog(await asAuditor());
    const kinds = lines.map((line) => JSON.parse(line) as Record<string, unknown>);
    const story = kinds.filter(({ correction_id }) => correction_id === id).map(({ kind }) => kind);
    expect(story).toEqual(["admitted", "delivered", "acked"]);
    expect((await broker.stop()).stderr).toBe("");
  });

  it("G06: cuts a torn tail at the next start, records it, and goes on without losing what was admitted", async () => {
    await start();
    const id = await correct("stay in lane");
    const before = await wholeLog(await asAuditor());
    await broker.kill();
    // An append that died: two entries of a batch, the second broken off, no line that ends the batch.
    const [entry = ""] = before.lines.slice(-1);
    const torn = `${entry}\n${entry.slice(0, 40)}`;
    appendFileSync(segment(), torn);

    broker = await Serve.start(directory.path, "--head", head);
    const orchestrator = await asOrchestrator();
    expect(await orchestrator.ask({ type: "stage", correction_id: id })).toMatchObject({ stage: "ADMITTED" });
    const after = await wholeLog(await asAuditor());
    expect(after.lines.slice(0, before.lines.length)).toEqual(before.lines);
    const next = JSON.parse(after.lines[before.lines.length] ?? "") as Record<string, unknown>;
    const [file = ""] = readdirSync(join(directory.path, "log")).filter((name) => name.endsWith(".torn"));
    expect(next).toMatchObject({ kind: "broker_started", torn: { file, bytes: torn.length } });
    expect(readFileSync(join(directory.path, "log", file), "utf8")).toBe(torn);

    await correct("after the crash", true);
    await broker.stop();
    const lines = linesOf(segment());
    const entries: string[] = [];
    for (const line of lines) {
      if (line.startsWith('{"at":')) entries.push(line);
      if (!line.startsWith('{"batch":')) continue;
      const { batch } = JSON.parse(line) as { batch: { size: number; root: string } };
      expect(batch).toMatchObject({ size: entries.length, root: rootOf(entries) });
    }
    expect(entries.slice(0, after.lines.length)).toEqual(after.lines);
    expect(entries.map((line) => (JSON.parse(line) as { index: number }).index)).toEqual(entries.map((_, at) => at));
  });
});

interface Opened {
  index: number;
  field: string;
  salt: string;
  utf8: string;
}

/** Every line of the log as an auditor is given it, with the texts that it may read. */
async function wholeLog(auditor: Wire): Promise<{ lines: string[]; texts: Opened[] }> {
  const lines: string[] = [];
  const texts: Opened[] = [];
  for (;;) {
    const page = await auditor.ask({ type: "log", after: lines.length });
    const more = page["entries"] as string[];
    if (more.length === 0) break;
    lines.push(...more);
    texts.push(...((page["texts"] ?? []) as Opened[]));
  }
  auditor.drop();
  return { lines, texts };
}
