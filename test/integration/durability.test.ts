import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { LocalBroker, turn, type LocalClient } from "../support/local.js";
import { admit, correctionOf, publish, statusOf } from "../support/scenes.js";
import { HeldStore, SlowStore } from "../support/stores.js";
import type { Frame } from "../support/wire.js";

/** A running broker of which everybody has had every answer, and whose store then keeps its word back. */
interface Scene {
  store: HeldStore;
  local: LocalBroker;
  worker: LocalClient;
  asking: LocalClient;
  other: LocalClient;
  watcher: LocalClient;
  follower: LocalClient;
  digest: string;
  admitted: string;
  /** Of the sender's two sessions. */
  token: string;
}

let scene: Scene;

beforeEach(async () => {
  const store = new HeldStore();
  const local = await LocalBroker.open({ store });
  const worker = await local.worker("w-1");
  const token = await local.orchestratorToken("orch");
  const [asking, other] = [
    await local.hello(token, { role: "orchestrator" }),
    await local.hello(token, { role: "orchestrator" }),
  ];
  const watcher = await local.orchestrator("watcher");
  const follower = await local.auditor("auditor");
  const digest = await publish(worker);
  const admitted = await admit(asking, "w-1", digest, "An earlier one.");
  await watcher.ask({ type: "watch" });
  await follower.ask({ type: "follow", after: 0 });
  await turn();
  store.hold();
  scene = { store, local, worker, asking, other, watcher, follower, digest, admitted, token };
});

afterEach(async () => {
  scene.store.release();
  await scene.local.stop();
});

const clients = ({ worker, asking, other, watcher, follower }: Scene): LocalClient[] => [
  worker,
  asking,
  other,
  watcher,
  follower,
];

/** Runs `act`, whose events are held back, and expects that nobody hears of it; then lets go and waits for the answers. */
async function expectHeld(act: () => void): Promise<void> {
  const heard = (): number[] => clients(scene).map(({ frames }) => frames.length);
  const before = heard();
  act();
  await scene.store.arrived();
  for (let turns = 0; turns < 5; turns += 1) await turn();
  expect(heard()).toEqual(before);
  expect(clients(scene).map(({ closedWith }) => closedWith)).toEqual([
    undefined,
    undefined,
    undefined,
    undefined,
    undefined,
  ]);
  scene.store.release();
  await turn();
}

describe("before the store has acknowledged a decision [A2C-ANS-01]", () => {
  it("no receipt, correction, stage, row or log entry of it leaves", async () => {
    const { asking, other, worker, watcher, follower, digest } = scene;
    let id = "";
    await expectHeld(() => {
      id = asking.tell(correctionOf("w-1", digest, "Keep the names."));
    });
    expect(asking.reply(id)).toMatchObject({ type: "receipt", verdict: "ALLOW", stage: "ADMITTED" });
    const of = { correction_id: asking.reply(id)?.["correction_id"] };
    expect(worker.pushes("correction").at(-1)).toMatchObject({ correction: of });
    expect(other.pushes("stage").at(-1)).toMatchObject({ ...of, stage: "ADMITTED" });
    expect(watcher.pushes("row").at(-1)).toMatchObject({ pending: 2 });
    expect(follower.pushes("entries").at(-1)?.["entries"]).toEqual([expect.stringContaining(`"kind":"admitted"`)]);
  });

  it("no answer to a status, and no stage that it decides, leaves", async () => {
    const { worker, asking } = scene;
    await expectHeld(() => {
      worker.tell({ ...statusOf("read the issue"), lane: "src/lexer" });
    });
    expect(worker.frames.at(-1)).toMatchObject({ type: "row", changed: true });
    expect(asking.pushes("stage").at(-1)).toMatchObject({ stage: "STALE", detail: "RUN_CHANGED" });
  });

  it("no refusal leaves, and none that is folded", async () => {
    const { asking } = scene;
    const folded = { type: "stage", correction_id: `corr_${"0".repeat(32)}` };
    for (let count = 0; count < 100; count += 1) {
      scene.local.clock.advance(100);
      asking.tell(folded);
    }
    scene.local.clock.advance(100);
    let id = "";
    await expectHeld(() => {
      id = asking.tell(folded);
    });
    expect(asking.reply(id)).toEqual({ type: "refusal", id, reason: "DEFAULT_DENY", detail: "NO_GRANT", folded: true });
  });

  it("no welcome leaves, and no 4409 of the session that it fences", async () => {
    const { local, worker, store } = scene;
    store.release();
    const token = await local.workerToken("w-1");
    store.hold();
    const second = local.client();
    await expectHeld(() => {
      second.tell({ type: "hello", token, role: "worker", worker_id: "w-1" });
      expect(second.frames).toEqual([]);
    });
    expect(worker.closedWith).toEqual({ code: 4409, reason: "fenced by a newer session" });
    expect(second.frames.map(({ type }) => type)).toEqual(["welcome", "correction"]);
  });

  it("no 4401 of a revocation leaves", async () => {
    const { local, asking, other, token } = scene;
    let revoked: Promise<boolean> | undefined;
    await expectHeld(() => {
      revoked = local.broker.revokeToken(token.slice(4, 12));
    });
    expect(await revoked).toBe(true);
    expect([asking.closedWith?.code, other.closedWith?.code]).toEqual([4401, 4401]);
    // What the revocation ended was told first.
    expect(asking.frames.at(-1)).toMatchObject({ type: "stage", stage: "REVOKED" });
  });

  it("no new token is shown [A2C-AUTH-09]", async () => {
    const { local, store } = scene;
    let shown: string | undefined;
    const made = local.workerToken("w-2").then((token) => (shown = token));
    await store.arrived();
    for (let turns = 0; turns < 5; turns += 1) await turn();
    expect(shown).toBeUndefined();
    store.release();
    expect(await made).toMatch(/^a2t_/);
  });

  it("no ok and no 1000 of a bye leaves", async () => {
    const { worker } = scene;
    await expectHeld(() => {
      worker.tell({ type: "bye" });
    });
    expect(worker.frames.at(-1)).toMatchObject({ type: "ok" });
    expect(worker.closedWith).toEqual({ code: 1000, reason: "done" });
  });

  it("no 4401 of a hello that a revocation on its way turned away leaves", async () => {
    const { local, token } = scene;
    const late = local.client();
    await expectHeld(() => {
      void local.broker.revokeToken(token.slice(4, 12));
      late.tell({ type: "hello", token, role: "orchestrator" });
      expect(late.closedWith).toBeUndefined();
    });
    expect(late.closedWith?.code).toBe(4401);
  });

  it("no end that fell due leaves", async () => {
    const { local, asking, worker } = scene;
    await expectHeld(() => local.clock.advance(600_000));
    expect(asking.pushes("stage").at(-1)).toMatchObject({ stage: "EXPIRED" });
    expect(worker.pushes("stage").at(-1)).toMatchObject({ stage: "EXPIRED" });
  });
});

