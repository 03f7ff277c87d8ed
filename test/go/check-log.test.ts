import { execFile, spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { devNull, tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { parseCheckpoint, tilePath, tilesOf } from "../../src/tlog/index.js";
import { TestBroker } from "../support/broker.js";
import { fill, LogFiles } from "../support/log-files.js";

const program = join(import.meta.dirname, "check-log.go");
/** Where systems that ship Go's libraries as packages put their sources; used when the environment names no other. */
const env = { ...process.env, GO111MODULE: "off", GOPATH: process.env["GOPATH"] ?? "/usr/share/gocode" };
const built = spawnSync("go", ["build", "-o", devNull, program], { env });
const why = built.error === undefined ? String(built.stderr).trim() : "there is no go";
const ready = built.status === 0;
if (!ready) process.stderr.write(`skipped: the check by Go's own note and tlog (${why})\n`);

let broker: TestBroker;
let folder: string;

const run = async (): Promise<string> =>
  (await promisify(execFile)("go", ["run", program, folder], { env, timeout: 60_000 })).stdout;

function put(path: string, data: string | Uint8Array): void {
  mkdirSync(dirname(join(folder, path)), { recursive: true });
  writeFileSync(join(folder, path), data);
}

describe.skipIf(!ready)("a log of 600 entries, by Go's golang.org/x/mod", () => {
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), "a2achan-go-"));
    broker = await TestBroker.start();
    const { token } = await broker.running.addToken({ role: "auditor", subject: "eve" });
    const files = new LogFiles(broker.running.http, token);
    const worker = await broker.worker("w-1");
    const older: string[] = [];
    for (let at = 0; at < 20; at += 1) {
      older.push(String((await worker.ask({ type: "checkpoint" }))["checkpoint"]));
      await fill(worker, (ms) => broker.clock.advance(ms), 15);
    }
    const checkpoint = String(await files.bytes("checkpoint"));
    const { size } = parseCheckpoint(checkpoint.slice(0, checkpoint.indexOf("\n\n") + 1)) ?? expect.fail(checkpoint);
    put("vkey", `${broker.running.broker.logKey}\n`);
    put("checkpoint", checkpoint);
    for (const tile of tilesOf(size)) put(tilePath(tile), await files.bytes(tilePath(tile)));
    const inclusion = [];
    for (let index = 0; index < size; index += 17) {
      broker.clock.advance(1_000);
      const proof = await worker.ask({ type: "prove", index });
      if (proof["checkpoint"] !== checkpoint) throw new Error("the log grew while it was read");
      inclusion.push(proof);
    }
    const consistency = [];
    for (const note of [...older, checkpoint]) {
      const from_size = Number(note.split("\n")[1]);
      const { hashes } = await worker.ask({ type: "prove", from_size });
      consistency.push({ checkpoint: note, hashes });
    }
    put("proofs.json", JSON.stringify({ inclusion, consistency }));
  }, 60_000);

  afterAll(async () => {
    rmSync(folder, { recursive: true, force: true });
    await broker.stop();
  });

  it("is opened by note.Open and holds under tlog.CheckRecord and tlog.CheckTree", async () => {
    expect(await run()).toMatch(/^6\d\d entries, 3\d inclusion proofs, 21 consistency proofs\n$/);
  }, 90_000);

  it.each([
    ["an entry is changed", "tile/entries/000", 40],
    ["a hash is changed", "tile/0/001", 40],
    ["the root is changed", "checkpoint", 30],
  ])(
    "is refused when %s",
    async (_, path, at) => {
      const whole = readFileSync(join(folder, path));
      const bent = Buffer.from(whole);
      bent.writeUInt8(bent.readUInt8(at) ^ 1, at);
      put(path, bent);
      await expect(run()).rejects.toThrow("exit status 1");
      put(path, whole);
    },
    90_000,
  );
});
