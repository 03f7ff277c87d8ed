import { rmSync } from "node:fs";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { BrokerProcess, dataDirectory, serveToTheEnd } from "./broker-process.js";
import { Sessions } from "./sessions.js";

// Every case here starts and stops brokers on one data directory.

let data: { path: string; remove: () => void };
const brokers: BrokerProcess[] = [];
const sessions = new Sessions();

beforeEach(() => {
  data = dataDirectory();
});

afterEach(async () => {
  sessions.drop();
  for (const broker of brokers.splice(0)) {
    broker.signal("SIGKILL");
    await broker.ended;
  }
  data.remove();
});

async function start(...flags: string[]): Promise<BrokerProcess> {
  const broker = await BrokerProcess.start(data.path, ...flags);
  brokers.push(broker);
  return broker;
}

const orchestrator = (subject: string): string[] => {
  return ["--role", "orchestrator", "--subject", subject, "--worker", "**", "--issue", "**", "--lane", "**"];
};

describe("a broker that is told to stop", () => {
  it("closes its sessions with 4503, one that reads nothing included, and exits with 0 [A2C-ANS-08] [A2C-FRM-36]", async () => {
    const broker = await start();
    const { client } = await sessions.enter(broker.url, broker.operatorToken(), { role: "auditor" });
    const { client: stuck } = await sessions.enter(broker.url, broker.operatorToken(), { role: "auditor" });
    const stranger = await sessions.connect(broker.url, broker.operatorToken());
    stuck.pause();
    const ended = broker.stop();
    expect(await client.end()).toEqual({ code: 4503, reason: "draining" });
    expect(await stranger.end()).toEqual({ code: 4503, reason: "draining" });
    expect(await ended).toMatchObject({ code: 0, signal: null, stderr: "" });
  });

  it("ends at once on a second signal", async () => {
    const broker = await start();
    const { client } = await sessions.enter(broker.url, broker.operatorToken(), { role: "auditor" });
    client.pause();
    broker.signal("SIGTERM");
    broker.signal("SIGINT");
    expect(await broker.ended).toMatchObject({ code: 1, signal: null });
  });

  it("has written exactly one line of JSON on stdout", async () => {
    const broker = await start();
    const { stdout } = await broker.stop();
    expect(stdout.split("\n")).toHaveLength(2);
    expect(stdout.endsWith("\n")).toBe(true);
    expect(JSON.parse(stdout)).toEqual({
      url: expect.stringMatching(/^ws:\/\/127\.0\.0\.1:\d+\/v1$/),
      http: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+$/),
      version: expect.stringMatching(/^\d+\.\d+\.\d+/),
      pid: expect.any(Number),
      data: data.path,
    });
  });
});

describe("a broker that is started again with a log in memory", () => {
  it("does not know a token of the old log, and says unauthenticated", async () => {
    const before = await start("--memory");
    const { token } = await before.token(...orchestrator("lead"));
    await sessions.enter(before.url, token, { role: "orchestrator" });
    await before.stop();
    const after = await start("--memory");
    expect(await sessions.refusal(after.url, token)).toBe(401);
    const client = await sessions.connect(after.url, after.operatorToken());
    client.send({ type: "hello", role: "orchestrator", token });
    expect((await client.end()).code).toBe(4401);
  });

  it("keeps the operator's token", async () => {
    const before = await start("--memory");
    const token = before.operatorToken();
    await before.stop();
    const after = await start("--memory");
    expect(after.operatorToken()).toBe(token);
    const { welcome } = await sessions.enter(after.url, token, { role: "orchestrator" });
    expect(welcome).toMatchObject({ type: "welcome", principal: { role: "orchestrator", subject: "operator" } });
  });

  it("answers a cursor of the old log with a gap [A2C-CUR-03]", async () => {
    const before = await start("--memory");
    const token = before.operatorToken();
    const { welcome: old } = await sessions.enter(before.url, token, { role: "orchestrator" });
    await before.stop();
    const after = await start("--memory");
    const { client, welcome } = await sessions.enter(after.url, token, {
      role: "orchestrator",
      resume_from: old["cursor"],
    });
    expect(welcome).toMatchObject({ type: "welcome", gap: true });
    expect(welcome["cursor"]).not.toBe(old["cursor"]);
    await client.barrier();
    expect(client.pushes).toEqual([]);
  });
});

describe("a second broker on one data directory", () => {
  it("exits with 73 and one sentence, and the first goes on", async () => {
    const first = await start();
    const { client } = await sessions.enter(first.url, first.operatorToken(), { role: "orchestrator" });
    const second = await serveToTheEnd(data.path);
    expect(second).toMatchObject({ code: 73, stdout: "" });
    expect(second.stderr).toMatch(/^a2achan: [^\n]+\n$/);
    await client.barrier();
    expect((await first.token(...orchestrator("lead"))).token).toMatch(/^a2t_[A-Za-z0-9]{8}_[A-Za-z0-9_-]{43}$/);
  });

  it("starts once the first has stopped", async () => {
    const first = await start();
    await first.stop();
    const second = await start();
    const { welcome } = await sessions.enter(second.url, second.operatorToken(), { role: "auditor" });
    expect(welcome["type"]).toBe("welcome");
  });
});

describe("a data directory", () => {
  it("starts on what a killed one left behind", async () => {
    const before = await start();
    const token = before.operatorToken();
    before.signal("SIGKILL");
    await before.ended;
    const after = await start();
    const { welcome } = await sessions.enter(after.url, token, { role: "auditor" });
    expect(welcome["type"]).toBe("welcome");
  });

  it("without its operator.token is given another one, and the old one is no token of a log in memory any more", async () => {
    const before = await start("--memory");
    const token = before.operatorToken();
    await before.stop();
    rmSync(`${data.path}/operator.token`);
    const after = await start("--memory");
    expect(after.operatorToken()).not.toBe(token);
    expect(await sessions.refusal(after.url, token)).toBe(401);
  });
});
