import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { MemoryStore } from "../../src/index.js";
import { LocalBroker, turn, type LocalClient } from "../support/local.js";
import { admit, correctionOf, publish } from "../support/scenes.js";
import { SlowStore } from "../support/stores.js";
import type { Frame } from "../support/wire.js";

let local: LocalBroker;
let token: string;
let worker: LocalClient;
let live: LocalClient;
let digest: string;

beforeEach(async () => {
  local = await LocalBroker.open({ store: new MemoryStore() });
  token = await local.orchestratorToken("orch");
  worker = await local.worker("w-1");
  live = await local.hello(token, { role: "orchestrator" });
  digest = await publish(worker);
});
afterEach(() => local.stop());

const stages = (client: LocalClient): Frame[] => client.pushes("stage");
const welcomeOf = (client: LocalClient): Frame => client.frames[0] as Frame;
const session = (fields: Record<string, unknown> = {}): Promise<LocalClient> =>
  local.hello(token, { role: "orchestrator", ...fields });

/** Corrections of `orch`, and of another in between, that come to all sorts of stages. */
async function story(sender: LocalClient): Promise<string[]> {
  const other = await local.orchestrator("other");
  const ids = [];
  for (const message of ["one", "two", "three", "four", "five"]) {
    ids.push(await admit(sender, "w-1", digest, message));
    if (message !== "five") await admit(other, "w-1", digest, `${message}, says another`, { ttl_ms: 1_000 });
    local.clock.advance(1_000);
    await turn();
  }
  const [one, two, three, four] = ids as [string, string, string, string];
  await worker.ask({ type: "receive", correction_id: two });
  await worker.ask({ type: "decline", correction_id: three, status_digest: digest, reason: "No." });
  await worker.ask({
    type: "ack",
    correction_id: one,
    status_digest: digest,
    next_action: { summary: "go on", reflects: [one] },
  });
  await sender.ask({ type: "withdraw", correction_id: four });
  await turn();
  return ids;
}

describe("a session that resumes", () => {
  it("gets from any cursor on what an uninterrupted session got [A2C-CUR-02] [A2C-LIFE-03] [A2C-LIFE-04] [A2C-LIFE-05]", async () => {
    const asking = await session();
    const from = welcomeOf(live)["cursor"] as string;
    await story(asking);
    const all = stages(live);
    expect(all.map(({ stage }) => stage)).toEqual([
      "ADMITTED",
      "ADMITTED",
      "ADMITTED",
      "ADMITTED",
      "ADMITTED",
      "DELIVERED",
      "DELIVERED",
      "DECLINED",
      "DELIVERED",
      "ACKED",
      "WITNESSED",
      "WITHDRAWN",
    ]);
    const cursors = [from, ...all.map(({ cursor }) => cursor as string)];
    await fc.assert(
      fc.asyncProperty(fc.nat({ max: all.length }), fc.boolean(), async (cut, stalls) => {
        const client = local.client();
        if (stalls) client.unread = 70_000;
        client.tell({ type: "hello", token, role: "orchestrator", resume_from: cursors[cut] });
        await turn();
        client.drain();
        await turn();
        expect(stages(client)).toEqual(all.slice(cut));
        client.drop();
      }),
      { numRuns: 40 },
    );
  });

  it("gets what happens while it resumes once, and behind the rest [A2C-CUR-02] [A2C-LIFE-04]", async () => {
    const from = welcomeOf(live)["cursor"];
    const ids = await story(await session());
    const client = local.client();
    client.unread = 70_000;
    client.tell({ type: "hello", token, role: "orchestrator", resume_from: from });
    await turn();
    expect(stages(client)).toEqual([]);
    await live.ask({ type: "withdraw", correction_id: ids[4] });
    await turn();
    client.drain();
    await turn();
    await admit(live, "w-1", (await live.ask({ type: "get", worker_id: "w-1" }))["status_digest"] as string, "six");
    await turn();
    const indices = stages(client).map(({ index }) => index as number);
    expect(indices).toEqual([...new Set(indices)].toSorted((a, b) => a - b));
    expect(stages(client).slice(-2)).toMatchObject([{ stage: "WITHDRAWN" }, { stage: "ADMITTED" }]);
    // Its own admission apart, the live session was told the same.
    expect(stages(client).slice(0, -1)).toEqual(stages(live));
  });

  it("gets the same from a store that shows entries early [A2C-CUR-02] [A2C-ANS-01]", async () => {
    const store = new SlowStore(() => 2);
    const slow = await LocalBroker.open({ store });
    const [w, key] = [await slow.worker("w-1"), await slow.orchestratorToken("orch")];
    const asking = await slow.hello(key, { role: "orchestrator" });
    const cited = await publish(w);
    const { cursor } = welcomeOf(asking);
    const resumed: LocalClient[] = [];
    for (let count = 0; count < 6; count += 1) {
      asking.tell(correctionOf("w-1", cited, `correction ${count}`));
      const client = slow.client();
      client.tell({ type: "hello", token: key, role: "orchestrator", resume_from: cursor });
      resumed.push(client);
      await turn();
    }
    for (const client of [asking, ...resumed]) await client.ask({ type: "ping" });
    await turn();
    const indices = asking.frames.filter(({ verdict }) => verdict === "ALLOW").map(({ index }) => index);
    for (const client of resumed) expect(stages(client).map(({ index }) => index)).toEqual(indices);
    await slow.stop();
  });

  it("with a cursor of another log gets gap and its open corrections as they stand, however many [A2C-CUR-03]", async () => {
    const sender = await session();
    const ids = await story(sender);
    for (const resume_from of ["0123456789abcdef.7", "rubbish", `${String(welcomeOf(live)["cursor"])}9999`]) {
      const client = await session({ resume_from });
      await turn();
      expect(welcomeOf(client)).toMatchObject({ gap: true, cursor: expect.any(String) });
      expect(stages(client)).toMatchObject([
        { correction_id: ids[1], stage: "DELIVERED" },
        { correction_id: ids[4], stage: "ADMITTED" },
      ]);
      client.drop();
    }
  });

  it("is not cut for what it asked for: a gap is fed as the socket drains [A2C-CUR-03] [A2C-CUR-06]", async () => {
    await story(await session());
    const client = local.client();
    client.unread = 300_000;
    client.tell({ type: "hello", token, role: "orchestrator", resume_from: "0123456789abcdef.7" });
    await turn();
    expect(client.closedWith).toBeUndefined();
    expect(client.frames).toHaveLength(1);
    await live.ask({ type: "ping" });
    client.drain();
    await turn();
    expect(stages(client).map(({ stage }) => stage)).toEqual(["DELIVERED", "ADMITTED"]);
  });

  it("without a cursor gets what comes after its welcome only", async () => {
    await story(await session());
    const client = await session();
    await turn();
    expect(welcomeOf(client)).toMatchObject({ gap: false });
    expect(stages(client)).toEqual([]);
  });

  it("with the cursor of a welcome gets nothing of what came before that [A2C-CUR-01]", async () => {
    await story(await session());
    const { cursor } = welcomeOf(await session());
    const id = await admit(live, "w-1", await publish(worker, "goes on"), "six");
    const client = await session({ resume_from: cursor });
    await turn();
    expect(stages(client)).toMatchObject([{ correction_id: id, stage: "ADMITTED" }]);
  });
});

