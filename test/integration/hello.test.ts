import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { LIMITS } from "../../src/protocol/index.js";
import { readEntry, Replay } from "../../src/kernel/index.js";
import { newToken } from "../../src/broker/index.js";
import { TestBroker } from "../support/broker.js";
import { publish } from "../support/scenes.js";
import { Wire, type Frame } from "../support/wire.js";

const BAD_FRAME = { code: 4400, reason: "bad frame" };
const UNAUTHENTICATED = { code: 4401, reason: "unauthenticated or revoked" };
const NOT_GRANTED = { code: 4403, reason: "role not granted" };

let broker: TestBroker;
let workerToken: { id: string; token: string };
let orchToken: { id: string; token: string };

beforeEach(async () => {
  broker = await TestBroker.start();
  workerToken = await broker.running.addToken({ role: "worker", subject: "w-1", issue: "**", lane: "**" });
  orchToken = await broker.running.addToken({
    role: "orchestrator",
    subject: "orch",
    worker: "**",
    issue: "**",
    lane: "**",
  });
});
afterEach(() => broker.stop());

const open = (token?: string): Promise<Wire> => broker.open(token);
const asWorker = (): Frame => ({ type: "hello", role: "worker", worker_id: "w-1", token: workerToken.token });
const asOrch = (): Frame => ({ type: "hello", role: "orchestrator", token: orchToken.token });

/** How the connection ends whose first frame is `hello`. */
async function turnedAway(hello: Frame): Promise<unknown> {
  const wire = await open();
  void wire.ask(hello);
  return wire.closed;
}

/** The first entry that the rules do not lead to. */
function differenceIn(log: readonly object[]): unknown {
  const replay = new Replay();
  for (const line of log.map((entry) => JSON.stringify(entry))) replay.take(line, readEntry(line));
  return replay.end();
}

