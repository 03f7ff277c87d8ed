import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { BrokerProcess, dataDirectory } from "./broker-process.js";
import type { Client, Frame } from "./client.js";
import { Sessions } from "./sessions.js";

// What needs the administrator's hand between the frames: tokens that are given and taken away while sessions run.

const EVERYWHERE = ["--worker", "**", "--issue", "**", "--lane", "**"];
const SCOPE = { issue: "2162", lane: "src/lane" };

let data: { path: string; remove: () => void };
let broker: BrokerProcess;
const sessions = new Sessions();

beforeAll(async () => {
  data = dataDirectory();
  broker = await BrokerProcess.start(data.path);
});

afterAll(async () => {
  sessions.drop();
  await broker.stop();
  data.remove();
});

const enter = async (token: string, hello: Frame): Promise<Client> =>
  (await sessions.enter(broker.url, token, hello)).client;
const orchestrator = (subject: string, ...more: string[]): Promise<{ id: string; token: string }> =>
  broker.token("--role", "orchestrator", "--subject", subject, ...EVERYWHERE, ...more);

/** A worker with a live row, and its digest. */
async function worker(workerId: string): Promise<{ client: Client; digest: unknown }> {
  const { token } = await broker.token("--role", "worker", "--subject", workerId, "--issue", "**", "--lane", "**");
  const client = await enter(token, { role: "worker", worker_id: workerId });
  const row = await client.ask({ type: "status", ...SCOPE });
  return { client, digest: row["status_digest"] };
}

const correct = (workerId: string, digest: unknown, key: string): Frame => {
  return { type: "correct", worker_id: workerId, ...SCOPE, status_digest: digest, message: "hello", key };
};

describe("a token that is revoked", () => {
  it("loses its live connections with 4401, and no other does [A2C-AUTH-10] [A2C-FRM-36]", async () => {
    const gone = await orchestrator("gone-1");
    const stays = await orchestrator("gone-1");
    const first = await enter(gone.token, { role: "orchestrator" });
    const second = await enter(gone.token, { role: "orchestrator" });
    const other = await enter(stays.token, { role: "orchestrator" });
    await broker.revoke(gone.id);
    expect(await first.end()).toEqual({ code: 4401, reason: "unauthenticated or revoked" });
    expect(await second.end()).toEqual({ code: 4401, reason: "unauthenticated or revoked" });
    await other.barrier();
  });

  it("ends its subject's ADMITTED corrections as REVOKED, and lets the delivered and acked ones stand [A2C-LIFE-48] [A2C-LIFE-50]", async () => {
    const { client: w, digest } = await worker("w-revoked");
    const gone = await orchestrator("gone-2");
    const o = await enter(gone.token, { role: "orchestrator" });
    const [admitted, delivered, acked] = [
      await o.ask(correct("w-revoked", digest, "admitted")),
      await o.ask(correct("w-revoked", digest, "delivered")),
      await o.ask(correct("w-revoked", digest, "acked")),
    ];
    await w.ask({ type: "receive", correction_id: delivered?.["correction_id"] });
    await w.ask({ type: "ack", correction_id: acked?.["correction_id"], status_digest: digest });
    await broker.revoke(gone.id);
    await o.end();
    expect(await w.push("stage")).toMatchObject({ correction_id: admitted?.["correction_id"], stage: "REVOKED" });
    expect(await w.ask({ type: "receive", correction_id: admitted?.["correction_id"] })).toMatchObject({
      stage: "REVOKED",
    });
    expect(await w.ask({ type: "receive", correction_id: delivered?.["correction_id"] })).toMatchObject({
      stage: "DELIVERED",
    });
    const plan = { summary: "plan B", reflects: [acked?.["correction_id"]] };
    expect(await w.ask({ type: "status", ...SCOPE, next_action: plan })).toMatchObject({
      pending: 1,
      outcomes: [{ correction_id: acked?.["correction_id"], stage: "WITNESSED" }],
    });
  });

  it("ends no correction that another valid token of its subject covers [A2C-LIFE-48]", async () => {
    const { digest } = await worker("w-covered");
    const gone = await orchestrator("gone-3");
    const stays = await orchestrator("gone-3");
    const o = await enter(gone.token, { role: "orchestrator" });
    const { correction_id } = await o.ask(correct("w-covered", digest, "k"));
    await broker.revoke(gone.id);
    await o.end();
    const again = await enter(stays.token, { role: "orchestrator" });
    expect(await again.ask({ type: "stage", correction_id })).toMatchObject({ stage: "ADMITTED" });
  });

  it("tells the subject's other sessions of each REVOKED [A2C-LIFE-03]", async () => {
    const { digest } = await worker("w-told");
    const gone = await orchestrator("gone-4");
    const narrow = await broker.token(
      "--role",
      "orchestrator",
      "--subject",
      "gone-4",
      "--worker",
      "elsewhere",
      "--issue",
      "**",
      "--lane",
      "**",
    );
    const o = await enter(gone.token, { role: "orchestrator" });
    const other = await enter(narrow.token, { role: "orchestrator" });
    const { correction_id } = await o.ask(correct("w-told", digest, "k"));
    expect(await other.push("stage")).toMatchObject({ correction_id, stage: "ADMITTED" });
    await broker.revoke(gone.id);
    expect(await other.push("stage")).toMatchObject({ correction_id, stage: "REVOKED" });
  });
});

