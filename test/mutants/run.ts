import { spawn } from "node:child_process";
import { cpSync, mkdtempSync, readFileSync, readdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { projectRoot } from "../support/source-files.js";
import type { Mutant } from "./mutant.js";

export interface Verdict {
  mutant: Mutant;
  /** `undecided`: the tests did not come to their end, or none could run; nobody can say that they saw the fault. */
  outcome: "caught" | "survived" | "undecided";
  /** Title of the first test that failed. */
  by?: string;
}

/** The tests did not pass on the sources as they are: what they catch would mean nothing. */
export class UnsoundBaseline extends Error {}

/** Left out of a copy; `node_modules` is linked. */
const NOT_COPIED = new Set([".git", "node_modules", "dist"]);
/** Of one test: a fault may make it wait for ever for what never comes. The suite's own guard is three times as long. */
const TEST_MS = 10_000;
/** Of one run, and of the first one, of every test: what takes longer hangs. */
const RUN_MS = 120_000;
const BASELINE_MS = 600_000;

/**
 * Puts one mutant after the other into a copy of the project, `workers` copies at a time, and runs its tests there. First
 * all these tests must pass on the copy as it is, else throws UnsoundBaseline. The project itself is not touched.
 */
export async function runMutants(
  mutants: readonly Mutant[],
  { workers = 2, onVerdict = () => {} }: { workers?: number; onVerdict?: (verdict: Verdict) => void } = {},
): Promise<Verdict[]> {
  const copies: string[] = [];
  try {
    for (let made = 0; made < Math.min(workers, mutants.length); made += 1) copies.push(copyOfProject());
    const [first] = copies;
    if (first !== undefined) await requireSound(first, mutants, workers);
    const waiting = [...mutants];
    const verdicts: Verdict[] = [];
    const work = async (copy: string): Promise<void> => {
      for (let mutant = waiting.shift(); mutant !== undefined; mutant = waiting.shift()) {
        const verdict = await judge(copy, mutant);
        verdicts.push(verdict);
        onVerdict(verdict);
      }
    };
    await Promise.all(copies.map(work));
    return verdicts;
  } finally {
    for (const copy of copies) rmSync(copy, { recursive: true, force: true });
  }
}

function copyOfProject(): string {
  const copy = mkdtempSync(join(tmpdir(), "a2achan-mutants-"));
  for (const name of readdirSync(projectRoot)) {
    if (!NOT_COPIED.has(name)) cpSync(join(projectRoot, name), join(copy, name), { recursive: true });
  }
  symlinkSync(join(projectRoot, "node_modules"), join(copy, "node_modules"));
  return copy;
}

async function requireSound(copy: string, mutants: readonly Mutant[], workers: number): Promise<void> {
  const files = [...new Set(mutants.flatMap(({ caughtBy }) => caughtBy))];
  const run = await runTests(copy, files, ["--maxWorkers", String(workers)], BASELINE_MS);
  if (run === undefined) throw new UnsoundBaseline("the tests did not come to their end on the sources as they are");
  if (!run.sound) throw new UnsoundBaseline(`fails on the sources as they are: ${run.failed ?? "a test file"}`);
}

async function judge(copy: string, mutant: Mutant): Promise<Verdict> {
  const path = join(copy, mutant.file);
  const source = readFileSync(path, "utf8");
  const parts = source.split(mutant.find);
  if (parts.length !== 2) throw new Error(`${mutant.file} does not hold once: ${mutant.find}`);
  writeFileSync(path, parts.join(mutant.replace));
  try {
    const flags = ["--maxWorkers", "1", "--bail", "1", "--testTimeout", String(TEST_MS)];
    const run = await runTests(copy, mutant.caughtBy, flags, RUN_MS);
    if (run?.failed !== undefined) return { mutant, outcome: "caught", by: run.failed };
    return { mutant, outcome: run?.sound === true ? "survived" : "undecided" };
  } finally {
    writeFileSync(path, source);
  }
}

interface Run {
  /** Every file was run, and all of its tests passed. */
  sound: boolean;
  failed?: string;
}

interface Report {
  testResults: { status: string; assertionResults: { status: string; fullName: string }[] }[];
}

/** What vitest reports of test files in a copy; undefined when it reported nothing in time. */
async function runTests(
  copy: string,
  files: readonly string[],
  flags: readonly string[],
  most: number,
): Promise<Run | undefined> {
  const output = join(copy, "report.json");
  const vitest = join(copy, "node_modules/vitest/vitest.mjs");
  const report = ["--reporter=json", `--outputFile=${output}`];
  rmSync(output, { force: true });
  // A run inside of a run of vitest must not take itself for a part of that one.
  const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith("VITEST")));
  const child = spawn(
    process.execPath,
    [vitest, "run", "--config", "test/vitest.config.ts", ...report, ...flags, ...files],
    { cwd: copy, env, stdio: "ignore", detached: true },
  );
  const { pid } = child;
  const hung = setTimeout(() => pid !== undefined && process.kill(-pid, "SIGKILL"), most);
  await new Promise<void>((resolve, reject) => {
    child.once("error", reject);
    child.once("exit", () => resolve());
  }).finally(() => clearTimeout(hung));
  const results = read(output)?.testResults;
  if (results === undefined) return undefined;
  const failed = results
    .flatMap(({ assertionResults }) => assertionResults)
    .find(({ status }) => status === "failed")?.fullName;
  const sound = results.length === files.length && results.every(({ status }) => status === "passed");
  return failed === undefined ? { sound } : { sound, failed };
}

function read(path: string): Report | undefined {
  try {
    return JSON.parse(readFileSync(path, "utf8")) as Report;
  } catch {
    return undefined;
  }
}
