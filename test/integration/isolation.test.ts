import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Peer } from "../../src/broker/index.js";
import { parseRequest } from "../../src/protocol/index.js";
import { TestBroker } from "../support/broker.js";
import { LocalBroker, LocalClient, turn, until } from "../support/local.js";
import { admit, correctionOf, publish } from "../support/scenes.js";
import type { Frame, Wire } from "../support/wire.js";

const BAD_FRAME = { code: 4400, reason: "bad frame" };

let broker: TestBroker;
let bystander: Wire;

beforeEach(async () => {
  broker = await TestBroker.start({ limits: { frames_per_second: 1e6, frames_burst: 1e6 } });
  bystander = await broker.orchestrator("bystander");
});
afterEach(() => broker.stop());

/** The bystander's session still works. */
async function expectUnhurt(): Promise<void> {
  expect(await bystander.ask({ type: "list" })).toMatchObject({ type: "rows" });
}

const deep = (containers: number): string => `${'{"a":'.repeat(containers)}1${"}".repeat(containers)}`;

describe("a frame that cannot be trusted to be a request", () => {
  it.each<[string, string | Uint8Array, boolean?]>([
    ["no JSON", "hello"],
    ["nothing at all", ""],
    ["two values", `{"type":"ping","id":"1"}{}`],
    ["an array", `[{"type":"ping","id":"1"}]`],
    ["a string", `"ping"`],
    ["a repeated key", `{"type":"ping","id":"1","id":"2"}`],
    ["a key of another form", `{"type":"ping","id":"1","Key":1}`],
    ["__proto__", `{"type":"ping","id":"1","__proto__":{}}`],
    ["more than 8 containers deep", `{"type":"ping","id":"1","x":${deep(8)}}`],
    ["more than 4,096 values", `{"type":"ping","id":"1","x":[${Array(4_096).fill(1).join()}]}`],
    ["a binary message", `{"type":"ping","id":"1"}`, true],
    ["an unknown type", `{"type":"pang","id":"1"}`],
    ["the type of a reply", `{"type":"pong","id":"1"}`],
    ["no type", `{"id":"1"}`],
    ["no id", `{"type":"ping"}`],
    ["an id that is a number", `{"type":"ping","id":1}`],
    ["an id of 65 characters", `{"type":"ping","id":"${"x".repeat(65)}"}`],
    ["an id that is not printable", `{"type":"ping","id":"\\u0007"}`],
    ["JSON with a comment", `{"type":"ping","id":"1"/**/}`],
  ])("closes its own session with 4400 and no other: %s [A2C-FRM-34] [A2C-LIM-09]", async (_what, data, binary) => {
    const wire = await broker.orchestrator("careless");
    wire.raw(data, binary);
    expect(await wire.closed).toEqual(BAD_FRAME);
    await expectUnhurt();
  });

  it("closes with WebSocket's own 1009 where it has more than 131,072 bytes [A2C-FRM-35] [A2C-LIM-09]", async () => {
    const large = await broker.orchestrator("large");
    const padding = " ".repeat(131_072 - 24);
    large.raw(`{"type":"ping","id":"1"}${padding}`);
    expect(await large.push(({ type }) => type === "pong")).toMatchObject({ id: "1" });
    large.raw(`{"type":"ping","id":"1"}${padding} `);
    expect((await large.closed).code).toBe(1009);
    await expectUnhurt();
  });

  it("that is not UTF-8 closes its own session only [A2C-FRM-34]", async () => {
    const wire = await broker.orchestrator("careless");
    wire.raw(new Uint8Array([0x7b, 0xff, 0x7d]));
    expect(await wire.closed).toEqual(BAD_FRAME);
    await expectUnhurt();
  });

  it("closes nobody where only a value is bad: the request is refused [A2C-FRM-30] [A2C-FRM-31] [A2C-FRM-32] [A2C-FRM-33] [A2C-FRM-06]", async () => {
    const wire = await broker.orchestrator("careless");
    const answers = [
      [`{"type":"ping","id":"a","scope":"all"}`, { reason: "MALFORMED", detail: "SHAPE" }],
      [`{"type":"list","id":"b","limit":1.5}`, { reason: "MALFORMED", detail: "SHAPE", path: "limit" }],
      [`{"type":"list","id":"c","limit":1e2}`, { reason: "MALFORMED", detail: "SHAPE", path: "limit" }],
      [`{"type":"list","id":"d","limit":-0}`, { reason: "MALFORMED", detail: "SHAPE", path: "limit" }],
      [`{"type":"list","id":"e","limit":9007199254740993}`, { reason: "MALFORMED", detail: "SHAPE", path: "limit" }],
      [
        `{"type":"get","id":"f","worker_id":"\\ud800"}`,
        { reason: "MALFORMED", detail: "TEXT_ENCODING", path: "worker_id" },
      ],
      [`{"type":"get","id":"g","mine_only":1.5}`, { reason: "MALFORMED", detail: "SHAPE" }],
    ] as const;
    for (const [text, refusal] of answers) {
      wire.raw(text);
      const { id } = JSON.parse(text) as { id: string };
      expect(await wire.push((frame) => frame["id"] === id)).toEqual({ type: "refusal", id, ...refusal });
    }
    await wire.barrier();
  });
});

