import { execFile } from "node:child_process";
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { projectRoot } from "../support/source-files.js";
import type { Planted } from "./planted.js";

/** What became of a planted bug. */
export interface Hunt {
  /** Schedules that were played; the last one found it. */
  schedules: number;
  /** What it was found by; undefined for a bug that was not. */
  invariant: string | undefined;
}

/** Puts the bug into a copy of the project and plays schedules there, in a process of its own, until one finds it. */
export async function hunt(planted: Planted, seed: number, schedules: number): Promise<Hunt> {
  const copy = mkdtempSync(join(tmpdir(), "a2achan-planted-"));
  try {
    for (const name of ["src", "test/simulation", "test/support", "test/crash", "package.json", "tsconfig.json"])
      cpSync(join(projectRoot, name), join(copy, name), { recursive: true });
    symlinkSync(join(projectRoot, "node_modules"), join(copy, "node_modules"));
    const path = join(copy, planted.file);
    const before = readFileSync(path, "utf8");
    const after = before.replace(planted.find, () => planted.replace);
    if (after === before) throw new Error(`there is no place for the bug "${planted.name}" in ${planted.file}`);
    writeFileSync(path, after);
    const script = join(copy, "test/simulation/main.ts");
    const flags = ["--seed", String(seed), "--schedules", String(schedules), "--first"];
    return JSON.parse(await run(["--import", "tsx", script, ...flags], copy)) as Hunt;
  } finally {
    rmSync(copy, { recursive: true, force: true });
  }
}

/** The last line that a program prints, whatever its exit code. */
function run(args: string[], cwd: string): Promise<string> {
  return new Promise((resolve, reject) => {
    execFile(process.execPath, args, { cwd, maxBuffer: 16_777_216 }, (_error, stdout, stderr) => {
      const last = stdout.trimEnd().split("\n").at(-1) ?? "";
      if (last.startsWith("{")) resolve(last);
      else reject(new Error(`no result: ${stderr}`));
    });
  });
}
