import { spawnSync } from "node:child_process";
import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { collectImports } from "./support/imports.js";
import { Program, builtProgram, type Ended } from "./support/program.js";
import { ScriptedBroker, type Script } from "./support/scripted-broker.js";
import { projectRoot } from "./support/source-files.js";

const root = join(projectRoot, "examples");
const hasPython = spawnSync("python3", ["--version"]).status === 0;
if (!hasPython) console.warn("python3 is not installed: the examples in Python are not run");
const IN_PYTHON = ["python-worker", "python-audit"];

/** What each example prints when all is well; where several programs speak, the order between them is left open. */
const LINES: Readonly<Record<string, readonly string[]>> = {
  quickstart: [
    "worker: plans to rewrite the tokenizer, and waits for corrections",
    "lead: coder plans to rewrite the tokenizer",
    'worker: told "Keep the tokenizer; fix the off-by-one."',
    "lead: ADMITTED",
    "lead: DELIVERED",
    "lead: ACKED",
    "lead: WITNESSED",
    "The three programs ended well: the correction was WITNESSED.",
  ],
  "stale-citation": [
    "eager still needs it:",
    "  refused with UNWITNESSED/DIGEST; since seq 1 moved:",
    "    seq: 1 -> 2",
    '    next_action: {"summary":"rewrite the tokenizer","reflects":[]} -> {"summary":"rewrite the tokenizer and the lexer","reflects":[]}',
    "  admitted, citing seq 2",
    "  eager is told: Leave the tokenizer and the lexer; fix the off-by-one.",
    "  WITNESSED",
    "wise has found out by itself:",
    '    next_action: {"summary":"rewrite the tokenizer","reflects":[]} -> {"summary":"fix the off-by-one","reflects":[]}',
    "  not needed any more: nothing is sent",
  ],
  "agent-loop": [
    "coder does: sketch a new tokenizer",
    "lead, meanwhile: Keep the tokenizer; fix the off-by-one.",
    "lead, meanwhile: Push to main when you are done.",
    "coder does: fix the off-by-one",
    "Keep the tokenizer; fix the off-by-one.",
    "the two corrections ended WITNESSED and DECLINED",
  ],
  fleet: [
    "w00 pkg/0",
    "w03 pkg/0 told",
    "w03 pkg/3 WITNESSED",
    "w10 pkg/2 WITNESSED",
    "w17 pkg/1 WITNESSED",
    "w24 pkg/0 WITNESSED",
    "w31 pkg/3 WITNESSED",
    "w38 pkg/2 WITNESSED",
    "w45 pkg/1 WITNESSED",
    "w49 pkg/1",
    "50 workers; those told to move: w03 w10 w17 w24 w31 w38 w45",
  ],
  "embed-a-broker": [
    "readyz says 200",
    "lead sees coder",
    "the correction ended WITNESSED",
    "writer's token is revoked, and its connection closed",
    "the broker has stopped; nothing listens any more",
  ],
  "python-worker": [
    "published sha256:5f0509edfed37b74d9dd1f2f3cc50c4c7a4b32271d599e81e158ce11582e2045",
    "told: Keep the tokenizer; fix the off-by-one.",
    "WITNESSED",
    "lead was told ADMITTED, DELIVERED, ACKED, WITNESSED",
  ],
  "watchful-auditor": [
    "A correction is WITNESSED:",
    "  auditor: all is well: 15 entries, as signed",
    "  auditor: all is well: 27 entries, as signed",
    "  auditor: ALARM: The log has 17 entries and had 27: it was rolled back. Keep both checkpoints as evidence and ask the log's operator.",
    "  auditor: ALARM: The log does not prove that it still begins with the 27 entries it had. Keep both checkpoints as evidence and ask the log's operator.",
    "  auditor: ALARM: The first 37 entries do not make the root of their checkpoint. Keep both checkpoints as evidence and ask the log's operator.",
    "Each lie was found.",
  ],
  "python-audit": [
    "entries: 18, each in its place; none is missing of 1 workers",
    "checkpoints: 2 have its root, signed with the key given",
    "texts: 3 match, 2 redacted, 0 not in this export",
    "status digests: 2 computed again, 1 not, since a text of the row is gone",
    "a byte of a row             entry 14: its status_digest is not that of its row",
    "a blank between two fields  entry 14: it is not in its RFC 8785 form",
    "a later time                entry 14: from there to entry 17 something is not what checkpoint signs",
    "an earlier time             entry 17: its time is before that of the entry before it",
    "two entries swapped         entry 10: it calls itself entry 11",
    "an entry deleted            entry 10: it calls itself entry 11",
    "and the rest numbered anew  entry 10: it is entry 5 of worker 'coder', which has 3 before it",
    "an entry twice              entry 11: it calls itself entry 10",
    "an entry added              entry 18: no checkpoint reaches it",
    "the end cut off             entry 17: the log ends here, but checkpoint signs 18 entries",
    "a text                      entry 11: its summary is not the text that it commits to",
    "a text taken out            entry 11: its summary is withheld: the text is not there, and no entry redacts it",
    "the signature               entry 0: the signature on checkpoint does not hold",
  ],
};

