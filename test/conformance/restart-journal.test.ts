import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { BrokerProcess, dataDirectory } from "./broker-process.js";
import type { Client, Frame } from "./client.js";
import { digestOf } from "./digest.js";
import { Sessions } from "./sessions.js";

// A broker that goes on with the log of the one before it: what clients held, and what they may rely on.
// Each test has a worker of its own, which had a live row and one open correction when the first broker stopped.

const SCOPE = { issue: "2162", task_id: "task-1", lane: "src/lane" };
const STATUS = { type: "status", ...SCOPE, last_action: "read the failing test", next_action: { summary: "plan A" } };

interface Before {
  token: string;
  row: Frame;
  digest: string;
  sent: Frame;
  receipt: Frame;
}

let data: { path: string; remove: () => void };
let broker: BrokerProcess;
let lead = "";
let revoked = "";
let cursor: unknown;
const workers = new Map<string, Before>();
const sessions = new Sessions();

const NAMES = ["w-dead", "w-same", "w-held", "w-ack", "w-decline", "w-plan", "w-resend", "w-received"];

beforeAll(async () => {
  data = dataDirectory();
  broker = await BrokerProcess.start(data.path);
  const orchestrator = ["--role", "orchestrator", "--worker", "**", "--issue", "**", "--lane", "**"];
  lead = (await broker.token(...orchestrator, "--subject", "lead")).token;
  const gone = await broker.token("--role", "auditor", "--subject", "gone");
  await broker.revoke(gone.id);
  revoked = gone.token;
  const { client: o, welcome } = await sessions.enter(broker.url, lead, { role: "orchestrator" });
  cursor = welcome["cursor"];
  for (const name of NAMES) workers.set(name, await openOne(name, o));
  sessions.drop();
  await broker.stop();
  broker = await BrokerProcess.start(data.path);
}, 60_000);

afterAll(async () => {
  sessions.drop();
  await broker.stop();
  data.remove();
});

/** A worker with a live row and a correction of it that is open; `w-received` has given its receipt. */
async function openOne(name: string, o: Client): Promise<Before> {
  const { token } = await broker.token("--role", "worker", "--subject", name, "--issue", "**", "--lane", "**");
  const { client } = await sessions.enter(broker.url, token, { role: "worker", worker_id: name });
  const published = await client.ask(STATUS);
  const digest = published["status_digest"] as string;
  const sent = {
    type: "correct",
    worker_id: name,
    ...SCOPE,
    status_digest: digest,
    message: "Look at the lexer first.",
  };
  const receipt = await o.ask(sent);
  if (receipt["verdict"] !== "ALLOW") throw new Error(`not admitted: ${JSON.stringify(receipt)}`);
  if (name === "w-received") await client.ask({ type: "receive", correction_id: receipt["correction_id"] });
  return { token, row: published["row"] as Frame, digest, sent, receipt };
}

function before(name: string): Before {
  const found = workers.get(name);
  if (found === undefined) throw new Error(`there is no worker ${name}`);
  return found;
}

const asWorker = async (name: string): Promise<Client> => {
  return (await sessions.enter(broker.url, before(name).token, { role: "worker", worker_id: name })).client;
};
const asLead = async (): Promise<Client> => (await sessions.enter(broker.url, lead, { role: "orchestrator" })).client;

