import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { A2achanError, type WorkerStatus } from "../../../src/client/index.js";
import { Scene, ackOf, correctionOf, delivered, statusOf } from "./support/scene.js";

let scene: Scene;

beforeEach(async () => {
  scene = await Scene.open();
});

afterEach(() => scene.close());

const oversize = (bytes: number, max_bytes: number): object => ({ reason: "OVERSIZE", bytes, max_bytes });

describe("a text that is too long", () => {
  it("O01: refuses and logs 1,025 bytes with their size, delivers 1,024 as they are, and cuts nothing", async () => {
    const { worker, orchestrator, digest } = scene;
    const refused = await orchestrator.ask(correctionOf(digest, "x".repeat(1_025)));
    expect(refused).toMatchObject({ verdict: "DENY", ...oversize(1_025, 1_024) });
    // Bytes count, not characters: 1,023 and one of two; 1,022 and one of four, which JSON may write as 12.
    expect(await orchestrator.ask(correctionOf(digest, `${"x".repeat(1_023)}é`))).toMatchObject(oversize(1_025, 1_024));
    expect(await orchestrator.ask(correctionOf(digest, `${"x".repeat(1_022)}😀`))).toMatchObject(
      oversize(1_026, 1_024),
    );
    expect(await orchestrator.ask(correctionOf(digest, "xxxxx", { max_bytes: 4 }))).toMatchObject(oversize(5, 4));
    const wider = correctionOf(digest, "x".repeat(1_025), { max_bytes: 2_000 });
    expect(await orchestrator.ask(wider)).toMatchObject(oversize(1_025, 1_024));

    const whole = ["y".repeat(1_024), "é".repeat(512), "😀".repeat(256)];
    for (const text of whole) await scene.admit(text);
    expect((await delivered(worker)).map(({ message }) => message)).toEqual(whole);
    const logged = (await scene.logged("refused")).map(({ index, reason, bytes }) => [index, reason, bytes]);
    expect(logged.slice(0, 3)).toEqual([
      [refused["index"], "OVERSIZE", 1_025],
      [expect.any(Number), "OVERSIZE", 1_025],
      [expect.any(Number), "OVERSIZE", 1_026],
    ]);
  });

  it("O03: closes only the connection that sent 300 kB, with 1009, and answers up to 60,000 bytes with a receipt", async () => {
    const { broker, worker, orchestrator, digest } = scene;
    const second = await broker.orchestrator("O1");
    second.raw(JSON.stringify({ ...correctionOf(digest, "q".repeat(300_000)), id: "1" }));
    expect(await second.closed).toMatchObject({ code: 1009 });
    expect(await worker.ask(statusOf("plan A"))).toMatchObject({ type: "row", changed: false });
    for (const bytes of [1_025, 60_000]) {
      const receipt = await orchestrator.ask(correctionOf(digest, "q".repeat(bytes)));
      expect(receipt).toMatchObject({
        verdict: "DENY",
        ...oversize(bytes, 1_024),
        index: expect.any(Number) as number,
      });
    }
    expect((await scene.logged("refused")).map(({ bytes }) => bytes)).toEqual([1_025, 60_000]);
    await scene.admit("ok");
    expect(await delivered(worker)).toMatchObject([{ message: "ok" }]);
  });

  it("fails the SDK's call and not its connection, and says so of every text that a client can send", async () => {
    const { worker, digest } = scene;
    const orchestrator = await scene.sdkOrchestrator();
    const { row } = (await scene.view()) as unknown as { row: WorkerStatus };
    const failed = await orchestrator.correct(row, "q".repeat(300_000)).catch((error: unknown) => error);
    expect(failed).toBeInstanceOf(A2achanError);
    expect(failed).toMatchObject({ code: "bad_frame" });
    const long = await orchestrator.correct(row, "q".repeat(60_000));
    expect(long).toMatchObject({ verdict: "DENY", sent: false, ...oversize(60_000, 1_024) });
    expect(await orchestrator.correct(row, "short")).toMatchObject({ verdict: "ALLOW" });

    const [{ correction_id: id }] = (await delivered(worker)) as [{ correction_id: string }];
    const most = { last_action: "é".repeat(256), next_action: { summary: "s".repeat(512), reflects: [] } };
    const more = { last_action: `${most.last_action}x`, next_action: { summary: "s".repeat(513) } };
    expect(await worker.ask(statusOf(more.last_action))).toMatchObject(oversize(513, 512));
    const plan = { next_action: more.next_action };
    expect(await worker.ask(statusOf("plan A", plan))).toMatchObject({
      ...oversize(513, 512),
      path: "next_action.summary",
    });
    expect(await worker.ask(ackOf(id, digest, plan))).toMatchObject(oversize(513, 512));
    const decline = { type: "decline", correction_id: id, status_digest: digest, reason: "r".repeat(257) };
    expect(await worker.ask(decline)).toMatchObject(oversize(257, 256));
    expect(await scene.view()).toMatchObject({ status_digest: digest, pending: 1 });
    expect(await worker.ask(statusOf(most.last_action, most))).toMatchObject({ type: "row", row: most });
  });
});

describe("law: a correction is admitted whole, or refused with its size", () => {
  it("at any length round the limit, in characters of any width", async () => {
    const { broker, orchestrator, worker, digest } = scene;
    const char = fc.constantFrom("x", "é", "漢", "😀");
    const text = fc.record({ char, bytes: fc.integer({ min: 1_000, max: 1_050 }), pad: fc.nat({ max: 3 }) });
    const narrow = fc.oneof(fc.constant(undefined), fc.integer({ min: 1_000, max: 1_100 }));
    let attempt = 0;
    await fc.assert(
      fc.asyncProperty(text, narrow, async ({ char: one, bytes, pad }, max_bytes) => {
        await broker.advance(100, orchestrator, worker);
        const message = "z".repeat(pad) + one.repeat(Math.floor(bytes / new TextEncoder().encode(one).length));
        const size = new TextEncoder().encode(message).length;
        const most = Math.min(max_bytes ?? 1_024, 1_024);
        const key = `k${(attempt += 1)}`;
        const receipt = await orchestrator.ask(correctionOf(digest, message, { key, max_bytes, ttl_ms: 50 }));
        const got = (await delivered(worker)).map((sent) => sent["message"]);
        expect(receipt["bytes"]).toBe(size);
        const { verdict, reason, max_bytes: applied } = receipt;
        const refused = ["DENY", "OVERSIZE", most, []];
        const admitted = ["ALLOW", undefined, undefined, [message]];
        expect([verdict, reason, applied, got]).toEqual(size > most ? refused : admitted);
      }),
      { numRuns: 80 },
    );
  });
});
