import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { Backoff } from "../../../src/client/backoff.js";
import { A2achanError, ERROR_CODES } from "../../../src/client/errors.js";
import { openOrchestrator, type Orchestrator } from "../../../src/client/orchestrator.js";
import { openWorker } from "../../../src/client/worker.js";
import { isRefused } from "../../../src/client/refusals.js";
import { rowOf, viewFrame } from "../../support/client-frames.js";
import { FIRST_RETRY_MS, ScriptedBroker, stillRuntime, type Script } from "../../support/scripted-broker.js";

let broker: ScriptedBroker;
let runtime: ReturnType<typeof stillRuntime>;
let client: Orchestrator | undefined;

beforeEach(async () => {
  broker = await ScriptedBroker.start();
  runtime = stillRuntime();
});

afterEach(async () => {
  await client?.close();
  client = undefined;
  await broker.stop();
});

const TOKEN = "a2t_abcdefgh_secret";

/** Opens an orchestrator on the scripted broker. */
async function connect(options: { signal?: AbortSignal; timeoutMs?: number } = {}): Promise<Script> {
  const opening = openOrchestrator({ url: broker.url, token: TOKEN, ...options }, runtime);
  const script = await broker.accept();
  await script.welcome("orchestrator");
  client = await opening;
  return script;
}

/** The next connection of a client that lost one. */
async function reconnected(retryMs = FIRST_RETRY_MS): Promise<Script> {
  await runtime.clock.fire(retryMs);
  return broker.accept();
}

async function codeOf(work: Promise<unknown>): Promise<string> {
  return work.then(
    () => "resolved",
    (error: unknown) => (error instanceof A2achanError ? error.code : String(error)),
  );
}

describe("a first connection", () => {
  it("shows its token in the Authorization header and says hello first", async () => {
    const opening = openOrchestrator({ url: broker.url, token: TOKEN }, runtime);
    const script = await broker.accept();
    const hello = await script.welcome("orchestrator");
    client = await opening;
    expect(script.authorization).toBe("Bearer a2t_abcdefgh_secret");
    expect(hello).toEqual({ type: "hello", id: "hello", role: "orchestrator", client: "a2achan-sdk" });
  });

  it("fails as unauthenticated on HTTP 401", async () => {
    await broker.stop();
    broker = await ScriptedBroker.start(401);
    expect(await codeOf(openOrchestrator({ url: broker.url, token: TOKEN }, runtime))).toBe("unauthenticated");
  });

  it("fails as unreachable on another HTTP status, and names it", async () => {
    await broker.stop();
    broker = await ScriptedBroker.start(404);
    const opening = openOrchestrator({ url: broker.url, token: TOKEN }, runtime);
    await expect(opening).rejects.toMatchObject({
      code: "unreachable",
      message: "The broker answered HTTP 404 instead of opening a WebSocket; check the URL (it ends in /v1).",
    });
  });

  it("fails as unreachable where nobody listens", async () => {
    const { url } = broker;
    await broker.stop();
    expect(await codeOf(openOrchestrator({ url, token: TOKEN }, runtime))).toBe("unreachable");
    broker = await ScriptedBroker.start();
  });

  it("refuses a token with a line end before it is sent", async () => {
    expect(await codeOf(openOrchestrator({ url: broker.url, token: `${TOKEN}\n` }, runtime))).toBe("unauthenticated");
  });

  it("refuses a URL that is none of a WebSocket", async () => {
    expect(await codeOf(openOrchestrator({ url: "nowhere", token: TOKEN }, runtime))).toBe("unreachable");
  });

  it("fails as unreachable when the broker does not welcome it within 10 s", async () => {
    const opening = openOrchestrator({ url: broker.url, token: TOKEN }, runtime);
    const script = await broker.accept();
    await script.next();
    runtime.clock.advance(10_000);
    expect(await codeOf(opening)).toBe("unreachable");
  });

  it("fails as unreachable when the broker drains", async () => {
    const opening = openOrchestrator({ url: broker.url, token: TOKEN }, runtime);
    (await broker.accept()).close(4503, "draining");
    expect(await codeOf(opening)).toBe("unreachable");
  });

  it("says which option of hello was refused", async () => {
    const opening = openOrchestrator({ url: broker.url, token: TOKEN }, runtime);
    const script = await broker.accept();
    const { id } = await script.next();
    script.send({ type: "refusal", id, reason: "MALFORMED", detail: "SHAPE", path: "lease_ms" });
    script.close(4400, "bad frame");
    await expect(opening).rejects.toMatchObject({
      code: "bad_frame",
      message: "The broker refused hello (MALFORMED/SHAPE at lease_ms); correct that option.",
    });
  });

  it("refuses a hello that no broker takes, and sends none [A2C-FRM-42]", async () => {
    const opening = openWorker({ url: broker.url, token: TOKEN, workerId: "w".repeat(4_096) }, runtime);
    const script = await broker.accept();
    await expect(opening).rejects.toMatchObject({
      code: "bad_frame",
      message: "The hello is over 4096 bytes, which no broker takes; shorten the worker id.",
    });
    await script.closed;
    expect(script.unread).toEqual([]);
  });

  it("says in 4 KiB the longest hello that the protocol has", async () => {
    const opening = openWorker(
      { url: broker.url, token: "t".repeat(256), workerId: "w".repeat(128), leaseMs: 900_000 },
      runtime,
    );
    const script = await broker.accept();
    const hello = await script.welcome("worker");
    await (await opening).close();
    expect(hello["worker_id"]).toBe("w".repeat(128));
    expect(script.subprotocol).toBe("a2achan.v1.json");
    expect(Buffer.byteLength(JSON.stringify(hello))).toBeLessThan(600);
  });

  it("is given up with aborted", async () => {
    const controller = new AbortController();
    const opening = openOrchestrator({ url: broker.url, token: TOKEN, signal: controller.signal }, runtime);
    await broker.accept();
    controller.abort();
    expect(await codeOf(opening)).toBe("aborted");
  });

  it("is not begun under a signal that has fired", async () => {
    const signal = AbortSignal.abort();
    expect(await codeOf(openOrchestrator({ url: broker.url, token: TOKEN, signal }, runtime))).toBe("aborted");
  });
});

