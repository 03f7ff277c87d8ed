import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { LocalBroker, turn, type LocalClient } from "../support/local.js";
import { admit, correctionOf, publish, statusOf } from "../support/scenes.js";
import { HeldStore } from "../support/stores.js";
import type { Frame } from "../support/wire.js";

let store: HeldStore;
let local: LocalBroker;
let worker: LocalClient;
let orch: LocalClient;
let digest: string;
let workerToken: string;
let orchToken: string;

beforeEach(async () => {
  store = new HeldStore();
  local = await LocalBroker.open({ store });
  workerToken = await local.workerToken("w-1");
  orchToken = await local.orchestratorToken("orch");
  worker = await local.hello(workerToken, { role: "worker", worker_id: "w-1" });
  orch = await local.hello(orchToken, { role: "orchestrator" });
  digest = await publish(worker);
});

afterEach(async () => {
  store.release();
  await local.stop();
});

async function settle(): Promise<void> {
  store.release();
  await turn();
}

const admittedEntries = async (): Promise<string[]> => {
  const { entries } = await store.read(0, 1_000);
  return entries.filter((line) => line.includes(`"kind":"admitted"`));
};

describe("a status and a correction that cross", () => {
  it("the status wins when it was sent first, though it is not durable yet [A2C-ADM-12]", async () => {
    store.hold();
    const status = worker.tell(statusOf("moved on"));
    const stale = orch.tell(correctionOf("w-1", digest, "Too late."));
    expect([worker.reply(status), orch.reply(stale)]).toEqual([undefined, undefined]);
    await settle();
    expect(orch.reply(stale)).toMatchObject({
      verdict: "DENY",
      reason: "UNWITNESSED",
      detail: "DIGEST",
      current: { seq: 2, last_action: "moved on" },
    });
    expect(worker.pushes("correction")).toEqual([]);
    expect(await admittedEntries()).toEqual([]);
  });

  it("the correction wins when it was sent first, and stays open within the run [A2C-LIFE-46]", async () => {
    store.hold();
    const first = orch.tell(correctionOf("w-1", digest, "In time."));
    worker.tell(statusOf("moved on"));
    await settle();
    expect(orch.reply(first)).toMatchObject({ verdict: "ALLOW", deliverable: true });
    expect(worker.frames.slice(-2).map(({ type }) => type)).toEqual(["correction", "row"]);
    const again = await local.hello(workerToken, { role: "worker", worker_id: "w-1" });
    expect(again.pushes("correction")).toMatchObject([{ stale_context: true, written_at_seq: 1, attempt: 1 }]);
  });

  it("of two that end one another, the one that was sent first stands [A2C-LIFE-39] [A2C-LIFE-42]", async () => {
    const [one, two] = [await admit(orch, "w-1", digest, "one"), await admit(orch, "w-1", digest, "two")];
    store.hold();
    worker.tell({ type: "receive", correction_id: one });
    const late = orch.tell({ type: "withdraw", correction_id: one });
    const early = orch.tell({ type: "withdraw", correction_id: two });
    const missed = worker.tell({ type: "receive", correction_id: two });
    await settle();
    expect(orch.reply(late)).toMatchObject({ type: "stage", stage: "DELIVERED" });
    expect(orch.reply(early)).toMatchObject({ type: "stage", stage: "WITHDRAWN" });
    expect(worker.reply(missed)).toMatchObject({ type: "stage", stage: "WITHDRAWN" });
    expect(worker.pushes("stage")).toMatchObject([{ correction_id: two, stage: "WITHDRAWN" }]);
  });
});

describe("a push that still waits for the store", () => {
  it("does not leave when its correction has ended meanwhile, and nothing is said of it [A2C-LIFE-42]", async () => {
    store.hold();
    const short = orch.tell(correctionOf("w-1", digest, "For a second.", { ttl_ms: 1_000 }));
    local.clock.advance(1_000);
    const moved = orch.tell(correctionOf("w-1", digest, "In this lane."));
    const row = worker.tell(statusOf("read the issue", { lane: "docs" }));
    await settle();
    expect([orch.reply(short), orch.reply(moved)]).toMatchObject([{ stage: "ADMITTED" }, { stage: "ADMITTED" }]);
    expect(orch.pushes("stage").map(({ stage }) => stage)).toEqual(["EXPIRED", "STALE"]);
    expect(worker.reply(row)).toMatchObject({ outcomes: [{ stage: "STALE" }] });
    expect([worker.pushes("correction"), worker.pushes("stage")]).toEqual([[], []]);
  });
});

