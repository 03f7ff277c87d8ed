import { existsSync, readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { readSources } from "../../support/source-files.js";

const cases = new URL("../../../../shared/field-cases/cases.jsonl", import.meta.url);

const files = readSources("test/conformance/field", ".test.ts").filter(({ path }) => path !== "coverage.test.ts");
/** The case that each title begins with, in the order of the files. */
const titled = files.flatMap(({ text }) => [...text.matchAll(/["'`]([A-Z]\d{2}): /g)].map(([, id]) => id ?? ""));

describe("the field cases", () => {
  if (!existsSync(cases)) {
    it.skip("are not beside this checkout: their ids are not compared with the titles");
    return;
  }

  it("stand in one title each, and no title names another", () => {
    const ids = readFileSync(cases, "utf8")
      .split("\n")
      .filter((line) => line !== "")
      .map((line) => (JSON.parse(line) as { id: string }).id);
    expect(ids).toHaveLength(69);
    expect(titled.toSorted()).toEqual(ids.toSorted());
  });
});

describe("the tests of the field cases", () => {
  it("are all done: none is skipped, put off, or left to a condition", () => {
    expect(files).not.toEqual([]);
    const undone = files.filter(({ text }) => /\b(it|test|describe)\.(skip|skipIf|runIf|todo|only)\b/.test(text));
    expect(undone.map(({ path }) => path)).toEqual([]);
  });
});