describe("a connection", () => {
  it.each([
    [4400, "bad_frame"],
    [4401, "unauthenticated"],
    [4403, "role_not_granted"],
    [4409, "fenced"],
  ])("ends for good with close %i as %s [A2C-FRM-37]", async (code, expected) => {
    const script = await connect();
    const call = codeOf(client!.list());
    await script.next();
    script.close(code);
    expect(await call).toBe(expected);
    expect(await codeOf(client!.list())).toBe(expected);
    expect(runtime.clock.pending).toBe(0);
  });

  it.each([1000, 1009, 4408, 4429, 4430, 4500, 4503])("is made again after close %i [A2C-FRM-38]", async (code) => {
    const script = await connect();
    script.close(code);
    const again = await reconnected();
    await again.welcome("orchestrator");
    const call = client!.get("w-1");
    const { id } = await again.next();
    again.send({ type: "row", id });
    expect(await call).toBeUndefined();
  });

  it("waits longer after each attempt that fails", async () => {
    const script = await connect();
    script.drop();
    (await reconnected(125)).drop();
    (await reconnected(250)).drop();
    (await reconnected(500)).drop();
    const hello = await (await reconnected(1_000)).welcome("orchestrator");
    expect(hello).toMatchObject({ type: "hello" });
  });

  it("sends what was unanswered again, byte for byte and in order", async () => {
    const script = await connect();
    const calls = [client!.get("w-1"), client!.list({ lane: "src" }), client!.get("w-2")];
    const sent = [await script.next(), await script.next(), await script.next()];
    script.send({ type: "row", id: sent[0]!["id"] });
    await calls[0];
    script.drop();
    const again = await reconnected();
    await again.welcome("orchestrator");
    const resent = [await again.next(), await again.next()];
    expect(resent).toEqual(sent.slice(1));
    again.send({ type: "rows", id: resent[0]!["id"], rows: [] });
    again.send({ type: "row", id: resent[1]!["id"], ...viewFrame() });
    expect(await Promise.all(calls)).toEqual([undefined, { rows: [] }, viewFrame()]);
  });

  it("keeps a call that is made while there is no connection", async () => {
    const script = await connect();
    script.drop();
    await runtime.clock.armed(FIRST_RETRY_MS);
    const call = client!.get("w-1");
    runtime.clock.advance(FIRST_RETRY_MS);
    const again = await broker.accept();
    await again.welcome("orchestrator");
    const { id } = await again.next();
    again.send({ type: "row", id });
    expect(await call).toBeUndefined();
  });

  it.each([
    ["no JSON", "{"],
    ["a duplicate key", `{"type":"pong","type":"pong","id":"r1"}`],
    ["an unknown type", `{"type":"surprise","id":"r1"}`],
    ["an unknown push", `{"type":"surprise"}`],
    ["an unknown field", `{"type":"ok","id":"r1","claimed":true}`],
    ["a fraction", `{"type":"ok","id":"r1","rev":1.5}`],
    ["a reply of another type than was asked for", `{"type":"ok","id":"r1"}`],
  ])("is made anew after %s, and the call goes on", async (_what, text) => {
    const script = await connect();
    const call = client!.get("w-1");
    await script.next();
    script.raw(text);
    const again = await reconnected();
    await again.welcome("orchestrator");
    const { id } = await again.next();
    again.send({ type: "row", id });
    expect(await call).toBeUndefined();
  });

  it("is made anew after a binary message", async () => {
    const script = await connect();
    script.raw(Buffer.from(`{"type":"ok","id":"r1"}`), true);
    expect(await (await reconnected()).welcome("orchestrator")).toMatchObject({ type: "hello" });
  });

  it("names the last trouble as the cause of a timeout", async () => {
    const script = await connect({ timeoutMs: 7_000 });
    script.raw("{");
    await runtime.clock.armed(FIRST_RETRY_MS);
    const call = client!.get("w-1");
    await runtime.clock.armed(7_000);
    runtime.clock.advance(FIRST_RETRY_MS);
    await broker.accept();
    runtime.clock.advance(7_000);
    await expect(call).rejects.toMatchObject({ code: "timeout", cause: { code: "protocol" } });
  });

  it("is made anew when the broker is silent for two ping intervals and 5 s", async () => {
    const script = await connect();
    await script.ping();
    runtime.clock.advance(34_000);
    await script.ping();
    runtime.clock.advance(34_000);
    await script.ping();
    runtime.clock.advance(35_000);
    expect(await (await reconnected()).welcome("orchestrator")).toMatchObject({ type: "hello" });
  });

  it("asks a broker that it hears nothing of for a pong, and is made anew only when none comes", async () => {
    const script = await connect();
    script.answersPings = false;
    runtime.clock.advance(19_999);
    await script.ping();
    expect(script.unread).toEqual([]);
    runtime.clock.advance(20_000);
    expect(await script.next()).toEqual({ type: "ping", id: "ping" });
    runtime.clock.advance(14_999);
    script.send({ type: "pong", id: "ping" });
    await script.ping();
    runtime.clock.advance(20_000);
    expect(await script.next()).toEqual({ type: "ping", id: "ping" });
    runtime.clock.advance(15_000);
    expect(await (await reconnected()).welcome("orchestrator")).toMatchObject({ type: "hello" });
  });

  it("is kept when its timers run minutes late and the pong has come meanwhile", async () => {
    const script = await connect();
    script.answersPings = false;
    runtime.clock.advance(20_000);
    expect(await script.next()).toEqual({ type: "ping", id: "ping" });
    script.send({ type: "pong", id: "ping" });
    await script.ping();
    runtime.clock.freeze(300_000);
    runtime.clock.advance(0);
    expect(await script.next()).toEqual({ type: "ping", id: "ping" });
  });

  it("goes by the ping interval and the frame budget that the welcome names", async () => {
    const opening = openOrchestrator({ url: broker.url, token: TOKEN }, runtime);
    const script = await broker.accept();
    await script.welcome("orchestrator", { limits: { ping_ms: 1_000, frames_per_second: 20, frames_burst: 5 } });
    client = await opening;
    const calls = Array.from({ length: 6 }, () => client!.get("w-1"));
    for (let n = 0; n < 4; n += 1) script.send({ type: "row", id: (await script.next())["id"] });
    await Promise.all(calls.slice(0, 4));
    expect(script.unread).toEqual([]);
    runtime.clock.advance(62.5);
    script.send({ type: "row", id: (await script.next())["id"] });
    await calls[4];
    expect(script.unread).toEqual([]);
    runtime.clock.advance(7_000);
    const again = await reconnected(125);
    await again.welcome("orchestrator");
    again.send({ type: "row", id: (await again.next())["id"] });
    expect(await calls[5]).toBeUndefined();
  });

  it("fails a call with timeout after 30 s and drops its late answer", async () => {
    const script = await connect();
    const call = codeOf(client!.get("w-1"));
    const late = await script.next();
    await script.ping();
    runtime.clock.advance(30_000);
    expect(await call).toBe("timeout");
    script.send({ type: "row", id: late["id"] });
    const next = client!.get("w-1");
    script.send({ type: "row", id: (await script.next())["id"] });
    expect(await next).toBeUndefined();
  });

  it("fails a call with aborted, and sends none under a signal that has fired", async () => {
    const script = await connect();
    const controller = new AbortController();
    const call = codeOf(client!.get("w-1", { signal: controller.signal }));
    await script.next();
    controller.abort();
    expect(await call).toBe("aborted");
    expect(await codeOf(client!.get("w-2", { signal: AbortSignal.abort() }))).toBe("aborted");
    const next = client!.get("w-3");
    const frame = await script.next();
    expect(frame).toEqual({ type: "get", id: "r2", worker_id: "w-3" });
    script.send({ type: "row", id: frame["id"] });
    await next;
  });

  it("ends with aborted when the client's own signal fires", async () => {
    const controller = new AbortController();
    const script = await connect({ signal: controller.signal });
    const call = codeOf(client!.get("w-1"));
    await script.next();
    controller.abort();
    expect(await call).toBe("aborted");
    expect(await script.closed).toBe(1000);
  });

  it("fails what waits with closed when it is closed, and says goodbye", async () => {
    const script = await connect();
    const call = codeOf(client!.get("w-1"));
    await script.next();
    await client!.close();
    expect(await call).toBe("closed");
    expect(await script.closed).toBe(1000);
    expect(runtime.clock.pending).toBe(0);
  });

  it("is closed while it waits to be made again", async () => {
    const script = await connect();
    script.drop();
    await runtime.clock.armed(FIRST_RETRY_MS);
    await client!.close();
    expect(runtime.clock.pending).toBe(0);
  });

  it("refuses to send a frame that no broker takes", async () => {
    await connect();
    expect(await codeOf(client!.correct(rowOf(), "x".repeat(131_072)))).toBe("bad_frame");
  });

  it("gives a refusal as a value, with advice", async () => {
    const script = await connect();
    const call = client!.list();
    const { id } = await script.next();
    script.send({ type: "refusal", id, reason: "DEFAULT_DENY", detail: "NO_GRANT" });
    const answer = await call;
    expect(isRefused(answer)).toBe(true);
    expect(answer).toEqual({
      refused: true,
      reason: "DEFAULT_DENY",
      detail: "NO_GRANT",
      advice: "The token's grant does not cover this; ask for one that covers this worker, issue and lane.",
    });
  });
});

