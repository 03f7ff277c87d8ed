import { spawnSync } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Program, a2achan, builtProgram, type Ended } from "../support/program.js";
import { admit, publish, statusOf } from "../support/scenes.js";
import { EVERYWHERE, Serve, dataDirectory, operatorToken } from "../support/serve.js";
import { Wire } from "../support/wire.js";

const directory = dataDirectory();
const data = directory.path;
let broker: Serve;
let worker: Wire;
let leadFile: string;
let lead: Wire;

beforeAll(async () => {
  broker = await Serve.start(data);
  worker = await workerOf("w-1");
  const { token } = await broker.token({ role: "orchestrator", subject: "lead", ...EVERYWHERE });
  leadFile = join(directory.path, "lead.token");
  writeFileSync(leadFile, `${token}\n`);
  lead = await Wire.hello(broker.url, token, { role: "orchestrator" });
});

afterAll(async () => {
  await broker.kill();
  directory[Symbol.dispose]();
});

async function workerOf(id: string): Promise<Wire> {
  const { token } = await broker.token({ role: "worker", subject: id, issue: "**", lane: "**" });
  return Wire.hello(broker.url, token, { role: "worker", worker_id: id });
}

/** Runs a command as the operator of the broker. */
function run(...args: string[]): Promise<Ended> {
  return a2achan(...args, "--data", data).ended;
}

/** Runs a command as the orchestrator `lead`. */
function runAsLead(...args: string[]): Promise<Ended> {
  return a2achan(...args, "--url", broker.url, "--token-file", leadFile).ended;
}

/** Takes the next correction of `w-1` and answers it as `plan` says. */
async function take(plan: (id: string, digest: string) => Record<string, unknown>): Promise<void> {
  const { correction } = await worker.push(({ type }) => type === "correction");
  const { correction_id, status_digest } = correction as { correction_id: string; status_digest: string };
  await worker.ask({ type: "receive", correction_id });
  await worker.ask({ type: "ack", correction_id, status_digest, ...plan(correction_id, status_digest) });
}

let counter = 0;
const fresh = (): string => `did thing ${(counter += 1)}`;

describe("workers and get", () => {
  it("list the workers and show one, for people and for programs", async () => {
    const digest = await publish(worker, "ran the tests", { next_action: { summary: "fix the parser" } });
    const table = await run("workers");
    expect(table.code).toBe(0);
    expect(table.stdout).toMatch(
      /^WORKER +STATE +ISSUE +LANE +SEQ +OPEN +NEXT ACTION\nw-1 +live +2162 +src\/parser +\d+ +0 +fix the parser\n$/,
    );
    const [view] = JSON.parse((await run("workers", "-o", "json")).stdout) as unknown[];
    expect(view).toMatchObject({ row: { worker_id: "w-1" }, status_digest: digest, liveness: "live" });
    expect(JSON.parse((await run("get", "w-1", "-o", "jsonl")).stdout)).toEqual(view);
    const shown = await run("get", "w-1");
    expect(shown.stdout).toMatch(/^worker +w-1$/m);
    expect(shown.stdout).toContain(`digest       ${digest}\n`);
  });

  it("filter by worker, issue, lane and life", async () => {
    const ids = async (...flags: string[]): Promise<string[]> => {
      const { stdout } = await run("workers", "-o", "jsonl", ...flags);
      return stdout
        .split("\n")
        .flatMap((line) => (line === "" ? [] : [(JSON.parse(line) as { row: { worker_id: string } }).row.worker_id]));
    };
    expect(await ids("--worker", "w-*", "--issue", "2162", "--lane", "src/**", "--live")).toEqual(["w-1"]);
    expect(await ids("--worker", "x-*")).toEqual([]);
    expect(await ids("--lane", "my docs")).toEqual([]);
  });

  it("say that a worker has no row, with 3 and the command that tells who is there", async () => {
    const { code, stdout, stderr } = await run("get", "nobody");
    expect({ code, stdout }).toEqual({ code: 3, stdout: "" });
    expect(stderr).toMatch(/^a2achan: nobody has no row [^\n]*a2achan workers\n$/);
  });

  it("print with --watch one change a line, as jsonl, where there is no screen", async () => {
    const watching = a2achan("workers", "--watch", "--data", data);
    const seq = async (): Promise<number> => (JSON.parse(await watching.line()) as { row: { seq: number } }).row.seq;
    const first = await seq();
    await publish(worker, fresh());
    expect(await seq()).toBe(first + 1);
    watching.signal("SIGINT");
    await watching.ended;
    expect(await run("workers", "--watch", "-o", "table")).toMatchObject({ code: 2, stdout: "" });
  });
});