describe("hello", () => {
  it("is answered by a welcome that names principal, protocol, limits and cursor [A2C-FRM-13] [A2C-FRM-14] [A2C-VER-01] [A2C-CUR-01] [A2C-PRV-01]", async () => {
    const wire = await open();
    expect(await wire.ask(asWorker())).toEqual({
      type: "welcome",
      id: "t1",
      protocol: "a2achan/1",
      principal: { role: "worker", subject: "w-1" },
      session: expect.stringMatching(/^s_[0-9a-f]{24}$/),
      limits: LIMITS,
      text_policy: 1,
      cursor: expect.any(String),
      gap: false,
      log: expect.stringMatching(
        /^a2achan\/[0-9a-f]{16}\n[1-9]\d*\n[A-Za-z0-9+/]{43}=\n\n\u2014 a2achan\/[0-9a-f]{16} \S+\n$/,
      ),
    });
  });

  it("is told the limits in force where an operator has changed them [A2C-FRM-14]", async () => {
    const tuned = await TestBroker.start({ limits: { frames_burst: 7 } });
    const { welcome } = await tuned.orchestrator("orch");
    await tuned.stop();
    expect(welcome["limits"]).toEqual({ ...LIMITS, frames_burst: 7 });
  });

  it("takes the token of the upgrade's header, or its own, or the same in both [A2C-AUTH-01]", async () => {
    const { token, ...bare } = asOrch();
    const inHeader = await open(String(token));
    expect(await inHeader.ask({ ...bare, type: "hello" })).toMatchObject({ type: "welcome" });
    const inFrame = await open();
    expect(await inFrame.ask(asOrch())).toMatchObject({ type: "welcome" });
    const inBoth = await open(String(token));
    expect(await inBoth.ask(asOrch())).toMatchObject({ type: "welcome" });
  });

  it("with another token than the header's closes with 4401 [A2C-AUTH-13]", async () => {
    const wire = await open(workerToken.token);
    void wire.ask(asOrch());
    expect(await wire.closed).toEqual(UNAUTHENTICATED);
  });

  it.each([
    ["no token", (): Frame => ({ type: "hello", role: "orchestrator" })],
    ["an unknown token", (): Frame => ({ ...asOrch(), token: newToken().token })],
    ["a token of another form", (): Frame => ({ ...asOrch(), token: "secret" })],
    [
      "a token with its last character changed",
      (): Frame => ({ ...asOrch(), token: orchToken.token.replace(/.$/, "!") }),
    ],
  ])("with %s closes with 4401 [A2C-AUTH-04] [A2C-LIM-05]", async (_what, hello) => {
    const size = broker.running.broker.stats().entries;
    const wire = await open();
    void wire.ask(hello());
    expect(await wire.closed).toEqual(UNAUTHENTICATED);
    expect(broker.running.broker.stats().entries).toBe(size);
  });

  it("by a bad Authorization header is 401 before the 101 [A2C-AUTH-03]", async () => {
    await expect(open(newToken().token)).rejects.toThrow("HTTP 401");
    for (const authorization of ["Bearer", "Basic abc", `Bearer ${orchToken.token} x`]) {
      await expect(broker.open(undefined, { authorization })).rejects.toThrow("HTTP 401");
    }
  });

  it("with the token in query, cookie or subprotocol does not count [A2C-AUTH-02]", async () => {
    await expect(Wire.open(`${broker.url}?token=${orchToken.token}`)).rejects.toThrow("HTTP 404");
    const wire = await broker.open(undefined, { cookie: `token=${orchToken.token}` });
    void wire.ask({ type: "hello", role: "orchestrator" });
    expect(await wire.closed).toEqual(UNAUTHENTICATED);
  });

  it.each([
    [
      "a worker's token as orchestrator",
      (): Frame => ({ type: "hello", role: "orchestrator", token: workerToken.token }),
    ],
    ["an orchestrator's token as auditor", (): Frame => ({ ...asOrch(), role: "auditor" })],
    ["an orchestrator's token as worker", (): Frame => ({ ...asOrch(), role: "worker", worker_id: "orch" })],
    ["the worker_id of another", (): Frame => ({ ...asWorker(), worker_id: "w-2" })],
  ])("for a role or worker that the token lacks closes with 4403: %s [A2C-FRM-12]", async (_what, hello) => {
    expect(await turnedAway(hello())).toEqual(NOT_GRANTED);
  });

  it("for a role or worker that the token lacks is in the log, and is decided again as it was [A2C-LIM-10] [A2C-LIM-01]", async () => {
    await turnedAway({ type: "hello", role: "orchestrator", token: workerToken.token });
    await turnedAway({ ...asOrch(), role: "worker", worker_id: "orch" });
    await turnedAway({ ...asWorker(), worker_id: "w-2" });
    const log = await broker.entries();
    const refused = { kind: "refused", verb: "hello", reason: "DEFAULT_DENY", detail: "NO_GRANT" };
    const [byWorker, byOrch] = [
      { role: "worker", subject: "w-1", token: workerToken.id },
      { role: "orchestrator", subject: "orch", token: orchToken.id },
    ];
    const place = { at: expect.any(Number) as number, index: expect.any(Number) as number };
    expect(log.filter(({ kind }) => kind === "refused")).toEqual([
      { ...refused, ...place, by: byWorker, role: "orchestrator" },
      { ...refused, ...place, by: byOrch, role: "worker", worker_id: "orch" },
      { ...refused, ...place, by: byWorker, role: "worker", worker_id: "w-2" },
    ]);
    expect(differenceIn(log)).toBeUndefined();
    // Of a broker that says it refused what the token grants.
    const { index } = log.find(({ role }) => role === "orchestrator") as { index: number };
    expect(differenceIn(log.with(index, { ...log[index], role: "worker", worker_id: "w-1" }))).toMatchObject({ index });
  });

  it("for a role that the token lacks is counted past the bucket, on the token's own account [A2C-LIM-10]", async () => {
    await broker.stop();
    broker = await TestBroker.start({ limits: { refusal_burst: 1 } });
    const { token } = await broker.running.addToken({ role: "worker", subject: "w-1", issue: "**", lane: "**" });
    const claim = { type: "hello", role: "auditor", token };
    for (let n = 0; n < 3; n += 1) expect(await turnedAway(claim)).toEqual(NOT_GRANTED);
    broker.clock.advance(20_000);
    const log = await broker.entries();
    expect(log.filter(({ kind }) => kind === "refused")).toHaveLength(1);
    const folded = { role: "worker", subject: "w-1", counts: { DEFAULT_DENY: 2 } };
    expect(log.filter(({ kind }) => kind === "refusals_folded")).toMatchObject([folded]);
    expect(differenceIn(log)).toBeUndefined();
  });

  it("takes an operator's token as orchestrator and auditor, never as worker [A2C-AUTH-11]", async () => {
    const operator = newToken();
    await broker.running.adoptOperator(operator);
    for (const role of ["orchestrator", "auditor"]) {
      const welcome = await (await open()).ask({ type: "hello", role, token: operator.token });
      expect(welcome).toMatchObject({ type: "welcome", principal: { role, subject: "operator" } });
    }
    const claim = { type: "hello", role: "worker", worker_id: "operator", token: operator.token };
    expect(await turnedAway(claim)).toEqual(NOT_GRANTED);
    const [refused] = (await broker.entries()).filter(({ kind }) => kind === "refused");
    expect(refused).toMatchObject({ by: { role: "operator", subject: "operator" }, role: "worker" });
    expect((await broker.entries()).some(({ kind }) => kind === "session_opened")).toBe(false);
  });
});

