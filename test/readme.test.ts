import { spawn, spawnSync, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { projectRoot } from "./support/source-files.js";

const hasJq = spawnSync("jq", ["--version"]).status === 0;
if (!hasJq) console.warn("jq is not installed: the README's jq example is not run");

/** The README's marked code blocks, by marker: `<!-- file: NAME -->`, `<!-- run: NAME -->` and `<!-- check: NAME -->`. */
function blocks(): Map<string, string> {
  const text = readFileSync(join(projectRoot, "README.md"), "utf8");
  const marked = text.matchAll(/<!-- ((?:file|run|check): [\w.-]+) -->\n```\w+\n([\s\S]*?)```/g);
  return new Map([...marked].map(([, marker = "", code = ""]) => [marker, code]));
}

// The reader's own folder, in which the package is installed, and the port that the README names replaced by a free one.
describe("the README's five minutes", () => {
  const folder = mkdtempSync(join(tmpdir(), "a2achan-readme-"));
  const code = blocks();
  const environment: NodeJS.ProcessEnv = { ...process.env };
  let port = 0;
  let broker: ChildProcess;

  /** A block as the reader would run it, on this test's port. */
  const block = (marker: string): string => {
    const text = code.get(marker);
    if (text === undefined) throw new Error(`the README has no block ${marker}`);
    return text
      .replaceAll("7411", String(port))
      .replaceAll("npx a2achan", `"${process.execPath}" "${join(projectRoot, "dist/cli/main.js")}"`);
  };

  async function shell(script: string): Promise<string> {
    const child = spawn("bash", ["-euc", script], { cwd: folder, env: environment });
    let out = "";
    child.stdout.on("data", (data) => (out += String(data)));
    child.stderr.on("data", (data) => (out += String(data)));
    const [status] = (await once(child, "close")) as [number | null];
    expect(status, out).toBe(0);
    return out;
  }

  beforeAll(async () => {
    mkdirSync(join(folder, "node_modules"));
    symlinkSync(projectRoot, join(folder, "node_modules", "a2achan"));
    writeFileSync(join(folder, "package.json"), JSON.stringify({ type: "module" }));
    port = await freePort();
    for (const name of ["my-worker.mjs", "my-lead.mjs"]) writeFileSync(join(folder, name), block(`file: ${name}`));
    broker = spawn("bash", ["-euc", `exec ${block("run: serve").trim()} --port ${port}`], { cwd: folder });
    if (broker.stdout === null) throw new Error("no output to read");
    const lines = createInterface({ input: broker.stdout });
    const [line] = (await Promise.race([once(lines, "line"), once(broker, "exit")])) as unknown[];
    if (!String(line).includes(`listens at ws://127.0.0.1:${port}/v1`)) throw new Error(`serve said: ${String(line)}`);
  });

  afterAll(() => {
    broker.kill("SIGKILL");
    rmSync(folder, { recursive: true, force: true });
  });

  it("leads from two tokens to a WITNESSED correction", async () => {
    const tokens = await shell(`${block("run: tokens")}\necho "$WORKER_TOKEN $LEAD_TOKEN"`);
    const [worker, lead] = tokens.match(/a2t_\w{8}_[\w-]{43}(?= a2t_|\n$)/g) ?? [];
    Object.assign(environment, { WORKER_TOKEN: worker, LEAD_TOKEN: lead });
    const out = await shell(
      `${block("run: scripts").replace("node my-worker.mjs &", "coproc W { node my-worker.mjs; }; read -r line <&${W[0]};")}\nwait`,
    );
    expect(out).toContain("coder plans: rewrite the tokenizer\nADMITTED\nDELIVERED\nACKED\nWITNESSED\n");
  });

  it("shows the broker and its workers to a person", async () => {
    const out = await shell(block("run: people"));
    expect(out).toContain(`broker   ws://127.0.0.1:${port}/v1\n`);
    expect(out).toMatch(/^coder +ended +2162 +src\/parser/m);
    expect(out).toMatch(/^digest +sha256:[0-9a-f]{64}$/m);
  });

  it("has programs that compile", () => {
    const names = [...code.keys()].filter((marker) => marker.startsWith("check: ")).map((marker) => marker.slice(7));
    expect(names).toEqual(["orchestrator.ts", "worker.ts", "auditor.ts"]);
    for (const name of names) writeFileSync(join(folder, name), block(`check: ${name}`));
    const options = ["--noEmit", "--strict", "--module", "nodenext", "--target", "es2023", "--skipLibCheck"];
    const types = ["--types", "node", "--typeRoots", join(projectRoot, "node_modules/@types")];
    const tsc = join(projectRoot, "node_modules/typescript/bin/tsc");
    const { stdout, status } = spawnSync(process.execPath, [tsc, ...options, ...types, ...names], {
      cwd: folder,
      encoding: "utf8",
    });
    expect(stdout).toBe("");
    expect(status).toBe(0);
  });

  it("leaves no block of code unmarked but what a program prints", () => {
    const text = readFileSync(join(projectRoot, "README.md"), "utf8").split("## Five minutes")[1] ?? "";
    const unmarked = text.match(/(?<!-->\n)^```\w+$/gm) ?? [];
    expect(unmarked).toEqual(["```text", "```text"]);
  });

  it("makes an auditor's token", async () => {
    expect(await shell(`${block("run: audit-token")}\necho "$AUDIT_TOKEN"`)).toMatch(/^a2t_\w{8}_[\w-]{43}$/m);
  });

  it("shows the log, for people and for programs", async () => {
    expect(await shell(block("run: log"))).toMatch(/witnessed +coder +corr_[0-9a-f]{32}/);
  });

  it("shows how an auditor checks all of it", async () => {
    const out = await shell(block("run: verify"));
    expect(out.match(/^result +everything is what the rules make of it$/gm)).toHaveLength(2);
    expect(out).toMatch(/^entry 0 of \d+; its key: a2achan\//m);
  });

  it.skipIf(!hasJq)("shows segments that jq reads", async () => {
    expect(await shell(block("run: jq"))).toMatch(/^\[\d+,"coder","corr_[0-9a-f]{32}"\]\n$/);
  });
});

async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  server.close();
  if (address === null || typeof address === "string") throw new Error("no port");
  return address.port;
}