const folders = readdirSync(root, { withFileTypes: true })
  .filter((entry) => entry.isDirectory())
  .map(({ name }) => name);

function run(file: string, env: NodeJS.ProcessEnv = {}): Program {
  builtProgram();
  return new Program(["--import", "tsx", join(root, file)], { env: { ...process.env, ...env } });
}

// Each example bounds itself, within a minute; the test's own limit only guards that.
describe.concurrent("the examples", { timeout: 90_000 }, () => {
  it.for(Object.keys(LINES).filter((name) => hasPython || !IN_PYTHON.includes(name)))(
    "%s does what it tells",
    async (name, { expect }) => {
      const { code, stdout, stderr } = await run(`${name}/main.ts`).ended;
      expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
      const said = stdout.split("\n");
      expect(LINES[name]?.filter((line) => !said.includes(line))).toEqual([]);
    },
  );
});

describe("the folder examples", () => {
  it("has an example in each folder, which is run above, and listed with one line", () => {
    const index = readFileSync(join(root, "README.md"), "utf8");
    const listed = [...index.matchAll(/^- \[([\w-]+)\]\(\1\/README\.md\): .+$/gm)].map(([, name = ""]) => name);
    expect(listed.toSorted()).toEqual(folders.toSorted());
    expect(Object.keys(LINES).toSorted()).toEqual(folders.toSorted());
  });

  it.each(folders)("says in %s how to run it, in one command from a fresh clone", (name) => {
    const readme = readFileSync(join(root, name, "README.md"), "utf8");
    expect(readme).toContain(`\n\`\`\`sh\nnpx tsx examples/${name}/main.ts\n\`\`\`\n`);
  });

  it("imports what a user can: the package by its names, Node, and its own files", () => {
    const imports = folders.flatMap((name) =>
      readdirSync(join(root, name))
        .filter((file) => file.endsWith(".ts"))
        .flatMap((file) => collectImports(file, readFileSync(join(root, name, file), "utf8"))),
    );
    const others = imports.map(({ specifier }) => specifier).filter((name) => !/^(node:|\.\/)/.test(name));
    expect([...new Set(others)].toSorted()).toEqual(["a2achan", "a2achan/client"]);
  });

  it.each([
    ["python-worker/worker.py", 100],
    ["python-audit/check.py", 150],
    ["watchful-auditor/auditor.ts", 60],
  ])("has %s in at most %i lines", (file, most) => {
    expect(readFileSync(join(root, file), "utf8").trimEnd().split("\n").length).toBeLessThanOrEqual(most);
  });
});

/** A row as the broker would show it to the example's orchestrator. */
const ROW = {
  schema: "a2achan.worker-status.v1",
  worker_id: "coder",
  issue: "2162",
  lane: "src/parser",
  live: true,
  seq: 1,
  next_action: { summary: "rewrite the tokenizer", reflects: [] },
};
const ID = `corr_${"0".repeat(32)}`;
const ZEROS = `sha256:${"0".repeat(64)}`;
const PYTHON_DIGEST = "sha256:5f0509edfed37b74d9dd1f2f3cc50c4c7a4b32271d599e81e158ce11582e2045";