describe("a resend", () => {
  it("after a lost answer is the same correction, delivered once [A2C-ADM-04] [A2C-ADM-29] [A2C-ANS-06]", async () => {
    store.hold();
    const frame = correctionOf("w-1", digest, "Keep the names.", { key: "k1" });
    orch.tell(frame);
    orch.drop();
    const again = local.client();
    again.tell({ type: "hello", token: orchToken, role: "orchestrator" });
    const id = again.tell(frame);
    await settle();
    const replayed = again.reply(id) as Frame;
    expect(replayed).toMatchObject({ verdict: "ALLOW", replayed: true, stage: "ADMITTED", deliverable: true });
    const [entry] = await admittedEntries();
    expect(JSON.parse(entry as string)).toMatchObject({ index: replayed["index"] });
    expect(await admittedEntries()).toHaveLength(1);
    expect(worker.pushes("correction")).toHaveLength(1);
  });

  it("from two sessions at once is admitted once [A2C-ADM-04]", async () => {
    const other = await local.hello(orchToken, { role: "orchestrator" });
    store.hold();
    const frame = correctionOf("w-1", digest, "Keep the names.", { key: "k1" });
    const [first, second] = [orch.tell(frame), other.tell(frame)];
    await settle();
    expect(orch.reply(first)).toMatchObject({ verdict: "ALLOW", stage: "ADMITTED" });
    expect(orch.reply(first)).not.toHaveProperty("replayed");
    expect(other.reply(second)).toMatchObject({ verdict: "ALLOW", replayed: true });
    expect(worker.pushes("correction")).toHaveLength(1);
  });

  it("of another principal is another correction [A2C-ADM-27]", async () => {
    const other = await local.orchestrator("other");
    const frame = correctionOf("w-1", digest, "Keep the names.", { key: "k1" });
    const [mine, theirs] = [await orch.ask(frame), await other.ask(frame)];
    expect(theirs).not.toHaveProperty("replayed");
    expect(theirs["correction_id"]).not.toBe(mine["correction_id"]);
    expect(worker.pushes("correction")).toHaveLength(2);
  });
});

describe("an ack", () => {
  let id: string;
  beforeEach(async () => {
    id = await admit(orch, "w-1", digest, "Keep the names.");
  });
  const ack = (): Frame => ({ type: "ack", correction_id: id, status_digest: digest });
  const stage = async (): Promise<unknown> => (await orch.ask({ type: "stage", correction_id: id }))["stage"];

  it("of another worker is refused as that of an unknown correction is [A2C-REF-06] [A2C-REF-10]", async () => {
    const other = await local.worker("w-2");
    await publish(other);
    const unknown = { ...ack(), correction_id: `corr_${"0".repeat(32)}` };
    const refused = { type: "refusal", reason: "TRUST_VIOLATION", detail: "CORRECTION" };
    for (const frame of [ack(), { ...ack(), type: "receive", status_digest: undefined }, unknown]) {
      const reply = await other.ask(frame);
      expect({ ...reply, id: "" }).toEqual({ ...refused, id: "" });
    }
    expect(await stage()).toBe("ADMITTED");
  });

  it("of the sender, or of any orchestrator, is refused [A2C-AUTH-07] [A2C-REF-01]", async () => {
    expect(await orch.ask(ack())).toMatchObject({ type: "refusal", reason: "DEFAULT_DENY", detail: "NO_GRANT" });
    expect(await stage()).toBe("ADMITTED");
  });

  it("that cites another digest is refused [A2C-REF-07]", async () => {
    const moved = await publish(worker, "moved on");
    const reply = await worker.ask({ ...ack(), status_digest: moved });
    expect(reply).toMatchObject({ type: "refusal", reason: "TRUST_VIOLATION", detail: "CITED" });
    expect(await stage()).toBe("ADMITTED");
  });

  it("of a session that is being fenced changes nothing, and is logged as refused [A2C-REF-02]", async () => {
    store.hold();
    const second = local.client();
    second.tell({ type: "hello", token: workerToken, role: "worker", worker_id: "w-1" });
    worker.tell(ack());
    await settle();
    expect(worker.closedWith?.code).toBe(4409);
    const { entries } = await store.read(0, 1_000);
    expect(entries.filter((line) => line.includes(`"detail":"SESSION"`))).toMatchObject([
      expect.stringMatching(/"kind":"refused".*"reason":"LEASE_HELD".*"verb":"ack"/),
    ]);
    expect(await stage()).toBe("ADMITTED");
    expect(await second.ask(ack())).toMatchObject({ type: "stage", stage: "ACKED" });
  });

  it("of a session that is fenced right behind it counts", async () => {
    const second = local.client();
    worker.tell(ack());
    second.tell({ type: "hello", token: workerToken, role: "worker", worker_id: "w-1" });
    await turn();
    expect(await stage()).toBe("ACKED");
    expect(second.pushes("correction")).toEqual([]);
  });

  it("of a session that was fenced is not even read", async () => {
    await local.hello(workerToken, { role: "worker", worker_id: "w-1" });
    const size = store.size();
    worker.tell(ack());
    await turn();
    expect([worker.closedWith?.code, store.size(), await stage()]).toEqual([4409, size, "ADMITTED"]);
  });
});
