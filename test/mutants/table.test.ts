import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { projectRoot } from "../support/source-files.js";
import { specFolder } from "../support/spec-document.js";
import type { Mutant } from "./mutant.js";
import { UnsoundBaseline, runMutants } from "./run.js";
import { TABLE } from "./table.js";

const mutants = Object.values(TABLE).flat();
const requirements = Object.keys(JSON.parse(readFileSync(join(specFolder, "requirements.json"), "utf8")) as object);

const occurrences = ({ file, find }: Mutant): number =>
  readFileSync(join(projectRoot, file), "utf8").split(find).length - 1;

describe("the table of mutants", () => {
  it("finds what each replaces exactly once, and puts something else there", () => {
    const wrong = mutants.filter((mutant) => occurrences(mutant) !== 1 || mutant.find === mutant.replace);
    expect(wrong.map(({ file, fault }) => `${file}: ${fault}`)).toEqual([]);
  });

  it("names each fault once", () => {
    const faults = mutants.map(({ fault }) => fault);
    expect(faults.filter((fault, at) => faults.indexOf(fault) !== at)).toEqual([]);
  });

  it("names test files of the suite that catch each", () => {
    const named = mutants.filter(({ caughtBy }) => caughtBy.length > 0);
    expect(named).toHaveLength(mutants.length);
    const files = new Set(mutants.flatMap(({ caughtBy }) => caughtBy));
    expect([...files].filter((file) => !existsSync(join(projectRoot, file)))).toEqual([]);
  });

  it("breaks only requirements that there are, and every one of them", () => {
    const broken = new Set(mutants.flatMap((mutant) => mutant.requirements));
    expect([...broken].filter((id) => !requirements.includes(id))).toEqual([]);
    expect(requirements.filter((id) => !broken.has(id))).toEqual([]);
  });
});

describe("the runner", () => {
  const supersedes = "test/unit/kernel/supersedes.test.ts";
  const admission = (fault: string, find: string, replace: string): Mutant => ({
    fault,
    requirements: [],
    file: "src/kernel/admission.ts",
    find,
    replace,
    caughtBy: [supersedes],
  });
  const events = "events: [admitted, ...replaced],";

  it("tells a fault that is caught from one that survives, and from one with which no test can run", async () => {
    const planted = [
      admission("ends before it admits", events, "events: [...replaced, admitted],"),
      admission("says it otherwise", "the first that fails decides. */", "the first that fails counts. */"),
      admission("is no program", events, "events: [admitted, ...replaced,"),
    ];
    const verdicts = await runMutants(planted, { workers: 1 });
    expect(verdicts.map(({ mutant, outcome }) => [mutant.fault, outcome])).toEqual([
      ["ends before it admits", "caught"],
      ["says it otherwise", "survived"],
      ["is no program", "undecided"],
    ]);
    expect(verdicts.map(({ by }) => by)).toEqual([
      expect.stringMatching(/^superseding ends the old correction in the same step, after the admission/),
      undefined,
      undefined,
    ]);
  }, 120_000);

  it("runs nothing when the tests do not pass on the sources as they are", async () => {
    const mutant = { ...admission("", events, ""), caughtBy: [supersedes, "test/unit/kernel/there-is-none.test.ts"] };
    await expect(runMutants([mutant], { workers: 1 })).rejects.toThrow(UnsoundBaseline);
  }, 120_000);
});
