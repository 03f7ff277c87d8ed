import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { a2achan, type Ended } from "../support/program.js";
import { EVERYWHERE, Serve, dataDirectory, operatorToken } from "../support/serve.js";
import { admit, publish, statusOf } from "../support/scenes.js";
import { Wire } from "../support/wire.js";

const SECRET = "The password is hunter2.";
const PLAN = "log in with hunter2";

const directory = dataDirectory();
const data = directory.path;
const segment = join(data, "log", "00000000.jsonl");
let broker: Serve;
let worker: Wire;
let correction: string;
let cited: string;

beforeAll(async () => {
  broker = await Serve.start(data);
  const { token } = await broker.token({ role: "worker", subject: "w-1", issue: "**", lane: "**" });
  worker = await Wire.hello(broker.url, token, { role: "worker", worker_id: "w-1" });
  const lead = await broker.token({ role: "orchestrator", subject: "lead", ...EVERYWHERE });
  const orchestrator = await Wire.hello(broker.url, lead.token, { role: "orchestrator" });
  cited = await publish(worker, "read the issue");
  correction = await admit(orchestrator, "w-1", cited, SECRET);
});

afterAll(async () => {
  await broker.kill();
  directory[Symbol.dispose]();
});

async function run(...args: string[]): Promise<Ended> {
  return a2achan(...args, "--data", data).ended;
}

async function verified(): Promise<{ texts: { redacted: number; absent: number }; redecided: Record<string, number> }> {
  const { code, stdout, stderr } = await a2achan("verify", data, "-o", "json").ended;
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  return JSON.parse(stdout) as Awaited<ReturnType<typeof verified>>;
}

/** Index of the entry that plans. */
function planned(): number {
  const lines = readFileSync(segment, "utf8").split("\n");
  return lines.filter((line) => line.startsWith('{"at":')).findIndex((line) => line.includes('"kind":"planned"'));
}

describe("a2achan redact", () => {
  it("keeps the text of an open correction, and of a current row, and says until when", async () => {
    const open = await run("redact", correction);
    expect(open).toMatchObject({ code: 1, stdout: "" });
    expect(open.stderr).toContain("which is open; redact it once that has ended");
    const next_action = { summary: PLAN, reflects: [correction] };
    await worker.ask({ type: "ack", correction_id: correction, status_digest: cited, next_action });
    const current = await run("redact", "--index", String(planned()));
    expect(current).toMatchObject({ code: 1, stdout: "" });
    expect(current.stderr).toContain("stands in the current row of w-1");
    expect(readFileSync(segment, "utf8")).toContain(SECRET);
  });

  it("erases a text through the running broker: it is in no file, no page, no export, and the log still verifies", async () => {
    await worker.ask(statusOf("went on", { next_action: { summary: "stop", reflects: [] } }));
    expect(await run("redact", correction, "-o", "json")).toMatchObject({ code: 0 });
    // The row that the plan made says its summary again: both lines go.
    expect(await run("redact", "--index", String(planned() + 2), "--field", "summary")).toMatchObject({ code: 0 });
    expect(readFileSync(segment, "utf8")).not.toContain("hunter2");
    const auditor = await Wire.hello(broker.url, operatorToken(data), { role: "auditor" });
    const page = await auditor.ask({ type: "log", after: 0 });
    expect(JSON.stringify(page)).not.toContain("hunter2");
    expect(JSON.stringify(page)).toContain("read the issue");
    const story = await run("explain", correction);
    expect(story.stdout).toContain("bytes, redacted by log entry");
    expect(story.stdout).not.toContain("hunter2");
    const { texts, redecided } = await verified();
    expect(texts).toMatchObject({ redacted: 2, absent: 0 });
    expect(redecided["redacted"]).toBe(2);
  });

  it("says that there is nothing left, or was nothing, to redact", async () => {
    expect(await run("redact", correction)).toMatchObject({ code: 1, stdout: "" });
    expect(await run("redact", "--index", "0")).toMatchObject({ code: 1, stdout: "" });
    expect(await run("redact")).toMatchObject({ code: 2, stdout: "" });
  });

  it("does it itself when no broker is alive", async () => {
    await broker.stop();
    const lines = readFileSync(segment, "utf8").split("\n");
    const entries = lines.filter((line) => line.startsWith('{"at":'));
    const first = entries.findIndex((line) => line.includes('"kind":"status"'));
    expect(await run("redact", "--index", String(first))).toMatchObject({ code: 0 });
    expect(readFileSync(segment, "utf8")).not.toContain("read the issue");
    expect((await verified()).texts).toMatchObject({ redacted: 3, absent: 0 });
  });

  it("is finished by the next start where the process ended between entry and erasure", async () => {
    const before = readFileSync(segment, "latin1");
    const entries = before.split("\n").filter((line) => line.startsWith('{"at":'));
    const index = entries.findLastIndex((line) => line.includes('"cause":"published"'));
    broker = await Serve.start(data);
    const { token } = await broker.token({ role: "worker", subject: "w-1", issue: "**", lane: "**" });
    worker = await Wire.hello(broker.url, token, { role: "worker", worker_id: "w-1" });
    await publish(worker, "came again");
    const held = readFileSync(segment, "latin1");
    expect(await run("redact", "--index", String(index), "--field", "last_action")).toMatchObject({ code: 0 });
    await broker.kill();
    const after = readFileSync(segment, "latin1");
    expect(held).toContain("went on");
    expect(after).not.toContain("went on");
    // The entry is there, and the text as it was.
    writeFileSync(segment, held + after.slice(held.length), "latin1");
    expect(readFileSync(segment, "latin1")).toContain("went on");
    broker = await Serve.start(data);
    expect(readFileSync(segment, "latin1")).not.toContain("went on");
    expect((await verified()).texts).toMatchObject({ redacted: 4, absent: 0 });
  });
});