describe("correct", () => {
  it("sends for the row that was read and waits for its end, stage by stage: 0 when it was witnessed", async () => {
    const digest = await publish(worker, fresh());
    const took = take((id) => ({ next_action: { summary: "as told", reflects: [id] } }));
    const { code, stdout } = await run("correct", "w-1", "Keep the tokenizer.", "--digest", digest, "--wait");
    await took;
    expect(stdout.split("\n").map((line) => line.split(" ")[0])).toEqual([
      "ADMITTED",
      "DELIVERED",
      "ACKED",
      "WITNESSED",
      "",
    ]);
    expect(code).toBe(0);
  });

  it("ends with 5 when another end came, and with 6 when the time was over", async () => {
    const digest = await publish(worker, fresh());
    const took = take((id) => ({ next_action: { summary: `not what ${id} says`, reflects: [] } }));
    const other = await run("correct", "w-1", "Stop.", "--digest", digest, "--wait", "30s", "-o", "jsonl");
    await took;
    expect(other.code).toBe(5);
    const lines = other.stdout
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line) as Record<string, unknown>);
    expect(lines[0]).toMatchObject({ verdict: "ALLOW", sent: true });
    expect(lines.map(({ stage }) => stage)).toEqual(["ADMITTED", "ADMITTED", "DELIVERED", "ACKED", "UNREFLECTED"]);
    const now = await publish(worker, fresh());
    const late = await run("correct", "w-1", "Stop, please.", "--digest", now, "--wait", "1s", "-o", "json");
    expect(late.code).toBe(6);
    expect(JSON.parse(late.stdout)).toMatchObject({ stages: [{ stage: "ADMITTED" }] });
    expect(late.stderr).toMatch(/still ADMITTED; look later: a2achan stage corr_/);
  });

  it("cites exactly the digest given: the broker refuses an old one with 3, and what moved is told", async () => {
    const old = await publish(worker, "was here", { next_action: { summary: "go left" } });
    await publish(worker, "is there", { next_action: { summary: "go right" } });
    const { code, stdout, stderr } = await run("correct", "w-1", "Turn.", "--digest", old);
    expect({ code, stdout }).toEqual({ code: 3, stdout: "" });
    expect(stderr).toContain("refused with UNWITNESSED/DIGEST");
    expect(stderr).toMatch(/^MOVED +CITED +NOW$/m);
    expect(stderr).toMatch(/^last_action +was here +is there$/m);
    expect(stderr).toMatch(/^next_action +go left +go right$/m);
    expect(stderr).toMatch(/^next: a2achan get w-1 /m);
    expect(stderr).not.toContain("sha256:");
    const refused = await run("log", "--reason", "UNWITNESSED", "-o", "jsonl");
    expect(refused.stdout).toContain(old);
  });

  it("tells what moved since a row that an ack had planned, whose texts lie with earlier entries", async () => {
    const first = await publish(worker, "came by ack");
    const took = take((id) => ({ next_action: { summary: "planned by ack", reflects: [id] } }));
    await run("correct", "w-1", "Plan.", "--digest", first, "--wait");
    await took;
    const { status_digest } = JSON.parse((await run("get", "w-1", "-o", "json")).stdout) as { status_digest: string };
    await publish(worker, "went on", { next_action: { summary: "go on", reflects: [] } });
    const { stderr } = await run("correct", "w-1", "Turn.", "--digest", status_digest);
    expect(stderr).toMatch(/^next_action +planned by ack +go on$/m);
  });

  it("tells who may not read the log that what moved is not known, and gives the row only to programs", async () => {
    const old = await publish(worker, fresh());
    await publish(worker, fresh());
    const { code, stdout, stderr } = await runAsLead("correct", "w-1", "Turn.", "--digest", old, "-o", "json");
    expect(code).toBe(3);
    expect(stderr).toContain("What moved is not known");
    expect(JSON.parse(stdout)).toMatchObject({
      verdict: "DENY",
      detail: "DIGEST",
      moved: [],
      current: { worker_id: "w-1" },
    });
  });

  it("names issue, task and lane as it is told, and as in the row where it is not", async () => {
    const digest = await publish(worker, fresh());
    const { code, stderr } = await run("correct", "w-1", "Stay.", "--digest", digest, "--lane", "src/lexer");
    expect(code).toBe(3);
    expect(stderr).toContain("refused with TRUST_VIOLATION/SCOPE");
    expect(stderr).toContain("You named lane src/lexer; in the row it is src/parser.");
  });

  it("passes on ttl, priority, freshness and what it supersedes", async () => {
    const digest = await publish(worker, fresh());
    const sent = async (...flags: string[]): Promise<Record<string, unknown>> => {
      const { stdout } = await run("correct", "w-1", fresh(), "--digest", digest, "-o", "json", ...flags);
      const { correction_id } = JSON.parse(stdout) as { correction_id: string };
      const { correction } = await worker.push(
        ({ type, correction: one }) =>
          type === "correction" && (one as { correction_id: string }).correction_id === correction_id,
      );
      return correction as Record<string, unknown>;
    };
    const first = await sent("--ttl", "30s", "--freshness", "exact");
    expect(first).toMatchObject({ ttl_ms: 30_000, freshness: "exact" });
    expect(first["priority"]).toBeUndefined();
    const second = await sent("--halt", "--supersedes", String(first["correction_id"]));
    expect(second).toMatchObject({ priority: "halt", supersedes: first["correction_id"] });
    expect(await sent("--priority", "halt")).toMatchObject({ priority: "halt" });
  });

  it("makes a fresh key a call; the same call with the same key is sent once, and not sent says so with 5", async () => {
    const digest = await publish(worker, fresh());
    const call = ["correct", "w-1", "Once.", "--digest", digest, "--key", "mine", "-o", "json"];
    const first = JSON.parse((await run(...call)).stdout) as { correction_id: string; key: string };
    expect(first.key).toBe("mine");
    const again = await run(...call);
    expect(again.code).toBe(0);
    expect(JSON.parse(again.stdout)).toMatchObject({ correction_id: first.correction_id, replayed: true, sent: true });
    expect(await run("withdraw", first.correction_id)).toMatchObject({ code: 0 });
    const ended = await run(...call);
    expect(ended.code).toBe(5);
    expect(ended.stderr).toContain("not sent");
    expect(JSON.parse(ended.stdout)).toMatchObject({ stage: "WITHDRAWN", sent: false });
    const other = JSON.parse((await run(...call.slice(0, 5), "-o", "json")).stdout) as { correction_id: string };
    expect(other.correction_id).not.toBe(first.correction_id);
    await run("withdraw", other.correction_id);
  });

  it("wants --digest where there is no terminal to ask at, with 2, and knows no --yes", async () => {
    const { code, stderr } = await run("correct", "w-1", "Stay.");
    expect(code).toBe(2);
    expect(stderr).toMatch(/needs --digest[^\n]*a2achan get w-1\n$/);
    expect(await run("correct", "w-1", "Stay.", "--yes")).toMatchObject({ code: 2 });
    expect(await run("correct", "w-1", "Stay.", "--digest", "latest")).toMatchObject({ code: 2 });
  });
});