/** Runs one program of an example against a broker that says what the test says; resolves with how it ended. */
async function against(
  start: (env: NodeJS.ProcessEnv) => Program,
  role: string,
  script: (script: Script) => Promise<void>,
): Promise<Ended> {
  const broker = await ScriptedBroker.start();
  try {
    using program = start({ A2ACHAN_URL: broker.url, A2ACHAN_TOKEN: "secret" });
    const connection = await broker.accept();
    await connection.welcome(role);
    await script(connection);
    return await program.ended;
  } finally {
    await broker.stop();
  }
}

/** Answers `status` and pushes a correction that is received; resolves with the `ack`. */
async function correctWorker(script: Script, status_digest: string): Promise<Record<string, unknown>> {
  const { id, issue, lane, next_action } = await script.next();
  const row = { ...ROW, issue, lane, next_action: { reflects: [], ...(next_action as object) } };
  script.send({ type: "row", id, row, status_digest, changed: true, pending: 0, outcomes: [] });
  const content = { worker_id: "coder", issue, lane, message: "Do.", status_digest, orchestrator_id: "lead" };
  script.send({
    type: "correction",
    correction: { ...content, correction_id: ID, admitted_at: 1, expires_at: 2 },
    attempt: 1,
    redelivered: false,
    stale_context: false,
    written_at_seq: 1,
    age_ms: 0,
    backlog: 0,
  });
  const receive = await script.next();
  script.send(stage("DELIVERED", { id: receive["id"] }));
  return script.next();
}

function stage(name: string, fields: Record<string, unknown>): Record<string, unknown> {
  return { type: "stage", correction_id: ID, worker_id: "coder", stage: name, index: 9, at: 1, ...fields };
}

describe("against a broker that tells another story", () => {
  it("the quickstart's worker fails when its ack does not end WITNESSED", async () => {
    const ended = await against(
      (env) => run("quickstart/worker.ts", env),
      "worker",
      async (script) => {
        const ack = await correctWorker(script, ZEROS);
        script.send(stage("UNREFLECTED", { id: ack["id"] }));
      },
    );
    expect(ended.code).toBe(1);
    expect(ended.stderr).toContain("+ 'UNREFLECTED'\n- 'WITNESSED'");
  });

  it("the quickstart's orchestrator fails when its correction ends otherwise", async () => {
    const ended = await against(
      (env) => run("quickstart/orchestrator.ts", env),
      "orchestrator",
      async (script) => {
        const watch = await script.next();
        const view = { row: ROW, status_digest: ZEROS, liveness: "live", inbox: "open", pending: 0, lease_ms: 60_000 };
        script.send({ type: "rows", id: watch["id"], rows: [view], cursor: "log.10", done: true });
        const { id } = await script.next();
        const receipt = { verdict: "ALLOW", correction_id: ID, stage: "ADMITTED", index: 7, bytes: 39 };
        script.send({ type: "receipt", id, ...receipt, expires_at: 2, deliverable: true });
        script.send(stage("DECLINED", { cursor: "log.11" }));
      },
    );
    expect(ended.code).toBe(1);
    expect(ended.stderr).toContain("'DECLINED'");
  });

  const python = (env: NodeJS.ProcessEnv): Program =>
    new Program([join(root, "python-worker/worker.py")], { command: "python3", env: { ...process.env, ...env } });

  it.skipIf(!hasPython)("the worker in Python answers pings, and fails when the digest is not its own", async () => {
    const ended = await against(python, "worker", async (script) => {
      await script.ping();
      const { id } = await script.next();
      const rest = { row: ROW, changed: true, pending: 0, outcomes: [] };
      script.send({ type: "row", id, status_digest: ZEROS, ...rest });
    });
    expect(ended.code).toBe(1);
    expect(ended.stderr).toBe(`the row's digest: ${ZEROS}, not ${PYTHON_DIGEST}\n`);
  });

  it.skipIf(!hasPython)("the worker in Python fails when its ack does not end WITNESSED", async () => {
    const ended = await against(python, "worker", async (script) => {
      const ack = await correctWorker(script, PYTHON_DIGEST);
      script.send(stage("UNREFLECTED", { id: ack["id"], seq: 2, status_digest: ZEROS, outcomes: [] }));
    });
    expect(ended.code).toBe(1);
    expect(ended.stderr).toBe("its end: UNREFLECTED, not WITNESSED\n");
  });
});