describe("an answer without an entry of its own [A2C-ANS-01]", () => {
  const cases: [string, () => [LocalClient, Frame, object]][] = [
    [
      "a replayed receipt",
      () => [
        scene.asking,
        correctionOf("w-1", scene.digest, "An earlier one."),
        { type: "receipt", verdict: "ALLOW", replayed: true },
      ],
    ],
    ["get", () => [scene.watcher, { type: "get", worker_id: "w-1" }, { type: "row", pending: 2 }]],
    ["list", () => [scene.watcher, { type: "list" }, { type: "rows" }]],
    ["watch", () => [scene.watcher, { type: "watch" }, { type: "rows", done: true }]],
    ["unwatch", () => [scene.watcher, { type: "unwatch" }, { type: "ok" }]],
    ["stage", () => [scene.asking, { type: "stage", correction_id: scene.admitted }, { type: "stage" }]],
    [
      "a status that changes nothing",
      () => [scene.worker, statusOf("read the issue"), { type: "row", changed: false }],
    ],
    ["inbox", () => [scene.worker, { type: "inbox", open: false }, { type: "ok" }]],
    ["log", () => [scene.follower, { type: "log", after: 0 }, { type: "entries" }]],
    ["ping", () => [scene.worker, { type: "ping" }, { type: "pong" }]],
  ];

  it.each(cases)("waits for what was decided before it: %s", async (_name, given) => {
    const [client, frame, expected] = given();
    let id = "";
    await expectHeld(() => {
      scene.asking.tell(correctionOf("w-1", scene.digest, "On its way to the disk."));
      id = client.tell(frame);
    });
    await turn();
    expect(client.reply(id)).toMatchObject(expected);
  });

  it("leaves at once where nothing is on its way", () => {
    const { worker } = scene;
    expect(worker.reply(worker.tell({ type: "ping" }))).toMatchObject({ type: "pong" });
  });
});

describe("the answers of one session", () => {
  it("come in the order of its requests, a batch at a time [A2C-ANS-01]", async () => {
    const { store, asking, worker, digest } = scene;
    const before = asking.frames.length;
    const first = [asking.tell(correctionOf("w-1", digest, "one")), asking.tell({ type: "ping" })];
    await store.arrived();
    // The first batch is on its way: what is decided on it still leaves with it, what follows gathers for the second.
    first.push(asking.tell({ type: "get", worker_id: "w-1" }));
    const second = [
      asking.tell(correctionOf("w-1", digest, "two")),
      asking.tell({ type: "stage", correction_id: scene.admitted }),
      asking.tell(correctionOf("w-1", digest, "one")),
      asking.tell({ type: "list" }),
    ];
    worker.tell(statusOf("moved on"));
    second.push(asking.tell(correctionOf("w-1", digest, "three")), asking.tell({ type: "ping" }));
    const answered = (): unknown[] => asking.frames.slice(before).flatMap(({ id }) => (id === undefined ? [] : [id]));
    store.release(1);
    await store.arrived();
    await turn();
    expect(answered()).toEqual(first);
    store.release(1);
    await turn();
    expect(answered()).toEqual([...first, ...second]);
  });

  it("never run ahead of a store that shows entries before it acknowledges them [A2C-ANS-01] [A2C-FRM-27]", async () => {
    let turns = 0;
    const store = new SlowStore(() => (turns = (turns + 3) % 5));
    const local = await LocalBroker.open({ store });
    const [worker, orch] = [await local.worker("w-1"), await local.orchestrator("orch")];
    const auditor = await local.auditor("auditor");
    const early: Frame[] = [];
    for (const client of [worker, orch, auditor]) {
      client.onFrame = (frame) => {
        const [index] = [frame["index"] ?? -1] as number[];
        const entries = frame.type === "entries" ? (frame["next"] as number) : 0;
        if ((index ?? 0) >= store.acknowledged || entries > store.acknowledged) early.push(frame);
      };
    }
    await auditor.ask({ type: "follow", after: 0 });
    const digest = await publish(worker);
    for (let count = 0; count < 8; count += 1) {
      orch.tell(correctionOf("w-1", digest, `correction ${count}`));
      auditor.tell({ type: "log", after: 0 });
      await turn();
    }
    await orch.ask({ type: "ping" });
    await local.stop();
    expect(orch.frames.filter(({ verdict }) => verdict === "ALLOW")).toHaveLength(8);
    expect(early).toEqual([]);
  });
});