describe("stage and withdraw", () => {
  it("tell where a correction stands and take it back while nobody has it", async () => {
    const digest = await publish(worker, fresh());
    const id = await admit(lead, "w-1", digest, fresh());
    expect(await runAsLead("stage", id)).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/^ADMITTED /) as string,
    });
    expect(await runAsLead("withdraw", id)).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/^WITHDRAWN /) as string,
    });
    expect(JSON.parse((await runAsLead("stage", id, "-o", "json")).stdout)).toMatchObject({
      correction_id: id,
      stage: "WITHDRAWN",
    });
  });

  it("do not take back what the worker has, with 3 and what can be done", async () => {
    const digest = await publish(worker, fresh());
    const id = await admit(lead, "w-1", digest, fresh());
    await worker.ask({ type: "receive", correction_id: id });
    const { code, stdout, stderr } = await runAsLead("withdraw", id);
    expect(code).toBe(3);
    expect(stdout).toMatch(/^DELIVERED /);
    expect(stderr).toContain(`a2achan correct w-1 MESSAGE --supersedes ${id}`);
    await worker.ask(statusOf("done", { next_action: { summary: "another", reflects: [] } }));
  });

  it("know no correction of others, with 3, and no id that is none, with 2", async () => {
    const digest = await publish(worker, fresh());
    const id = await admit(lead, "w-1", digest, fresh());
    expect(await run("stage", id)).toMatchObject({ code: 3, stdout: "" });
    expect(await run("stage", "corr_0")).toMatchObject({ code: 2, stdout: "" });
    await runAsLead("withdraw", id);
  });
});