describe("hello of a worker whose token may not publish", () => {
  it("closes with 4403, opens no session and fences none [A2C-FRM-12]", async () => {
    const { broker: inner } = broker.running;
    const current = await broker.worker("w-1", {}, workerToken.token);
    const patterns = { worker: "w-1", issue: "**", lane: "**" };
    const { token } = await inner.addToken({ role: "worker", subject: "w-1", verbs: ["receive"], patterns });
    const wire = await open();
    void wire.ask({ ...asWorker(), token });
    expect(await wire.closed).toEqual(NOT_GRANTED);
    await current.barrier();
    expect(await publish(current)).toMatch(/^sha256:/);
    expect(inner.stats().sessions).toBe(1);
  });
});

describe("a first frame", () => {
  it("that does not come closes with 4408 after 5 s, with a verified header too [A2C-FRM-08]", async () => {
    const wires = [await open(), await open(orchToken.token)];
    const welcomed = await broker.orchestrator("other");
    broker.clock.advance(4_999);
    await welcomed.barrier();
    expect(broker.running.broker.stats().connections).toBe(3);
    broker.clock.advance(1);
    for (const wire of wires) expect(await wire.closed).toEqual({ code: 4408, reason: "hello timeout" });
    await welcomed.barrier();
  });

  it.each([
    ["another request", `{"type":"ping","id":"1"}`],
    ["a malformed other request", `{"type":"ping","id":"1","x":1}`],
    ["no request", `{"type":"welcome","id":"1"}`],
    ["no JSON", "hello"],
    ["nothing", ""],
  ])("that is no hello closes with 4400: %s [A2C-FRM-09]", async (_what, text) => {
    const wire = await open(orchToken.token);
    wire.raw(text);
    expect(await wire.closed).toEqual(BAD_FRAME);
    expect(wire.pushes).toEqual([]);
  });

  it("of more than 4,096 bytes closes with 4400, one of 4,096 does not [A2C-FRM-42]", async () => {
    const padded = (bytes: number): string => {
      const text = JSON.stringify({ ...asOrch(), id: "t1" });
      return text.replace("{", `{${" ".repeat(bytes - text.length)}`);
    };
    const small = await open();
    small.raw(padded(4_096));
    expect(await small.push(({ type }) => type === "welcome")).toMatchObject({ id: "t1" });
    const large = await open();
    large.raw(padded(4_097));
    expect(await large.closed).toEqual(BAD_FRAME);
  });

  it.each<[string, object, object]>([
    ["an unknown field", { scope: "all" }, {}],
    ["a bad id", { worker_id: "a b" }, { detail: "ID", path: "worker_id" }],
    ["no worker_id", { worker_id: undefined }, { path: "worker_id" }],
    ["a field of an orchestrator", { resume_from: "a.1" }, { path: "resume_from" }],
    ["a lease below 45 s", { lease_ms: 44_999 }, { path: "lease_ms" }],
    ["a lease above 15 min", { lease_ms: 900_001 }, { path: "lease_ms" }],
  ])(
    "that is a malformed hello is refused, then closed with 4400: %s [A2C-FRM-11] [A2C-FRM-41] [A2C-LIVE-01]",
    async (_what, fields, refusal) => {
      const wire = await open();
      const reply = await wire.ask({ ...asWorker(), ...fields });
      expect(reply).toEqual({ type: "refusal", id: "t1", reason: "MALFORMED", detail: "SHAPE", ...refusal });
      expect(await wire.closed).toEqual(BAD_FRAME);
    },
  );

  it.each(["worker_id", "lease_ms", "inbox"])("of an orchestrator with %s is malformed [A2C-FRM-41]", async (path) => {
    const values: Record<string, unknown> = { worker_id: "w-1", lease_ms: 60_000, inbox: true };
    const wire = await open();
    const reply = await wire.ask({ ...asOrch(), [path]: values[path] });
    expect(reply).toMatchObject({ type: "refusal", reason: "MALFORMED", detail: "SHAPE", path });
    expect(await wire.closed).toEqual(BAD_FRAME);
  });

  it.each<[string, object]>([
    ["the same again", {}],
    ["a malformed one", { scope: "all" }],
  ])("that is a second hello closes with 4400: %s [A2C-FRM-10]", async (_what, fields) => {
    const wire = await open();
    await wire.ask(asOrch());
    void wire.ask({ ...asOrch(), ...fields });
    expect(await wire.closed).toEqual(BAD_FRAME);
  });
});