describe("a broker that goes on with a log", () => {
  it("rewrites a live row as not live, under the next seq, and takes no correction for it [A2C-LIVE-09] [A2C-ROW-08] [A2C-ADM-16]", async () => {
    const { row, sent } = before("w-dead");
    const o = await asLead();
    const view = await o.ask({ type: "get", worker_id: "w-dead" });
    const dead = { ...row, live: false, seq: Number(row["seq"]) + 1 };
    expect(view).toMatchObject({ liveness: "dead", row: dead, status_digest: digestOf(dead), pending: 1 });
    const refused = { verdict: "DENY", reason: "UNWITNESSED", detail: "NOT_LIVE" };
    expect(await o.ask({ ...sent, key: "old" })).toMatchObject(refused);
    expect(await o.ask({ ...sent, key: "new", status_digest: digestOf(dead) })).toMatchObject(refused);
  });

  it("makes no digest of before current again when the worker publishes the same [A2C-ROW-08] [A2C-ROW-10]", async () => {
    const { row, sent } = before("w-same");
    const again = await (await asWorker("w-same")).ask(STATUS);
    expect(again).toMatchObject({ changed: true, row: { ...row, seq: Number(row["seq"]) + 2 } });
    const stale = await (await asLead()).ask({ ...sent, key: "k" });
    expect(stale).toMatchObject({ verdict: "DENY", detail: "DIGEST", current: again["row"] });
  });

  it("holds what was admitted until the row is live, and pushes it then [A2C-LIFE-08] [A2C-LIVE-10]", async () => {
    const { row, receipt } = before("w-held");
    const w = await asWorker("w-held");
    await w.barrier();
    expect(w.pushes).toEqual([]);
    await w.ask(STATUS);
    expect(await w.push("correction")).toMatchObject({
      correction: { correction_id: receipt["correction_id"], message: "Look at the lexer first." },
      attempt: 1,
      redelivered: false,
      stale_context: true,
      written_at_seq: row["seq"],
    });
  });

  it("takes receive and a plain ack while the row is not live [A2C-LIVE-11]", async () => {
    const { receipt, digest } = before("w-ack");
    const { correction_id } = receipt;
    const w = await asWorker("w-ack");
    expect(await w.ask({ type: "receive", correction_id })).toMatchObject({ type: "stage", stage: "DELIVERED" });
    const ack = { type: "ack", correction_id, status_digest: digest };
    expect(await w.ask(ack)).toMatchObject({ type: "stage", stage: "ACKED" });
  });

  it("takes a decline while the row is not live [A2C-LIVE-11]", async () => {
    const { receipt, digest } = before("w-decline");
    const { correction_id } = receipt;
    const decline = { type: "decline", correction_id, status_digest: digest, reason: "no" };
    expect(await (await asWorker("w-decline")).ask(decline)).toMatchObject({ type: "stage", stage: "DECLINED" });
  });

  it("refuses an ack with a plan while the row is not live, also one that restates [A2C-LIVE-12] [A2C-REF-10]", async () => {
    const { receipt, digest } = before("w-plan");
    const { correction_id } = receipt;
    const ack = { type: "ack", correction_id, status_digest: digest };
    const w = await asWorker("w-plan");
    const refused = { type: "refusal", reason: "UNWITNESSED", detail: "NOT_LIVE" };
    const plan = { summary: "plan B", reflects: [correction_id] };
    expect(await w.ask({ ...ack, next_action: plan })).toMatchObject(refused);
    expect(await w.ask({ ...ack, next_action: { summary: "plan A" } })).toMatchObject(refused);
    expect(await (await asLead()).ask({ type: "stage", correction_id })).toMatchObject({ stage: "ADMITTED" });
  });

  it("lets a sender resume from its cursor without a gap, and tells it each stage of before [A2C-CUR-02] [A2C-ANS-02]", async () => {
    const { client, welcome } = await sessions.enter(broker.url, lead, { role: "orchestrator", resume_from: cursor });
    expect(welcome).toMatchObject({ gap: false });
    for (const { correction_id, index } of NAMES.map((name) => before(name).receipt)) {
      expect(await client.push("stage")).toMatchObject({ correction_id, index, stage: "ADMITTED" });
    }
    const { correction_id } = before("w-received").receipt;
    expect(await client.push("stage")).toMatchObject({ correction_id, stage: "DELIVERED" });
  });

  it("answers a resend as the broker before it would [A2C-ADM-04]", async () => {
    const { sent, receipt } = before("w-resend");
    const { correction_id, index, expires_at } = receipt;
    const replay = { verdict: "ALLOW", replayed: true, correction_id, index, expires_at, deliverable: false };
    expect(await (await asLead()).ask(sent)).toMatchObject(replay);
  });

  it("keeps what a worker received for its next session, as a second attempt [A2C-LIFE-13] [A2C-LIVE-14]", async () => {
    const w = await asWorker("w-received");
    await w.ask(STATUS);
    expect(await w.push("correction")).toMatchObject({ attempt: 2, redelivered: true });
  });

  it("keeps a revoked token revoked, and each other one [A2C-AUTH-09]", async () => {
    expect(await sessions.refusal(broker.url, revoked)).toBe(401);
    expect(await sessions.refusal(broker.url, lead)).toBe(101);
    expect(await sessions.refusal(broker.url, broker.operatorToken())).toBe(101);
  });
});