describe("status", () => {
  it("says where the broker is, who is live and what is open", async () => {
    const digest = await publish(worker, fresh());
    const id = await admit(lead, "w-1", digest, fresh());
    const { code, stdout } = await run("status");
    expect(code).toBe(0);
    expect(stdout).toContain(broker.url);
    expect(stdout).toMatch(/^process +\d+, a2achan \d/m);
    expect(stdout).toMatch(/^w-1 +live /m);
    expect(stdout).toMatch(new RegExp(`^${id} +ADMITTED +\\S.* w-1 +lead$`, "m"));
    const remote = JSON.parse((await runAsLead("status", "-o", "json")).stdout) as Record<string, unknown>;
    expect(remote).toMatchObject({ running: true, url: broker.url });
    expect(remote["local"]).toBeUndefined();
    await runAsLead("withdraw", id);
  });

  it("says that none is there and how to start one, as its answer, with 1", async () => {
    using other = dataDirectory();
    const nowhere = await a2achan("status", "--data", other.path).ended;
    expect(nowhere).toMatchObject({ code: 1, stderr: "" });
    expect(nowhere.stdout).toContain(`a2achan serve --data ${other.path}`);
    const killed = await Serve.start(other.path);
    await killed.kill();
    const { code, stdout } = await a2achan("status", "--data", other.path, "-o", "json").ended;
    expect(code).toBe(1);
    expect(JSON.parse(stdout)).toMatchObject({ running: false });
    const url = ["--url", killed.url, "--token-file", join(other.path, "operator.token")];
    expect(await a2achan("status", ...url).ended).toMatchObject({ code: 1, stderr: "" });
  });
});

