import {
  appendFileSync,
  cpSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { leafHash, openCheckpoint, PackedTree, parseVerifierKey, tilesOf } from "../../src/tlog/index.js";
import { LyingRelay } from "../support/lying-relay.js";
import { lineOf } from "../support/mangled-log.js";
import { a2achan, type Ended } from "../support/program.js";
import { EVERYWHERE, Serve, dataDirectory, operatorToken } from "../support/serve.js";
import { admit, correctionOf, publish, statusOf } from "../support/scenes.js";
import { Wire } from "../support/wire.js";

const LONG = `Look at ${"x".repeat(200)} again.`;

const directory = dataDirectory();
const data = directory.path;
const folder = join(data, "..");
let broker: Serve;
let witnessed: string;
let declined: string;
let logKey: string;

beforeAll(async () => {
  broker = await Serve.start(data);
  const { token } = await broker.token({ role: "worker", subject: "w-1", issue: "**", lane: "**" });
  const worker = await Wire.hello(broker.url, token, { role: "worker", worker_id: "w-1" });
  const lead = await broker.token({ role: "orchestrator", subject: "lead", ...EVERYWHERE });
  const orchestrator = await Wire.hello(broker.url, lead.token, { role: "orchestrator" });
  const digest = await publish(worker, "read the issue");
  witnessed = await admit(orchestrator, "w-1", digest, LONG);
  const next_action = { summary: "look again", reflects: [witnessed], via: "plan" };
  await worker.ask({ type: "ack", correction_id: witnessed, status_digest: digest, next_action });
  const row = await worker.ask(statusOf("looked again"));
  declined = await admit(orchestrator, "w-1", row["status_digest"] as string, "Rewrite it.");
  const why = { status_digest: row["status_digest"], reason: "it is generated" };
  await worker.ask({ type: "decline", correction_id: declined, ...why });
  await orchestrator.ask(correctionOf("w-1", digest, "Cites a row that is gone."));
  // The head follows what is durable within 100 ms.
  const size = entryLines().length;
  while ((JSON.parse(readFileSync(join(data, "head"), "utf8").slice(0, 4096)) as { size: number }).size !== size) {
    if ((JSON.parse(readFileSync(join(data, "head"), "utf8").slice(4096)) as { size: number }).size === size) break;
    await new Promise((resolve) => setImmediate(resolve));
  }
  logKey = (JSON.parse(entryLines()[0] ?? "") as { log_key: string }).log_key;
});

afterAll(async () => {
  await broker.kill();
  directory[Symbol.dispose]();
});

function entryLines(): string[] {
  const text = readFileSync(join(data, "log", "00000000.jsonl"), "utf8");
  return text.split("\n").filter((line) => line.startsWith(`{"at":`));
}

async function run(...args: string[]): Promise<Ended> {
  return a2achan(...args).ended;
}

/** Runs a command that must end well, and gives what it printed. */
async function said(...args: string[]): Promise<string> {
  const { code, stdout, stderr } = await run(...args);
  expect({ code, stderr: code === 0 ? "" : stderr }).toEqual({ code: 0, stderr: "" });
  return stdout;
}

describe("a2achan verify", () => {
  it("checks the directory of a running broker, and says what was checked", async () => {
    const report = await said("verify", data, "--vkey", logKey);
    expect(report).toMatch(/^entries +\d+, tree over them [0-9a-f]{64}$/m);
    expect(report).toMatch(/^agrees with +head, \d+ entries$/m);
    expect(report).toMatch(/^texts +\d+ match, 0 redacted, 0 withheld$/m);
    expect(report).toMatch(/^re-decided +\d+: /m);
    expect(report).toMatch(/^attested +\d+: at \d+, deliverable 2 /m);
    expect(report).toMatch(/^result +everything is what the rules make of it$/m);
  });

  it("checks the broker itself, whose checkpoint it takes, with an auditor's token", async () => {
    const file = join(folder, "auditor.token");
    writeFileSync(file, operatorToken(data), { mode: 0o600 });
    const { ok, agrees_with, texts } = JSON.parse(
      await said("verify", broker.url, "--token-file", file, "--vkey", logKey, "-o", "json"),
    ) as { ok: boolean; agrees_with: unknown; texts: { absent: number; matching: number } };
    expect(ok).toBe(true);
    expect(agrees_with).toEqual([{ name: "the broker's checkpoint", size: entryLines().length }]);
    expect(texts).toEqual({ matching: 7, redacted: 0, absent: 0 });
  });

  it("refuses what is no key, no log, and nothing, each in a sentence", async () => {
    expect(await run("verify", data, "--vkey", "nonsense")).toMatchObject({ code: 2, stdout: "" });
    expect(await run("verify", join(folder, "nowhere"))).toMatchObject({ code: 1, stdout: "" });
    expect(await run("verify", folder)).toMatchObject({ code: 78, stdout: "" });
  });

  it("never takes a log for proven without the head that it was given or that lies there", async () => {
    const copy = join(folder, "headless");
    mkdirSync(copy);
    cpSync(join(data, "log"), join(copy, "log"), { recursive: true });
    expect((await run("verify", copy)).code).toBe(0);
    expect(await run("verify", copy, "--head", join(folder, "nowhere"))).toMatchObject({ code: 1, stdout: "" });
    writeFileSync(join(copy, "head"), "no slot");
    expect(await run("verify", copy)).toMatchObject({ code: 7, stdout: "" });
    expect((await run("verify", copy, "--head", join(data, "head"))).code).toBe(0);
    const file = join(folder, "beside.jsonl");
    await said("export", file, "--data", data);
    expect(await run("verify", file, "--head", join(data, "head"))).toMatchObject({ code: 2, stdout: "" });
    rmSync(copy, { recursive: true });
  });

  it("says that bytes lie past the head and are nothing yet; without a head they are a difference", async () => {
    const copy = join(folder, "torn");
    mkdirSync(copy);
    cpSync(join(data, "log"), join(copy, "log"), { recursive: true });
    cpSync(join(data, "head"), join(copy, "head"));
    expect(await said("verify", copy)).not.toContain("behind them");
    appendFileSync(join(copy, "log", "00000000.jsonl"), '{"at":17500');
    const sentence =
      /^behind them +bytes past the head: being written, or torn, and then set aside at the next start /m;
    expect(await said("verify", copy)).toMatch(sentence);
    expect(JSON.parse(await said("verify", copy, "-o", "json"))).toMatchObject({
      ok: true,
      size: entryLines().length,
      behind: expect.stringContaining("bytes past the head") as string,
    });
    rmSync(join(copy, "head"));
    expect((await run("verify", copy)).code).toBe(7);
    rmSync(copy, { recursive: true });
  });

  it("ends with 7 and names the entry when a copy of the directory was changed, its batch and all", async () => {
    const copy = join(folder, "copy");
    mkdirSync(copy);
    cpSync(join(data, "log"), join(copy, "log"), { recursive: true });
    cpSync(join(data, "head"), join(copy, "head"));
    expect((await run("verify", copy)).code).toBe(0);
    const segment = join(copy, "log", "00000000.jsonl");
    const index = entryLines().findIndex((line) => line.includes('"detail":"DIGEST"'));
    writeFileSync(segment, readFileSync(segment, "utf8").replace('"detail":"DIGEST"', '"detail":"SCOPES"'));
    const { code, stderr } = await run("verify", copy);
    expect(code).toBe(7);
    expect(stderr).toMatch(new RegExp(`^a2achan: not proven: entry ${index}: [^\\n]+\\n$`));
    rmSync(copy, { recursive: true });
  });
});

describe("a2achan export", () => {
  it("writes lines and a checkpoint that verify, for its owner alone", async () => {
    const file = join(folder, "out.jsonl");
    await said("export", file, "--data", data);
    expect(statSync(file).mode & 0o777).toBe(0o600);
    const lines = readFileSync(file, "utf8").trimEnd().split("\n");
    expect(lines.filter((line) => line.startsWith(`{"at":`))).toEqual(entryLines());
    expect(lines.filter((line) => line.startsWith(`{"text":`))).toHaveLength(8);
    expect(await said("verify", file)).toContain(`agrees with  ${file}.checkpoint, ${entryLines().length} entries`);
  });

  it("leaves the texts out with --no-texts, and verify counts them", async () => {
    const file = join(folder, "published.jsonl");
    await said("export", file, "--no-texts", "--data", data);
    expect(readFileSync(file, "utf8")).not.toContain("read the issue");
    expect(await said("verify", file)).toMatch(/^texts +0 match, 0 redacted, 7 not at hand$/m);
  });

  it("is found to be cut by the checkpoint that was signed over all of it", async () => {
    const file = join(folder, "cut.jsonl");
    await said("export", file, "--no-texts", "--data", data);
    const lines = readFileSync(file, "utf8").trimEnd().split("\n");
    writeFileSync(file, `${lines.slice(0, -1).join("\n")}\n`);
    const { code, stdout } = await run("verify", file, "-o", "json");
    expect(code).toBe(7);
    expect(JSON.parse(stdout)).toMatchObject({ ok: false, difference: { index: lines.length - 1 } });
  });

  it("is found to go on behind the checkpoint that was signed over all of it", async () => {
    const file = join(folder, "added.jsonl");
    await said("export", file, "--no-texts", "--data", data);
    const index = entryLines().length;
    const grant = entryLines().findLast((line) => line.includes('"kind":"grant_added"')) ?? "";
    const { at } = JSON.parse(entryLines().at(-1) ?? "") as { at: number };
    // A grant that the rules would let an operator make.
    const added = lineOf({ ...(JSON.parse(grant) as object), at, index, token: "a2t_forged" });
    writeFileSync(file, `${readFileSync(file, "utf8")}${added}\n`);
    const { code, stderr } = await run("verify", file);
    expect(code).toBe(7);
    expect(stderr).toBe(`a2achan: not proven: entry ${index}: no checkpoint at hand signs it\n`);
  });

  it("is held to older checkpoints with --checkpoint: rolled back or forked since, it ends with 7", async () => {
    const [file, kept] = [join(folder, "kept.jsonl"), join(folder, "older.checkpoint")];
    await said("export", file, "--no-texts", "--data", data);
    const text = readFileSync(file, "utf8");
    renameSync(`${file}.checkpoint`, kept);
    const size = entryLines().length;
    expect(await said("verify", file, "--checkpoint", kept)).toContain(`agrees with  ${kept}, ${size} entries`);
    const lines = text.trimEnd().split("\n");
    const forked = [...lines.slice(0, -1), (lines.at(-1) ?? "").replace(/"at":\d/, '"at":9')];
    for (const [other, sentence] of [
      [lines.slice(0, -1), `entry ${size - 1}: the log ends here, but ${kept} signs ${size} entries`],
      [forked, `entry 0: of entries 0 to ${size - 1} some are not what ${kept} signs (${size} entries)`],
    ] as const) {
      writeFileSync(file, `${other.join("\n")}\n`);
      expect((await run("verify", file)).code).toBe(0);
      const { code, stderr } = await run("verify", file, "--checkpoint", kept);
      expect([code, stderr]).toEqual([7, `a2achan: not proven: ${sentence}\n`]);
    }
  });

  it("writes the tree as C2SP tiles with --tiles", async () => {
    const tiles = join(folder, "tiles");
    await said("export", "--tiles", tiles, "--data", data);
    const size = entryLines().length;
    const key = parseVerifierKey(logKey);
    const tree = new PackedTree();
    for (const line of entryLines()) tree.append(leafHash(line));
    const checkpoint =
      key === undefined ? undefined : openCheckpoint(readFileSync(join(tiles, "checkpoint"), "utf8"), key);
    expect(checkpoint).toMatchObject({ size, root: tree.root() });
    expect([...tilesOf(size)]).toHaveLength(2);
    expect(readdirSync(join(tiles, "tile", "0", "000.p"))).toEqual([String(size)]);
    const leaves = readFileSync(join(tiles, "tile", "0", "000.p", String(size)));
    expect(leaves.length).toBe(size * 32);
    expect(leaves.subarray(0, 32)).toEqual(leafHash(entryLines()[0] ?? ""));
    const bundle = readFileSync(join(tiles, "tile", "entries", "000.p", String(size)));
    expect(bundle.toString("utf8", 2, 2 + bundle.readUInt16BE(0))).toBe(entryLines()[0]);
  });

  it("wants to be told one thing to write", async () => {
    expect(await run("export", "--data", data)).toMatchObject({ code: 2, stdout: "" });
    expect(await run("export", "a", "--tiles", "b", "--data", data)).toMatchObject({ code: 2, stdout: "" });
  });
});

describe("a2achan receipt", () => {
  it("prints a proof of a correction's last stage that verifies under the log's key, and under no other", async () => {
    const file = join(folder, "receipt.tlog-proof");
    writeFileSync(file, await said("receipt", witnessed, "--data", data));
    const line = entryLines().findIndex((entry) => entry.includes('"kind":"witnessed"'));
    const { ok, index, entry } = JSON.parse(await said("verify", file, "--vkey", logKey, "-o", "json")) as {
      ok: boolean;
      index: number;
      entry: string;
    };
    expect({ ok, index, entry }).toEqual({ ok: true, index: line, entry: entryLines()[line] });
    expect(await run("verify", file)).toMatchObject({ code: 2, stdout: "" });
    // What it cannot be held against must not seem to have been looked at.
    const another = ["--checkpoint", join(folder, "another.checkpoint")];
    expect(await run("verify", file, "--vkey", logKey, ...another)).toMatchObject({ code: 2, stdout: "" });
    writeFileSync(file, readFileSync(file, "utf8").replace(/^index \d+/m, "index 1"));
    expect(await run("verify", file, "--vkey", logKey)).toMatchObject({ code: 7, stdout: "" });
  });

  it("shows a client that was answered otherwise what the log says, and nobody can make it say that answer", async () => {
    const relay = await LyingRelay.start(broker.url, (frame) =>
      frame["stage"] === "DECLINED" ? { ...frame, stage: "WITNESSED" } : frame,
    );
    const { token } = await broker.token({ role: "orchestrator", subject: "lead", ...EVERYWHERE });
    const orchestrator = await Wire.hello(relay.url, token, { role: "orchestrator" });
    const told = await orchestrator.ask({ type: "stage", correction_id: declined });
    await relay.stop();
    const file = join(folder, "declined.tlog-proof");
    const proof = await said("receipt", declined, "--data", data);
    writeFileSync(file, proof);
    const shown = JSON.parse(await said("verify", file, "--vkey", logKey, "-o", "json")) as {
      index: number;
      entry: string;
    };
    expect([told["stage"], told["index"]]).toEqual(["WITNESSED", shown.index]);
    expect(JSON.parse(shown.entry)).toMatchObject({ kind: "declined", correction_id: declined });
    const lie = shown.entry.replace('"kind":"declined"', '"kind":"witnessed"');
    writeFileSync(file, proof.replace(/^extra .+$/m, `extra ${Buffer.from(lie).toString("base64")}`));
    expect(await run("verify", file, "--vkey", logKey)).toMatchObject({ code: 7, stdout: "" });
  });

  it("prints one of any entry with --index, and none of what is not there", async () => {
    expect(await said("receipt", "--index", "0", "--data", data)).toMatch(/^c2sp\.org\/tlog-proof@v1\n/);
    expect(await run("receipt", "--index", "9999", "--data", data)).toMatchObject({ code: 1, stdout: "" });
    expect(await run("receipt", `corr_${"0".repeat(32)}`, "--data", data)).toMatchObject({ code: 1, stdout: "" });
    expect(await run("receipt", "--data", data)).toMatchObject({ code: 2, stdout: "" });
  });
});

describe("a2achan explain", () => {
  it("tells the story of a correction on a page of 80 cells", async () => {
    const page = await said("explain", witnessed, "--data", data);
    const [story = "", check = ""] = page.split("To check it yourself");
    expect(story.split("\n").filter((line) => line.length > 80)).toEqual([]);
    for (const part of [
      "from        lead (orchestrator, token ",
      "to          w-1",
      "scope       issue 2162, lane src/parser",
      'last action "read the issue"',
      "the digest that was cited, computed again from this row",
      "WITNESSED   log entry",
      '"look again"',
      `it names ${witnessed}`,
    ]) {
      expect(story).toContain(part);
    }
    const stages = story.match(/^ {2}(ADMITTED|DELIVERED|ACKED|WITNESSED)/gm);
    expect(stages).toEqual(["  ADMITTED", "  DELIVERED", "  ACKED", "  WITNESSED"]);
    expect(check).toContain(logKey);
  });

  it("tells a decline with its reason, and all of it as JSON", async () => {
    expect(await said("explain", declined, "--data", data)).toContain('reason: "it is generated"');
    const file = JSON.parse(await said("explain", declined, "--data", data, "-o", "json")) as {
      cited: { proven: boolean };
      happened: { stage: string }[];
    };
    expect(file.cited.proven).toBe(true);
    expect(file.happened.map(({ stage }) => stage)).toEqual(["ADMITTED", "DELIVERED", "DECLINED"]);
  });

  it("says in a sentence that there is no such correction", async () => {
    const { code, stderr } = await run("explain", `corr_${"0".repeat(32)}`, "--data", data);
    expect({ code, lines: stderr.split("\n").length }).toEqual({ code: 1, lines: 2 });
  });
});
