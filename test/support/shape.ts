import ts from "typescript";
import { lineOf, parse, visit } from "./imports.js";
import type { SourceFile } from "./source-files.js";

const MAX_LINES = 300;
const KEBAB = /^[a-z0-9]+(-[a-z0-9]+)*$/;
const VAGUE_FOLDERS = ["util", "utils"];

/** The house style that a parser can see: size, names of files, and the forms that src does without. */
export function findShapeViolations(files: readonly SourceFile[]): string[] {
  return files.flatMap((file) => [...namingFaults(file), ...sizeFaults(file), ...nodeFaults(file, form)]);
}

/** Ways round the lint rule on globals, for the folders that must be pure. */
export function findPurityViolations(files: readonly SourceFile[]): string[] {
  return files.flatMap((file) => nodeFaults(file, impurity));
}

/** Where a file uses one of these names otherwise than as a member of something. */
export function findMentions(files: readonly SourceFile[], names: readonly string[]): string[] {
  const mention = (node: ts.Node): string | undefined =>
    ts.isIdentifier(node) && names.includes(node.text) && !isMemberName(node) ? node.text : undefined;
  return files.flatMap((file) => nodeFaults(file, mention));
}

function nodeFaults({ path, text }: SourceFile, judge: (node: ts.Node) => string | undefined): string[] {
  const source = parse(path, text);
  const faults: string[] = [];
  visit(source, (node) => {
    const fault = judge(node);
    if (fault !== undefined) faults.push(`${path}:${lineOf(source, node)} ${fault}`);
  });
  return faults;
}

function namingFaults({ path }: SourceFile): string[] {
  const folders = path.split("/");
  const file = folders.pop() ?? "";
  const faults = folders.filter((folder) => VAGUE_FOLDERS.includes(folder)).map((folder) => `folder named ${folder}`);
  if (!KEBAB.test(file.replace(/(\.d)?\.ts$/, ""))) faults.push("file name is not kebab-case");
  if (folders.some((folder) => !KEBAB.test(folder))) faults.push("folder name is not kebab-case");
  return faults.map((fault) => `${path}:1 ${fault}`);
}

function sizeFaults({ path, text }: SourceFile): string[] {
  const lines = text.split("\n").length - (text.endsWith("\n") ? 1 : 0);
  const generated = path.endsWith("/text-table.ts");
  return lines > MAX_LINES && !generated ? [`${path}:${MAX_LINES + 1} has ${lines} lines, over ${MAX_LINES}`] : [];
}

function form(node: ts.Node): string | undefined {
  if (ts.isEnumDeclaration(node)) return "enum";
  if (ts.isExportAssignment(node)) return "default export";
  if (ts.isExportSpecifier(node) && node.name.text === "default") return "default export";
  if (ts.canHaveModifiers(node) && node.modifiers?.some(({ kind }) => kind === ts.SyntaxKind.DefaultKeyword)) {
    return "default export";
  }
  if (!ts.isExportDeclaration(node) || (node.exportClause && ts.isNamedExports(node.exportClause))) return undefined;
  return isAmbient(node) ? undefined : "export *";
}

/** `declare module "x" { export * from "y" }` types a package that has no types of its own; nothing is exported from src by it. */
function isAmbient(node: ts.Node): boolean {
  return ts.isModuleBlock(node.parent) && ts.isStringLiteral(node.parent.parent.name);
}

function impurity(node: ts.Node): string | undefined {
  if (ts.isMetaProperty(node) && node.keywordToken === ts.SyntaxKind.ImportKeyword) return "import.meta";
  if (!ts.isIdentifier(node) || isMemberName(node)) return undefined;
  if (node.text === "globalThis" || node.text === "global") return node.text;
  if (node.text === "eval" || node.text === "Function") return node.text;
  if (node.text !== "Math") return undefined;
  return ts.isPropertyAccessExpression(node.parent) && node.parent.name.text !== "random"
    ? undefined
    : "Math other than a named, deterministic member";
}

/** `x.global` and `{ global: 1 }` name a member, not the global. */
function isMemberName(node: ts.Identifier): boolean {
  const { parent } = node;
  if (ts.isPropertyAccessExpression(parent) || ts.isPropertyAssignment(parent)) return parent.name === node;
  return (ts.isPropertySignature(parent) || ts.isPropertyDeclaration(parent)) && parent.name === node;
}