describe("Backoff", () => {
  it("doubles from 250 ms to 5 s, between half and all of it", () => {
    const low = new Backoff(() => 0);
    const high = new Backoff(() => 1);
    expect(Array.from({ length: 7 }, () => low.next(0))).toEqual([125, 250, 500, 1_000, 2_000, 2_500, 2_500]);
    expect(Array.from({ length: 7 }, () => high.next(0))).toEqual([250, 500, 1_000, 2_000, 4_000, 5_000, 5_000]);
  });

  it("starts over after a connection that stood 5 s, and not before", () => {
    const backoff = new Backoff(() => 0);
    expect([backoff.next(0), backoff.next(0), backoff.next(4_999), backoff.next(5_000)]).toEqual([125, 250, 500, 125]);
  });
});

describe("A2achanError", () => {
  it("has a closed list of codes, each with a sentence", () => {
    expect(ERROR_CODES).toEqual([
      "unauthenticated",
      "role_not_granted",
      "fenced",
      "bad_frame",
      "unreachable",
      "connection_lost",
      "timeout",
      "aborted",
      "closed",
      "protocol",
      "no_status",
      "unknown_outcome",
      "log_forked",
      "unverifiable",
    ]);
    for (const code of ERROR_CODES) expect(new A2achanError(code).message).toMatch(/^[A-Z].*\.$/);
  });
});
