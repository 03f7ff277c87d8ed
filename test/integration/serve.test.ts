import { chmodSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { AuditedLog } from "../crash/audit.js";
import { a2achan, type Ended } from "../support/program.js";
import { EVERYWHERE, Serve, dataDirectory, operatorToken, serveProgram } from "../support/serve.js";
import { Wire } from "../support/wire.js";

let directory: ReturnType<typeof dataDirectory>;
let data: string;

beforeEach(() => {
  directory = dataDirectory();
  data = directory.path;
});

afterEach(() => directory[Symbol.dispose]());

/** Starts a broker, lets it write a few entries, and stops it in order, so that its head is at the end of its log. */
async function leaveALog(): Promise<void> {
  const broker = await Serve.start(data);
  for (const subject of ["a", "b", "c", "d"]) await broker.token({ role: "orchestrator", subject, ...EVERYWHERE });
  await broker.stop();
}

/** One sentence for a person on stderr, nothing on stdout. */
function expectSentence({ code, stdout, stderr }: Ended, exit: number, sentence: RegExp): void {
  expect(stderr).toMatch(sentence);
  expect(stderr).toMatch(/^a2achan: [^\n]+\n$/);
  expect({ code, stdout }).toEqual({ code: exit, stdout: "" });
}

describe("serve", () => {
  it("refuses a directory that another one serves, by whatever path, with 73, and leaves that one and its files alone", async () => {
    const broker = await Serve.start(data);
    const { token } = await broker.token({ role: "orchestrator", subject: "o", ...EVERYWHERE });
    const wire = await Wire.hello(broker.url, token, { role: "orchestrator" });
    const link = join(data, "..", "link");
    symlinkSync(data, link);
    const segment = join(data, "log", "00000000.jsonl");
    const [before, announced] = [readFileSync(segment), readFileSync(join(data, "broker.json"))];
    for (const path of [data, link]) {
      expectSentence(await serveProgram(path).ended, 73, /another process works on this data directory/);
    }
    expect(readFileSync(segment)).toEqual(before);
    expect(readFileSync(join(data, "broker.json"))).toEqual(announced);
    await wire.barrier();
    expect(await broker.ask({ command: "ping" })).toEqual({});
    expect(await broker.stop()).toMatchObject({ code: 0 });
  });

  it("of two that start on one directory at once lets one serve, and refuses the other with 73", async () => {
    await leaveALog();
    const programs = [serveProgram(data), serveProgram(data)];
    const refused = await Promise.race(programs.map(async (program) => ({ program, ended: await program.ended })));
    expectSentence(refused.ended, 73, /another process works on this data directory/);
    const left = programs.find((program) => program !== refused.program);
    const broker = await Serve.of(left ?? refused.program, data);
    expect(await broker.ask({ command: "ping" })).toEqual({});
    expect(await broker.stop()).toMatchObject({ code: 0, stderr: "" });
  });

  it("keeps the operator's token across starts, and makes another once that one was revoked", async () => {
    await leaveALog();
    const first = operatorToken(data);
    const broker = await Serve.start(data);
    expect(operatorToken(data)).toBe(first);
    await broker.ask({ command: "token_revoke", id: first.slice(4, 12) });
    await broker.stop();
    const again = await Serve.start(data);
    expect(operatorToken(data)).not.toBe(first);
    await expect(Wire.open(again.url, first)).rejects.toThrow("HTTP 401");
    (await Wire.open(again.url, operatorToken(data))).drop();
    expect(await again.stop()).toMatchObject({ code: 0 });
  });

  it("refuses a data directory without a name, with a path too long for a socket, or with loose secrets", async () => {
    expectSentence(await a2achan("serve", "--data", "", "--port", "0").ended, 2, /names no directory/);
    expectSentence(await serveProgram(join(data, "y".repeat(120))).ended, 78, /too long for a socket/);
    rmSync(data, { recursive: true, force: true });
    await leaveALog();
    chmodSync(join(data, "operator.token"), 0o644);
    expectSentence(await serveProgram(data).ended, 78, /operator\.token can be read by others/);
    chmodSync(join(data, "operator.token"), 0o600);
    writeFileSync(join(data, "grants.json"), "{");
    expectSentence(await serveProgram(data).ended, 78, /grants\.json is damaged/);
  });

  it("takes a directory up whose broker was killed", async () => {
    await (await Serve.start(data)).kill();
    const broker = await Serve.start(data);
    expect(await broker.stop()).toMatchObject({ code: 0, stderr: "" });
  });

  it("says loudly that nothing lasts with --memory, and nothing does", async () => {
    const broker = await Serve.start(data, "--memory");
    const { id } = await broker.token({ role: "auditor", subject: "auditor" });
    const { stderr } = await broker.stop();
    expect(stderr).toContain("nothing lasts");
    const program = a2achan("serve", "--data", data, "--port", "0", "--memory", "-o", "table");
    expect(await program.line()).toContain("NOTHING LASTS beyond this process");
    program.signal("SIGTERM");
    await program.ended;
    const after = await Serve.start(data);
    expect(await after.ask({ command: "token_list" })).not.toContainEqual(expect.objectContaining({ id }));
    await after.stop();
  });

  it("refuses a log with a flipped byte below its head, with 1 and one sentence that names the entry", async () => {
    await leaveALog();
    const segment = join(data, "log", "00000000.jsonl");
    const whole = readFileSync(segment);
    const lines = whole.toString("latin1").split("\n");
    const flipped = lines.findIndex((line) => line.includes(`"index":4,`));
    const batch = JSON.parse(lines.slice(flipped).find((line) => line.startsWith(`{"batch":`)) ?? "") as {
      batch: { first: number };
    };
    const at = whole.indexOf(`"index":4,`) - 20;
    whole[at] = (whole[at] ?? 0) ^ 1;
    writeFileSync(segment, whole);
    const ended = await serveProgram(data).ended;
    expectSentence(ended, 1, new RegExp(`the log is damaged at entry ${batch.batch.first}:`));
    expect(readFileSync(segment)).toEqual(whole);
  });

  it("sets a tail aside that was never durable, says so, and writes it down", async () => {
    await leaveALog();
    const segment = join(data, "log", "00000000.jsonl");
    const whole = readFileSync(segment);
    writeFileSync(segment, Buffer.concat([whole, Buffer.from(`{"at":1,"by":{"role":"br`)]));
    const broker = await Serve.start(data);
    const log = await AuditedLog.read(broker.url, operatorToken(data));
    const started = log.lines.findLast((line) => line.includes(`"kind":"broker_started"`)) ?? "";
    const { torn } = JSON.parse(started) as { torn: { file: string; bytes: number } };
    expect(torn.bytes).toBe(24);
    expect(readFileSync(join(data, "log", torn.file), "utf8")).toBe(`{"at":1,"by":{"role":"br`);
    expect((await broker.stop()).stderr).toContain("set aside");
  });

  it("refuses a log whose id key is missing, or can be read by others, with 78", async () => {
    await leaveALog();
    const key = join(data, "keys", "id.key");
    chmodSync(key, 0o644);
    expectSentence(await serveProgram(data).ended, 78, /can be read by others/);
    rmSync(key);
    expectSentence(await serveProgram(data).ended, 78, /id\.key is missing/);
  });

  it.each([
    ["id.key", /key of correction ids is not the one of this log/],
    ["log.key", /key of checkpoints is not the one of this log/],
  ])("refuses a log with another %s, with 78, and leaves it as it was [A2C-PRV-10]", async (name, sentence) => {
    await leaveALog();
    const segment = join(data, "log", "00000000.jsonl");
    const before = readFileSync(segment);
    writeFileSync(join(data, "keys", name), `${"ab".repeat(32)}\n`);
    expectSentence(await serveProgram(data).ended, 78, sentence);
    expect(readFileSync(segment)).toEqual(before);
  });

  it("shows its log's tiles to everybody with --public-log, and without it to auditors [A2C-PRV-09]", async () => {
    for (const [flags, status] of [
      [["--public-log"], 200],
      [[], 401],
    ] as const) {
      const broker = await Serve.start(data, ...flags);
      expect((await fetch(`${broker.http}/log/checkpoint`)).status).toBe(status);
      await broker.stop();
    }
  });

  it("refuses to listen beyond loopback without TLS, with 78", async () => {
    expectSentence(await serveProgram(data, "--host", "0.0.0.0").ended, 78, /is not loopback/);
  });
});

describe("token add", () => {
  const orchestrator = ["--role", "orchestrator", "--subject", "o", "--worker", "**", "--issue", "**", "--lane", "**"];

  it("works with no broker alive, and the token works once one is", async () => {
    await leaveALog();
    const { code, stdout } = await a2achan("token", "add", "--data", data, "-o", "json", ...orchestrator).ended;
    expect(code).toBe(0);
    const { token } = JSON.parse(stdout) as { token: string };
    const broker = await Serve.start(data);
    const wire = await Wire.hello(broker.url, token, { role: "orchestrator" });
    expect(wire.welcome).toMatchObject({ principal: { role: "orchestrator", subject: "o" } });
    await broker.stop();
  });

  it("works at once beside a running broker", async () => {
    const broker = await Serve.start(data);
    const { stdout } = await a2achan("token", "add", "--data", data, ...orchestrator).ended;
    const wire = await Wire.hello(broker.url, stdout.trim(), { role: "orchestrator" });
    expect(wire.welcome).toMatchObject({ principal: { subject: "o" } });
    await broker.stop();
  });
});

describe("log", () => {
  it("names the entry at which a log is damaged or cut below its head, with 1", async () => {
    await leaveALog();
    const segment = join(data, "log", "00000000.jsonl");
    const whole = readFileSync(segment);
    const flipped = Buffer.from(whole);
    flipped[whole.indexOf('"subject":"b"') + 11] = 0x7a;
    for (const bytes of [flipped, whole.subarray(0, whole.length - 40)]) {
      writeFileSync(segment, bytes);
      const { code, stderr } = await a2achan("log", "--data", data).ended;
      expect(stderr).toMatch(/^a2achan: the log is damaged at entry \d+: [^\n]+\n$/);
      expect(code).toBe(1);
    }
    writeFileSync(segment, whole);
    expect(await a2achan("log", "--data", data).ended).toMatchObject({ code: 0, stderr: "" });
  });
});