describe("a peer that breaks its word", () => {
  /** A peer of which one thing throws. */
  const rude = (what: keyof Peer): Peer => {
    const fail = (): never => {
      throw new Error(`${what} is broken`);
    };
    const peer: Peer = { buffered: 0, send: () => {}, drained: () => Promise.resolve(), close: () => {} };
    return Object.defineProperty(peer, what, what === "buffered" ? { get: fail } : { value: fail });
  };

  it.each(["send", "close", "buffered", "drained"] as const)(
    "costs its own session, nobody else's: %s [A2C-LIM-09]",
    async (what) => {
      const { broker: inner } = broker.running;
      const worker = await broker.worker("w-1");
      const { token } = await broker.running.addToken({ role: "worker", subject: "w-2", issue: "**", lane: "**" });
      const watching = await broker.running.addToken({
        role: "orchestrator",
        subject: "rude",
        worker: "**",
        issue: "**",
        lane: "**",
      });
      const say = (frame: Frame) => parseRequest({ ...frame, id: "1" });
      const asWorker = inner.connect(rude(what));
      asWorker.receive(say({ type: "hello", role: "worker", worker_id: "w-2", token }));
      const asOrch = inner.connect(rude(what));
      asOrch.receive(say({ type: "hello", role: "orchestrator", token: watching.token, resume_from: "x.1" }));
      asOrch.receive(say({ type: "watch" }));
      const unknown = inner.connect(rude(what));
      unknown.receive(say({ type: "hello", role: "orchestrator", token: "x", scope: "all" }));
      const digest = await publish(worker);
      await admit(bystander, "w-1", digest, "Keep the names.");
      await inner.revokeToken(watching.id);
      await turn();
      await expectUnhurt();
      expect(inner.running).toBe(true);
      for (const connection of [asWorker, asOrch, unknown]) inner.disconnect(connection);
    },
  );

  it("does not keep a stopping broker from closing the others", async () => {
    const { broker: inner } = broker.running;
    inner.connect(rude("close"));
    const local = new LocalClient(inner);
    await broker.stop();
    expect(local.closedWith?.code).toBe(4503);
    broker = await TestBroker.start();
  });
});

describe("a client that does not read", () => {
  /** Enough rows that their pages fill every buffer between broker and client. */
  async function fleet(): Promise<void> {
    const local = new LocalBroker(broker.running.broker, broker.clock);
    for (let at = 0; at < 100; at += 1) await publish(await local.worker(`w-${at}`), "x".repeat(500));
  }

  it("and closes in the middle of a snapshot leaves the broker at work [A2C-LIM-09] [A2C-CUR-06]", async () => {
    await fleet();
    const wire = await broker.orchestrator("hasty");
    wire.pause();
    for (let count = 0; count < 200; count += 1) void wire.ask({ type: "watch" });
    await bystander.barrier();
    void wire.close();
    await bystander.barrier();
    await expectUnhurt();
    wire.drop();
    await until(() => broker.running.broker.stats().sessions === 101);
  });

  it("is not read any further until it does: its answers do not pile up [A2C-LIM-09]", async () => {
    await fleet();
    const wire = await broker.orchestrator("greedy");
    const { token } = await broker.running.addToken({ role: "worker", subject: "w-1", issue: "**", lane: "**" });
    const worker = await broker.worker("w-1", {}, token);
    const digest = await publish(worker, "still here");
    wire.pause();
    // Padded, so that they do not all come in one read of the socket.
    for (let count = 0; count < 400; count += 1) wire.raw(`{"type":"list","id":"p"}${" ".repeat(4_096)}`);
    const last = wire.ask(correctionOf("w-1", digest, "Behind four hundred pages."));
    for (let count = 0; count < 50; count += 1) await bystander.barrier();
    expect(worker.pushes).toEqual([]);
    wire.resume();
    expect(await last).toMatchObject({ verdict: "ALLOW" });
  });
});
