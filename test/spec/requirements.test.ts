import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { collectCitations, collectScenarioCitations, filesOfTests, type Citation } from "../support/citations.js";
import { readSources } from "../support/source-files.js";
import { specFolder } from "../support/spec-document.js";

const requirements = new Set(
  Object.keys(JSON.parse(readFileSync(join(specFolder, "requirements.json"), "utf8")) as object),
);
const citations = [
  ...filesOfTests(readSources("test")).flatMap(collectCitations),
  ...readSources("test/conformance/steps", ".json").flatMap(collectScenarioCitations),
];
const cited = new Set(citations.map(({ id }) => id));

describe("the titles of the tests", () => {
  it("cite only requirements that exist", () => {
    const unknown = citations
      .filter(({ id }) => !requirements.has(id))
      .map(({ path, line, id }) => `${path}:${line} ${id}`);
    expect(unknown).toEqual([]);
  });

  it("cite every requirement", () => {
    expect([...requirements].filter((id) => !cited.has(id))).toEqual([]);
  });
});

describe("collectCitations", () => {
  const mark = (id: string): string => `[${id}]`;
  const A = mark("A2C-XXX-01");
  const B = mark("A2C-XXX-02");
  const idsIn = (text: string): string[] => collectCitations({ path: "x.test.ts", text }).map(({ id }) => id.slice(-2));

  it.each([
    [`it("${A} refuses", () => {});`, ["01"]],
    [`test("${A} and ${B}", () => {});`, ["01", "02"]],
    [`describe("${A}", () => { it("${B} x", () => {}); });`, ["01", "02"]],
    [`it(\`${A} \${x} ${B}\`, () => {});`, ["01", "02"]],
    [`it("x ${A} " + "${B}", () => {});`, ["01", "02"]],
    [`it.each([1])("${A} %s", () => {});`, ["01"]],
    [`it.each([["${A}", 1], ["${B}", 2]])("%s %i", () => {});`, ["01", "02"]],
    [`it.concurrent.only("${A}", () => {});`, ["01"]],
    [`export function suite(): void { it("${A}", () => {}); }`, ["01"]],
    [`it("${A}", { timeout: 1 }, () => {});`, ["01"]],
    [`describe("${A}", () => { it.skip("${B}", () => {}); });`, ["01"]],
  ])("finds in %s", (text, found) => {
    expect(idsIn(text)).toEqual(found);
  });

  it.each([
    `it.skip("${A}", () => {});`,
    `it.todo("${A}");`,
    `it.skipIf(process.platform === "win32")("${A}", () => {});`,
    `it.runIf(true)("${A}", () => {});`,
    `it.skip.each([["${A}"]])("%s", () => {});`,
    `describe.skip("x", () => { it("${A}", () => {}); });`,
    `describe.skipIf(no)("${A}", () => { it("${B}", () => {}); });`,
    `it("${A}", { skip: true }, () => {});`,
    `it("${A}", (context) => { if (no) context.skip(); });`,
    `it("${A}", ({ skip }) => { skip(); });`,
    `it("x", () => { expect("${A}").toBe(1); });`,
    `// it("${A}")`,
    `const text = 'it("${A}", () => {})';`,
    `other("${A}", () => {});`,
    `it("A2C-XXX-01 without brackets", () => {});`,
  ])("finds nothing in %s", (text) => {
    expect(idsIn(text)).toEqual([]);
  });

  it("tells where a citation stands", () => {
    const [citation] = collectCitations({ path: "x.test.ts", text: `\nit("${A}", () => {});` });
    expect(citation).toEqual<Citation>({ id: "A2C-XXX-01", path: "x.test.ts", line: 2 });
  });
});

describe("collectScenarioCitations", () => {
  it("finds the requirements of each scenario", () => {
    const text = `[\n  { "name": "a", "requirements": ["A2C-XXX-01", "A2C-XXX-02"], "steps": [] },\n  { "requirements": [] }\n]`;
    expect(collectScenarioCitations({ path: "x.json", text })).toEqual<Citation[]>([
      { id: "A2C-XXX-01", path: "x.json", line: 2 },
      { id: "A2C-XXX-02", path: "x.json", line: 2 },
    ]);
  });
});

describe("filesOfTests", () => {
  it("takes test files and what they import, and nothing that no test reaches", () => {
    const files = [
      { path: "a.test.ts", text: `import "./support/suite.js";` },
      { path: "support/suite.ts", text: `import { x } from "./deep.js"; import { y } from "../../src/y.js";` },
      { path: "support/deep.ts", text: "" },
      { path: "support/alone.ts", text: "" },
    ];
    expect(filesOfTests(files).map(({ path }) => path)).toEqual(["a.test.ts", "support/suite.ts", "support/deep.ts"]);
  });
});