describe("a token that expires", () => {
  it("loses its live connections with 4401, and its ADMITTED corrections end as REVOKED [A2C-LIFE-49] [A2C-AUTH-08] [A2C-AUTH-14]", async () => {
    const { client: w, digest } = await worker("w-expiring");
    const expiring = await orchestrator("expiring", "--expires", "3s");
    const o = await enter(expiring.token, { role: "orchestrator" });
    const { correction_id } = await o.ask(correct("w-expiring", digest, "k"));
    expect(await w.push("stage")).toMatchObject({ correction_id, stage: "REVOKED" });
    expect((await o.end()).code).toBe(4401);
    expect(await sessions.refusal(broker.url, expiring.token)).toBe(401);
  });
});

describe("a worker that comes back with a token of a narrower lane", () => {
  it("cannot plan for a row that it could not publish, and can ack [A2C-REF-12] [A2C-REF-10]", async () => {
    const { digest } = await worker("w-narrower");
    const o = await enter((await orchestrator("lead")).token, { role: "orchestrator" });
    const { correction_id } = await o.ask(correct("w-narrower", digest, "k"));
    const lane = ["--issue", "**", "--lane", "docs/**"];
    const { token } = await broker.token("--role", "worker", "--subject", "w-narrower", ...lane);
    const w = await enter(token, { role: "worker", worker_id: "w-narrower" });
    const ack = { type: "ack", correction_id, status_digest: digest };
    expect(await w.ask({ ...ack, next_action: { summary: "plan B", reflects: [correction_id] } })).toMatchObject({
      type: "refusal",
      reason: "DEFAULT_DENY",
      detail: "NO_GRANT",
    });
    expect(await o.ask({ type: "stage", correction_id })).toMatchObject({ stage: "ADMITTED" });
    expect(await w.ask(ack)).toMatchObject({ stage: "ACKED" });
  });
});

describe("a token", () => {
  it("works as soon as it is printed, and its grant is in the log [A2C-AUTH-09]", async () => {
    const made = await orchestrator("fresh");
    await enter(made.token, { role: "orchestrator" });
    const auditor = await enter(broker.operatorToken(), { role: "auditor" });
    const { entries } = (await auditor.ask({ type: "log", after: 0 })) as unknown as { entries: string[] };
    expect(entries.map((line) => JSON.parse(line) as Frame)).toContainEqual(
      expect.objectContaining({ kind: "grant_added", token: made.id, subject: "fresh", verbs: ["correct", "watch"] }),
    );
    expect(entries.join("\n")).not.toContain(made.token);
  });

  it.each([["--worker"], ["--issue"], ["--lane"]])("is not made without %s [A2C-AUTH-12]", async (flag) => {
    const flags = ["--worker", "**", "--issue", "**", "--lane", "**"];
    flags.splice(flags.indexOf(flag), 2);
    await expect(broker.token("--role", "orchestrator", "--subject", "x", ...flags)).rejects.toThrow(
      `${flag} '**' covers all`,
    );
  });
});
