import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { admit, correctionOf, publish, statusOf } from "../support/scenes.js";
import { EVERYWHERE } from "../support/serve.js";
import { Served } from "../support/served.js";
import { Wire, type Frame } from "../support/wire.js";

let served: Served;

beforeEach(async () => {
  served = await Served.start();
});
afterEach(() => served.end());

/** The worker's view, as its orchestrator sees it. */
async function view(): Promise<Frame> {
  return (await served.lead()).ask({ type: "get", worker_id: "w-1" });
}

const stageOf = (frame: Frame): unknown => [frame["stage"], frame["index"]];

describe("a broker that was killed and started again", () => {
  it("shows every row as it was, but rewritten as not live, with the next seq [A2C-LIVE-09]", async () => {
    const worker = await served.worker();
    await worker.ask(statusOf("read the issue", { task_id: "t-1" }));
    await worker.ask(statusOf("ran the tests", { task_id: "t-1", next_action: { summary: "mend the lexer" } }));
    const before = await view();
    await served.killAndRestart();
    const after = await view();
    expect(after["row"]).toEqual({ ...(before["row"] as object), live: false, seq: 3 });
    expect(after).toMatchObject({ liveness: "dead", pending: 0 });
  });

  it("goes on with seq from where it was, and gives no old digest again [A2C-ROW-08]", async () => {
    const orchestrator = await served.lead();
    const first = await publish(await served.worker());
    await served.killAndRestart();
    const again = await (await served.worker()).ask(statusOf("read the issue"));
    expect(again).toMatchObject({ type: "row", changed: true, row: { seq: 3, live: true } });
    expect(again["status_digest"]).not.toBe(first);
    const late = await (await served.lead()).ask(correctionOf("w-1", first, "Keep the names."));
    expect(late).toMatchObject({ verdict: "DENY", reason: "UNWITNESSED", detail: "DIGEST" });
    orchestrator.drop();
  });

  it("knows each correction and where it stands or how it ended [A2C-ANS-07]", async () => {
    const [worker, orchestrator] = [await served.worker(), await served.lead()];
    const digest = await publish(worker);
    const ids: string[] = [];
    for (const message of ["taken up", "declined", "withdrawn", "received", "not looked at"]) {
      ids.push(await admit(orchestrator, "w-1", digest, message));
    }
    const cite = (at: number): object => ({ correction_id: ids[at], status_digest: digest });
    const plan = { summary: "do as told", reflects: [ids[0]] };
    await worker.ask({ type: "ack", ...cite(0), next_action: plan });
    await worker.ask({ type: "decline", ...cite(1), reason: "the file is generated" });
    await orchestrator.ask({ type: "withdraw", correction_id: ids[2] });
    await worker.ask({ type: "receive", correction_id: ids[3] });
    const stages = async (asking: Wire): Promise<unknown[]> => {
      const answers = ids.map((correction_id) => asking.ask({ type: "stage", correction_id }));
      return (await Promise.all(answers)).map(stageOf);
    };
    const before = await stages(orchestrator);
    expect(before.map((stage) => (stage as unknown[])[0])).toEqual([
      "WITNESSED",
      "DECLINED",
      "WITHDRAWN",
      "DELIVERED",
      "ADMITTED",
    ]);
    await served.killAndRestart();
    expect(await stages(await served.lead())).toEqual(before);
  });

  it("delivers open corrections again, marked as such, and they reach their end [A2C-LIFE-08] [A2C-LIVE-14]", async () => {
    const [worker, orchestrator] = [await served.worker(), await served.lead()];
    const digest = await publish(worker);
    const received = await admit(orchestrator, "w-1", digest, "received before the end");
    await worker.ask({ type: "receive", correction_id: received });
    const waiting = await admit(orchestrator, "w-1", digest, "not yet received");
    await served.killAndRestart();
    const back = await served.worker();
    await publish(back);
    const pushes = [
      await back.push(({ type }) => type === "correction"),
      await back.push(({ type }) => type === "correction"),
    ];
    expect(pushes).toMatchObject([
      { correction: { correction_id: received }, attempt: 2, redelivered: true, stale_context: true },
      { correction: { correction_id: waiting }, attempt: 1, redelivered: false, stale_context: true },
    ]);
    for (const correction_id of [received, waiting]) {
      const next_action = { summary: `take up ${correction_id}`, reflects: [correction_id] };
      const answer = await back.ask({ type: "ack", correction_id, status_digest: digest, next_action });
      expect(answer).toMatchObject({ type: "stage", stage: "WITNESSED" });
    }
  });

  it("takes a correction that is sent again with the same key for the same one, and writes nothing [A2C-ADM-29]", async () => {
    const [worker, orchestrator] = [await served.worker(), await served.lead()];
    const frame = correctionOf("w-1", await publish(worker), "Keep the names.", { key: "k-1" });
    const first = await orchestrator.ask(frame);
    await served.killAndRestart();
    const again = await served.lead();
    const second = await again.ask(frame);
    const { correction_id, index } = first;
    expect(second).toMatchObject({ verdict: "ALLOW", correction_id, index, stage: "ADMITTED", replayed: true });
    const next = await served.lead();
    expect(next.welcome["cursor"]).toBe(again.welcome["cursor"]);
    const other = await again.ask({ ...frame, key: "k-2" });
    expect(other).toMatchObject({ verdict: "DENY", detail: "NOT_LIVE" });
  });

  it("gives a sender that resumes every stage that it missed, from before and after, once and in order [A2C-CUR-02] [A2C-LIFE-05]", async () => {
    const [worker, orchestrator] = [await served.worker(), await served.lead()];
    const digest = await publish(worker);
    const first = await admit(orchestrator, "w-1", digest, "first");
    const { cursor } = (await served.lead()).welcome;
    orchestrator.drop();
    const meanwhile = await served.lead();
    await worker.ask({ type: "receive", correction_id: first });
    const second = await admit(meanwhile, "w-1", digest, "second", { freshness: "exact" });
    await worker.ask({ type: "ack", correction_id: first, status_digest: digest });
    await served.killAndRestart();
    await (await served.worker()).ask(statusOf("came back", { next_action: { summary: "go on", reflects: [first] } }));

    const resumed = await served.lead({ resume_from: cursor });
    expect(resumed.welcome["gap"]).toBe(false);
    await resumed.push(({ stage }) => stage === "WITNESSED").then((last) => resumed.pushes.push(last));
    await resumed.barrier();
    expect(resumed.pushes.map(({ correction_id, stage }) => [correction_id, stage])).toEqual([
      [first, "DELIVERED"],
      [second, "ADMITTED"],
      [first, "ACKED"],
      [second, "STALE"],
      [first, "WITNESSED"],
    ]);
    const indices = resumed.pushes.map(({ index }) => index as number);
    expect(indices).toEqual([...indices].sort((a, b) => a - b));
  });

  it("still takes the tokens that were made before, and none that was revoked [A2C-AUTH-09]", async () => {
    const revoked = await served.serve.token({ role: "orchestrator", subject: "gone", ...EVERYWHERE });
    await served.serve.ask({ command: "token_revoke", id: revoked.id });
    await served.killAndRestart();
    expect((await served.worker()).welcome).toMatchObject({ principal: { role: "worker", subject: "w-1" } });
    expect((await served.lead()).welcome).toMatchObject({ principal: { subject: "lead" } });
    await expect(Wire.open(served.serve.url, revoked.token)).rejects.toThrow("HTTP 401");
    const wire = await Wire.open(served.serve.url);
    wire.raw(JSON.stringify({ type: "hello", id: "1", role: "orchestrator", token: revoked.token }));
    expect(await wire.closed).toMatchObject({ code: 4401 });
  });
});