describe("a command", () => {
  const sentence = /^a2achan: [^\n]+\n$/;

  it("tells a token that is not accepted, or of another role, with 4", async () => {
    const file = join(data, "other.token");
    writeFileSync(file, `a2t_AAAAAAAA_${"A".repeat(43)}\n`);
    const { token } = await broker.token({ role: "auditor", subject: "auditor" });
    const unknown = await a2achan("workers", "--url", broker.url, "--token-file", file).ended;
    expect(unknown).toMatchObject({ code: 4, stdout: "", stderr: expect.stringMatching(sentence) as string });
    expect(unknown.stderr).toContain(file);
    writeFileSync(file, token);
    const wrong = await a2achan("workers", "--url", broker.url, "--token-file", file).ended;
    expect(wrong).toMatchObject({ code: 4, stdout: "", stderr: expect.stringMatching(sentence) as string });
  });

  it("ends quietly with 0 when nobody reads what it prints", () => {
    for (const command of ["workers -o jsonl", "status", "completion bash"]) {
      const script = `"$0" "$1" ${command} --data "$2" | true; echo "\${PIPESTATUS[0]}"`;
      const args = ["-c", command.startsWith("completion") ? script.replace(`--data "$2"`, "") : script];
      const { stdout, stderr } = spawnSync("bash", [...args, process.execPath, builtProgram(), data], {
        encoding: "utf8",
      });
      expect({ stdout, stderr }).toEqual({ stdout: "0\n", stderr: "" });
    }
  });

  it("takes the URL and the token from the environment, and keeps the token out of what it prints", async () => {
    const token = operatorToken(data);
    const env = { ...process.env, A2ACHAN_URL: broker.url, A2ACHAN_TOKEN: token };
    expect(await new Program([builtProgram(), "workers"], { env }).ended).toMatchObject({ code: 0 });
    const down = { ...env, A2ACHAN_URL: "ws://127.0.0.1:1/v1" };
    const { code, stderr } = await new Program([builtProgram(), "workers"], { env: down }).ended;
    expect(code).toBe(1);
    expect(stderr).toMatch(sentence);
    expect(stderr).not.toContain(token);
  });

  it("tells a data directory that is a file, holds no data or is not to be read, in one sentence", async () => {
    using other = dataDirectory();
    mkdirSync(other.path);
    const file = join(other.path, "file");
    writeFileSync(file, "");
    const wrong = [
      [78, "log", file],
      [78, "workers", file],
      [1, "workers", other.path],
      [1, "status", join(file, "below")],
    ] as const;
    const ended = await Promise.all(wrong.map(([, command, path]) => a2achan(command, "--data", path).ended));
    expect(ended.map(({ code }) => code)).toEqual(wrong.map(([code]) => code));
    for (const { stdout, stderr } of ended.slice(0, 3)) {
      expect(stdout).toBe("");
      expect(stderr).toMatch(sentence);
    }
    const below = await a2achan("serve", "--data", join(file, "below"), "--port", "0").ended;
    expect(below).toMatchObject({ code: 78, stdout: "", stderr: expect.stringMatching(sentence) as string });
    expect(below.stderr).toContain("not a directory; choose another with --data");
  });

  it("reads the log of a copy without keys, and makes none for it", async () => {
    using other = dataDirectory();
    const served = await Serve.start(other.path);
    await served.stop();
    const keys = join(other.path, "keys");
    rmSync(keys, { recursive: true });
    const read = await a2achan("log", "--data", other.path).ended;
    expect([read.code, read.stderr]).toEqual([0, ""]);
    expect(read.stdout).toContain("broker_stopped");
    for (const command of [
      ["export", join(other.path, "out.jsonl")],
      ["token", "add", "--role", "auditor", "--subject", "a"],
    ]) {
      const { code, stderr } = await a2achan(...command, "--data", other.path).ended;
      expect([code, stderr]).toEqual([78, expect.stringMatching(sentence)]);
      expect(stderr).toContain(".key is missing, and the log's ");
    }
    expect(existsSync(keys)).toBe(false);
  });

  it.skipIf(process.getuid?.() === 0)("tells a directory that may not be written", async () => {
    using other = dataDirectory();
    mkdirSync(other.path);
    chmodSync(other.path, 0o500);
    const ended = await a2achan("serve", "--data", other.path, "--port", "0").ended;
    expect(ended).toMatchObject({ code: 78, stdout: "", stderr: expect.stringMatching(/may not write to/) as string });
  });
});

describe("token list", () => {
  it("with no broker running reads the log, and adds nothing to it", async () => {
    using other = dataDirectory();
    const served = await Serve.start(other.path);
    const { id } = await served.token({ role: "worker", subject: "w-1", issue: "**", lane: "**" });
    await served.kill();
    const log = join(other.path, "log", "00000000.jsonl");
    const before = readFileSync(log, "utf8");
    const { stdout } = await a2achan("token", "list", "--data", other.path, "-o", "json").ended;
    const listed = JSON.parse(stdout) as { id: string; state: string; subject: string }[];
    expect(listed.map(({ subject, state }) => [subject, state])).toEqual([
      ["operator", "valid"],
      ["w-1", "valid"],
    ]);
    expect(listed[1]?.id).toBe(id);
    expect(readFileSync(log, "utf8")).toBe(before);
  });

  it("says that a token is lost whose hash is gone, and serve gives the operator's back its own", async () => {
    using other = dataDirectory();
    const first = await Serve.start(other.path);
    await first.token({ role: "orchestrator", subject: "lead", ...EVERYWHERE });
    await first.stop();
    rmSync(join(other.path, "grants.json"));
    const again = await Serve.start(other.path);
    const { stdout } = await a2achan("token", "list", "--data", other.path, "-o", "json").ended;
    const states = (JSON.parse(stdout) as { subject: string; state: string }[]).map(({ subject, state }) => [
      subject,
      state,
    ]);
    expect(states).toEqual([
      ["operator", "valid"],
      ["lead", "lost"],
    ]);
    expect(await a2achan("workers", "--data", other.path).ended).toMatchObject({ code: 0 });
    await again.stop();
  });
});