describe("a token", () => {
  it("that is revoked closes its live sessions with 4401, and opens none any more [A2C-AUTH-10] [A2C-AUTH-09]", async () => {
    const wires = [await open(), await open(orchToken.token)];
    for (const wire of wires) await wire.ask(asOrch());
    const worker = await open();
    await worker.ask(asWorker());
    await publish(worker);
    expect(await broker.running.broker.revokeToken(orchToken.id)).toBe(true);
    for (const wire of wires) expect(await wire.closed).toEqual(UNAUTHENTICATED);
    await expect(open(orchToken.token)).rejects.toThrow("HTTP 401");
    const late = await open();
    void late.ask(asOrch());
    expect(await late.closed).toEqual(UNAUTHENTICATED);
    await worker.barrier();
    expect(await broker.running.broker.revokeToken(orchToken.id)).toBe(false);
    expect((await broker.entries()).filter(({ kind }) => kind === "grant_revoked")).toHaveLength(1);
  });

  it("that expires closes its live sessions with 4401 at that time [A2C-AUTH-14] [A2C-AUTH-08]", async () => {
    const { token } = await broker.running.addToken({
      role: "orchestrator",
      subject: "guest",
      worker: "**",
      issue: "**",
      lane: "**",
      expiresInMs: 10_000,
    });
    const wire = await open();
    await wire.ask({ ...asOrch(), token });
    await broker.advance(9_999, wire);
    broker.clock.advance(1);
    expect(await wire.closed).toEqual(UNAUTHENTICATED);
    await expect(open(token)).rejects.toThrow("HTTP 401");
    const late = await open();
    void late.ask({ ...asOrch(), token });
    expect(await late.closed).toEqual(UNAUTHENTICATED);
  });
});
