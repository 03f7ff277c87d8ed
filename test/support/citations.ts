import ts from "typescript";
import { posix } from "node:path";
import { collectImports } from "./imports.js";
import type { SourceFile } from "./source-files.js";
import { REQUIREMENT_ID } from "./spec-document.js";

/** One requirement id that the title of a test names in square brackets. */
export interface Citation {
  id: string;
  path: string;
  /** From 1. */
  line: number;
}

const TESTS = new Set(["test", "it", "describe"]);
/** What stands between `it` and its title and leaves the test undone, or done under a condition only. */
const SKIPS = new Set(["skip", "skipIf", "runIf", "todo"]);
/** What takes a table and gives a function that takes the title. */
const TABLED = new Set(["each", "for"]);

/**
 * Every citation in the titles of tests. A title is a string passed to test, it or describe, or a cell of the table of
 * its `each`. Whatever is skipped, or may be (skip, skipIf, runIf, todo, the option `skip`, a call of the context's
 * `skip`), cites nothing, and neither does anything inside it.
 */
export function collectCitations({ path, text }: SourceFile): Citation[] {
  const file = ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true);
  const found: Citation[] = [];

  const cite = (node: ts.Node): void => {
    if (ts.isStringLiteralLike(node) || ts.isTemplateLiteralToken(node)) {
      for (const [, id] of node.text.matchAll(new RegExp(`\\[(${REQUIREMENT_ID.source})\\]`, "g"))) {
        const line = file.getLineAndCharacterOfPosition(node.getStart(file)).line + 1;
        if (id !== undefined) found.push({ id, path, line });
      }
      return;
    }
    ts.forEachChild(node, cite);
  };

  const visit = (node: ts.Node): void => {
    if (ts.isCallExpression(node)) {
      const chain = chainOf(node.expression);
      if (chain !== undefined) {
        if (chain.names.some((name) => SKIPS.has(name)) || hasSkipOption(node)) return;
        const body = node.arguments.find((arg) => ts.isArrowFunction(arg) || ts.isFunctionExpression(arg));
        if (body !== undefined && skipsItself(body)) return;
        const [title] = node.arguments;
        const isTable = TABLED.has(chain.names[0] ?? "") && chain.tables.length === 0;
        if (title !== undefined && !isTable) [title, ...chain.tables].forEach(cite);
      }
    }
    ts.forEachChild(node, visit);
  };
  visit(file);
  return found;
}

/** Every citation in the `requirements` of a file of wire scenarios (test/conformance/README.md): each is a test. */
export function collectScenarioCitations({ path, text }: SourceFile): Citation[] {
  return [...text.matchAll(/"requirements": \[([^\]]*)\]/g)].flatMap(({ 1: ids = "", index }) => {
    const line = text.slice(0, index).split("\n").length;
    return (JSON.parse(`[${ids}]`) as string[]).map((id) => ({ id, path, line }));
  });
}

/** The test files and what they import of the test folder: where a suite is written as a function, its titles count. */
export function filesOfTests(files: readonly SourceFile[]): SourceFile[] {
  const byPath = new Map(files.map((file) => [file.path, file]));
  const reached = new Map<string, SourceFile>();
  const reach = (file: SourceFile | undefined): void => {
    if (file === undefined || reached.has(file.path)) return;
    reached.set(file.path, file);
    for (const { specifier } of collectImports(file.path, file.text)) {
      if (specifier.startsWith("."))
        reach(byPath.get(posix.join(posix.dirname(file.path), specifier).replace(/\.js$/, ".ts")));
    }
  };
  for (const file of files) if (file.path.endsWith(".test.ts")) reach(file);
  return [...reached.values()];
}

/** `it.concurrent.each(table)` as the names behind `it` and the tables; undefined for what is no test. */
function chainOf(expression: ts.Expression): { names: string[]; tables: ts.Node[] } | undefined {
  const names: string[] = [];
  const tables: ts.Node[] = [];
  for (let at: ts.Expression = expression; ;) {
    if (ts.isIdentifier(at)) return TESTS.has(at.text) ? { names, tables } : undefined;
    if (ts.isPropertyAccessExpression(at)) {
      names.push(at.name.text);
      at = at.expression;
    } else if (ts.isCallExpression(at)) {
      tables.push(...at.arguments);
      at = at.expression;
    } else if (ts.isTaggedTemplateExpression(at)) {
      at = at.tag;
    } else {
      return undefined;
    }
  }
}

function hasSkipOption(call: ts.CallExpression): boolean {
  return call.arguments.some(
    (arg) =>
      ts.isObjectLiteralExpression(arg) &&
      arg.properties.some(({ name }) => name !== undefined && ts.isIdentifier(name) && SKIPS.has(name.text)),
  );
}

/** Whether the body calls `skip`, as vitest's context offers it: `({ skip }) => skip()` or `(context) => context.skip()`. */
function skipsItself(body: ts.Node): boolean {
  let skips = false;
  const visit = (node: ts.Node): void => {
    if (ts.isCallExpression(node)) {
      const { expression } = node;
      const name = ts.isPropertyAccessExpression(expression) ? expression.name : expression;
      // An inner `it.skip` is judged by itself.
      if (ts.isIdentifier(name) && name.text === "skip" && chainOf(expression) === undefined) skips = true;
    }
    ts.forEachChild(node, visit);
  };
  visit(body);
  return skips;
}
