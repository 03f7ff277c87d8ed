import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { formatVerifierKey, leafHash, signCheckpoint, signerKey } from "../src/tlog/index.js";
import { projectRoot } from "./support/source-files.js";

const hasPython = spawnSync("python3", ["--version"]).status === 0;

// What the example's own run cannot show each time: its log has a key and kinds of entries as they come.
describe.skipIf(!hasPython)("the check in Python", () => {
  const check = (...args: string[]): { code: number | null; said: string } => {
    const program = join(projectRoot, "examples/python-audit/check.py");
    const { status, stdout, stderr } = spawnSync("python3", [program, ...args], { encoding: "utf8" });
    return { code: status, said: `${stdout}${stderr}` };
  };

  it("holds under the recorded log, in which every kind of entry is", () => {
    const log = join(projectRoot, "spec/logs/0001.jsonl");
    const { code, said } = check(log, `${log}.checkpoint`);
    expect(code).toBe(0);
    expect(said).toContain("entries: 77, each in its place; none is missing of 2 workers\n");
    expect(said).toContain(
      "test.example/log+f0bcf0d3+Af0XJDhaoMdbZPt4zWAvodmR/ev3axPFjtcC6sg16fYY, which the log itself",
    );
  });

  it("says in a few lines that it was given no file, and what is no log at all", () => {
    const note = join(projectRoot, "spec/logs/0001.jsonl.checkpoint");
    for (const missing of [join(projectRoot, "nowhere"), projectRoot]) {
      const { code, said } = check(missing, note);
      expect({ code, traced: said.includes("Traceback") }).toEqual({ code: 2, traced: false });
    }
    const folder = mkdtempSync(join(tmpdir(), "a2achan-check-"));
    try {
      const file = join(folder, "binary");
      writeFileSync(file, `${"\0".repeat(100_000)}\n`);
      const { code, said } = check(file, note);
      expect(code).toBe(7);
      expect(said).toMatch(/^entry 0: it is not what a broker writes: .{1,120}\n$/);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  it("reads a key that has a plus sign within, and takes no signature of another", () => {
    const folder = mkdtempSync(join(tmpdir(), "a2achan-check-"));
    const [log, note] = [join(folder, "log"), join(folder, "note")];
    try {
      const key = signerKey("test/log", new Uint8Array(32).fill(8));
      expect(formatVerifierKey(key)).toBe("test/log+08ff1f08+AROY9ixtGkV8UbpqS189vS9p/KkyFiGNyJl+QWvRfZPK");
      const line = `{"at":1,"index":0,"kind":"log_opened","log_key":"${formatVerifierKey(key)}","origin":"test/log"}`;
      writeFileSync(log, `${line}\n`);
      writeFileSync(note, signCheckpoint(1, leafHash(line), key));
      expect(check(log, note, "--vkey", formatVerifierKey(key)).code).toBe(0);
      writeFileSync(note, signCheckpoint(1, leafHash(line), signerKey("test/log", new Uint8Array(32).fill(9))));
      expect(check(log, note)).toEqual({ code: 7, said: `entry 0: ${note} is not signed with the log's key\n` });
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
});