describe("two sessions of one sender", () => {
  it("are told every stage, and the asking one of its admission by the receipt only [A2C-LIFE-03] [A2C-FRM-07]", async () => {
    const other = await session();
    const stranger = await local.orchestrator("stranger");
    const id = await admit(live, "w-1", digest, "Keep the names.");
    expect(stages(live)).toEqual([]);
    expect(stages(other)).toMatchObject([{ correction_id: id, stage: "ADMITTED" }]);
    await worker.ask({ type: "receive", correction_id: id });
    expect(stages(live).at(-1)).toEqual(stages(other).at(-1));
    expect(stages(live)).toMatchObject([{ stage: "DELIVERED", cursor: expect.any(String) }]);
    expect(stages(stranger)).toEqual([]);
  });
});

describe("a slow consumer", () => {
  it("is cut with 4430, its cursor good for the rest, and nobody else is held up [A2C-CUR-05]", async () => {
    const slow = await session();
    const id = await admit(live, "w-1", digest, "one");
    slow.unread = 262_144;
    await worker.ask({ type: "receive", correction_id: id });
    expect(slow.closedWith).toBeUndefined();
    slow.unread = 262_145;
    await worker.ask({ type: "ack", correction_id: id, status_digest: digest });
    expect(slow.closedWith).toEqual({ code: 4430, reason: "slow consumer" });
    const had = stages(slow);
    await live.ask({ type: "withdraw", correction_id: await admit(live, "w-1", digest, "two") });

    const again = await session({ resume_from: had.at(-1)?.["cursor"] });
    await turn();
    expect([...had, ...stages(again)].map(({ stage }) => stage)).toEqual([
      "ADMITTED",
      "DELIVERED",
      "ACKED",
      "ADMITTED",
      "WITHDRAWN",
    ]);
    expect(stages(live).map(({ stage }) => stage)).toEqual(["DELIVERED", "ACKED", "WITHDRAWN"]);
  });

  it("that is a worker is suspect from then on, and nothing counts as deliverable to it [A2C-CUR-05] [A2C-LIVE-05]", async () => {
    worker.unread = 262_145;
    await admit(live, "w-1", digest, "one");
    expect(worker.closedWith?.code).toBe(4430);
    expect(await live.ask({ type: "get", worker_id: "w-1" })).toMatchObject({ liveness: "suspect", inbox: "closed" });
    expect(await live.ask(correctionOf("w-1", digest, "two"))).toMatchObject({ deliverable: false });
    worker.tell({ type: "ping" });
    expect(worker.pushes("correction")).toEqual([]);
  });
});

describe("a worker's session", () => {
  it.each<[string, (id: string) => Promise<unknown>, string]>([
    ["withdrawn", (id) => live.ask({ type: "withdraw", correction_id: id }), "WITHDRAWN"],
    ["superseded", (id) => admit(live, "w-1", digest, "two", { supersedes: id }), "SUPERSEDED"],
    ["expired", () => Promise.resolve(local.clock.advance(5_000)), "EXPIRED"],
    ["revoked", () => local.broker.revokeToken(token.slice(4, 12)), "REVOKED"],
  ])("is told when what it was pushed is %s [A2C-LIFE-17]", async (_how, act, stage) => {
    const id = await admit(live, "w-1", digest, "one", { ttl_ms: 5_000 });
    await act(id);
    await turn();
    const [told, ...more] = stages(worker);
    expect(told).toMatchObject({ type: "stage", correction_id: id, worker_id: "w-1", stage });
    expect(told).not.toHaveProperty("cursor");
    expect(more).toEqual([]);
  });

  it("is not told of what it ended itself, nor of what it was never pushed [A2C-LIFE-17]", async () => {
    const id = await admit(live, "w-1", digest, "one");
    await worker.ask({ type: "decline", correction_id: id, status_digest: digest, reason: "No." });
    await worker.ask({ type: "inbox", open: false });
    await live.ask({ type: "withdraw", correction_id: await admit(live, "w-1", digest, "two") });
    expect(stages(worker)).toEqual([]);
  });
});
