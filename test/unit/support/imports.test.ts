import { describe, expect, it } from "vitest";
import { collectImports, type ImportRef } from "../../support/imports.js";

const collect = (text: string): ImportRef[] => collectImports("planted.ts", text);

const erased = (form: ImportRef["form"], ...names: string[]): Partial<ImportRef> => ({
  form,
  specifier: "m",
  typeOnly: true,
  names,
  typeNames: names,
});

const loaded = (form: ImportRef["form"], names: string[], typeNames: string[] = []): Partial<ImportRef> => ({
  form,
  specifier: "m",
  typeOnly: false,
  names,
  typeNames,
});

const forms: [source: string, found: Partial<ImportRef>][] = [
  [`import { a, b as c } from "m";`, loaded("import", ["a", "b"])],
  [`import d from "m";`, loaded("import", ["default"])],
  [`import d, { a } from "m";`, loaded("import", ["default", "a"])],
  [`import * as n from "m";`, loaded("import", ["*"])],
  [`import d, * as n from "m";`, loaded("import", ["default", "*"])],
  [`import { "odd name" as a } from "m";`, loaded("import", ["odd name"])],
  [`import j from "m" with { type: "json" };`, loaded("import", ["default"])],
  [`import {} from "m";`, loaded("import", [])],
  [`import { type A, b } from "m";`, loaded("import", ["A", "b"], ["A"])],
  [`import { type A } from "m";`, loaded("import", ["A"], ["A"])],
  [`import type { A } from "m";`, erased("import", "A")],
  [`import type D from "m";`, erased("import", "default")],
  [`import type * as N from "m";`, erased("import", "*")],
  [`import "m";`, loaded("side-effect", [])],
  [`export { a as b } from "m";`, loaded("export", ["a"])],
  [`export { type A, b } from "m";`, loaded("export", ["A", "b"], ["A"])],
  [`export type { A } from "m";`, erased("export", "A")],
  [`export * from "m";`, loaded("export", ["*"])],
  [`export * as n from "m";`, loaded("export", ["*"])],
  [`export type * from "m";`, erased("export", "*")],
  [`const a = await import("m");`, loaded("dynamic", ["*"])],
  ["const a = await import(`m`);", loaded("dynamic", ["*"])],
  [`function f() { return () => { void import("m"); }; }`, loaded("dynamic", ["*"])],
  [`const a = import.defer("m");`, loaded("dynamic", ["*"])],
  [`const a = require("m");`, loaded("require", ["*"])],
  [`const a = require.resolve("m");`, loaded("require", ["*"])],
  [`const a = module.require("m");`, loaded("require", ["*"])],
  [`const a = module["require"]("m");`, loaded("require", ["*"])],
  [`const a = process.getBuiltinModule("m");`, loaded("require", ["*"])],
  [`import a = require("m");`, loaded("import-equals", ["*"])],
  [`export import a = require("m");`, loaded("import-equals", ["*"])],
  [`import type a = require("m");`, erased("import-equals", "*")],
  [`type A = import("m").B;`, erased("import-type", "B")],
  [`type A = typeof import("m");`, erased("import-type", "*")],
  [`let a: Array<import("m").B.C>;`, erased("import-type", "B")],
  [`/// <reference types="m" />`, erased("reference", "*")],
  [`/// <reference path="m" />`, erased("reference", "*")],
  [`declare module "x" { export * from "m"; }`, loaded("export", ["*"])],
];

describe("collectImports", () => {
  it.each(forms)("finds %s", (source, found) => {
    expect(collect(source)).toEqual([{ ...found, line: 1 }]);
  });

  it.each([
    [`import(name);`, "name"],
    ["import(`./${name}.js`);", "`./${name}.js`"],
    [`require("a" + b);`, `"a" + b`],
    [`process.getBuiltinModule(name);`, "name"],
  ])("reports %s as unresolvable", (source, specifier) => {
    expect(collect(source)).toEqual([{ ...loaded("unresolvable", ["*"]), specifier, line: 1 }]);
  });

  it.each([
    `// import "m";`,
    `/* require("m") */`,
    `const text = 'import { a } from "m"';`,
    "const text = `export * from 'm'`;",
    `export { a }; const a = 1;`,
    `import.meta.url;`,
    `promise.resolve("m");`,
  ])("finds nothing in %s", (source) => {
    expect(collect(source)).toEqual([]);
  });

  it("gives each mention's line, in source order", () => {
    const refs = collect(`// first\nimport "a";\n\nimport {\n  b,\n} from "b";\nvoid import("c");\n`);
    expect(refs.map(({ specifier, line }) => [specifier, line])).toEqual([
      ["a", 2],
      ["b", 4],
      ["c", 7],
    ]);
  });
});
