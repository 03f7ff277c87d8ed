import { isBuiltin } from "node:module";
import { posix } from "node:path";
import { collectImports, type ImportRef } from "./imports.js";
import type { SourceFile } from "./source-files.js";

/** What one folder (or one top file) of src may import besides its own files. */
export interface LayerRule {
  /** Folders or top files. */
  layers: readonly string[] | "any";
  /** Folders whose types only may be imported, by an `import type` that leaves nothing behind. */
  types?: readonly string[];
  /** Packages by name; a deep path counts as its package. */
  packages: readonly string[] | "any";
  /** `node:` modules, each with the values that may be taken from it. Types are free. */
  node: Readonly<Record<string, readonly string[] | "any">> | "any";
}

/** `#name` of package.json's `imports` -> every source file that it can mean. */
export type InnerNames = Readonly<Record<string, readonly string[]>>;

/** Folder or top file of src -> its rule. What is not a key may not exist. */
export type LayerTable = Readonly<Record<string, LayerRule>>;

interface Surroundings {
  paths: ReadonlySet<string>;
  dependencies: readonly string[];
  inner: InnerNames;
}

/** Every mention that the table does not allow, as `path:line sentence`. */
export function findLayerViolations(
  table: LayerTable,
  files: readonly SourceFile[],
  dependencies: readonly string[],
  inner: InnerNames = {},
): string[] {
  const paths = new Set(files.map(({ path }) => path));
  return files.flatMap(({ path, text }) => {
    const layer = layerOf(path);
    const rule = table[layer];
    if (!rule) return [`${path}:1 ${layer} is not in the table`];
    return collectImports(path, text).flatMap((ref) => {
      const fault = judge(rule, layer, path, ref, { paths, dependencies, inner });
      return fault === undefined ? [] : [`${path}:${ref.line} ${fault}`];
    });
  });
}

/** One path round each cycle of imports, types included; empty when there is none. */
export function findCycles(files: readonly SourceFile[], inner: InnerNames = {}): string[][] {
  const paths = new Set(files.map(({ path }) => path));
  const edges = new Map(files.map((file) => [file.path, targetsOf(file, paths, inner)]));
  const cycles: string[][] = [];
  const done = new Set<string>();
  const trail: string[] = [];

  const walk = (path: string): void => {
    const start = trail.indexOf(path);
    if (start >= 0) cycles.push([...trail.slice(start), path]);
    if (start >= 0 || done.has(path)) return;
    trail.push(path);
    for (const target of edges.get(path) ?? []) walk(target);
    trail.pop();
    done.add(path);
  };
  for (const path of paths) walk(path);
  return cycles;
}

/**
 * What is run when `entry` is loaded where `#name` means `inner[name]`: its source files, and the builtins and packages
 * that they name, each with the file that does. Mentions that the compiler erases count for nothing.
 */
export function reach(
  files: readonly SourceFile[],
  entry: string,
  inner: InnerNames,
): { files: string[]; outside: string[] } {
  const byPath = new Map(files.map((file) => [file.path, file]));
  const paths = new Set(byPath.keys());
  const seen = new Set([entry]);
  const outside: string[] = [];
  for (const path of seen) {
    for (const { specifier, typeOnly } of collectImports(path, byPath.get(path)?.text ?? "")) {
      if (typeOnly) continue;
      if (/^[.#]/.test(specifier)) for (const target of resolve(path, specifier, paths, inner)) seen.add(target);
      else outside.push(`${path}: ${specifier}`);
    }
  }
  return { files: [...seen], outside };
}

function judge(
  rule: LayerRule,
  layer: string,
  path: string,
  ref: ImportRef,
  { paths, dependencies, inner }: Surroundings,
): string | undefined {
  const { specifier } = ref;
  if (ref.form === "unresolvable") return `loads ${specifier}, which is not a literal`;
  if (/^[.#]/.test(specifier)) {
    const targets = resolve(path, specifier, paths, inner);
    if (targets.length === 0) return `imports ${specifier}, which is no source file`;
    return targets.map((target) => judgeInner(rule, layer, ref, target)).find((fault) => fault !== undefined);
  }
  if (isBuiltin(specifier)) return judgeBuiltin(rule, ref);
  const name = packageOf(specifier);
  if (rule.packages !== "any" && !rule.packages.includes(name)) return `may not import the package ${name}`;
  return dependencies.includes(name) ? undefined : `imports ${name}, which is not in dependencies`;
}

function judgeInner(rule: LayerRule, layer: string, ref: ImportRef, target: string): string | undefined {
  const to = layerOf(target);
  if (to === layer || rule.layers === "any" || rule.layers.includes(to)) return undefined;
  if (!rule.types?.includes(to)) return `may not import ${to} (${ref.specifier})`;
  return ref.typeOnly ? undefined : `may import only types from ${to} (${ref.specifier})`;
}

function judgeBuiltin(rule: LayerRule, ref: ImportRef): string | undefined {
  const { specifier } = ref;
  if (!specifier.startsWith("node:")) return `imports ${specifier} without node:`;
  if (rule.node === "any") return undefined;
  const allowed = rule.node[specifier];
  if (allowed === undefined) return `may not import ${specifier}`;
  if (allowed === "any") return undefined;
  const barred = ref.names.filter((name) => !allowed.includes(name) && !ref.typeNames.includes(name));
  if (ref.form === "side-effect") return `may not import ${specifier} for its effects`;
  return barred.length === 0 ? undefined : `may not take ${barred.join(", ")} from ${specifier}`;
}

function targetsOf(file: SourceFile, paths: ReadonlySet<string>, inner: InnerNames): string[] {
  return collectImports(file.path, file.text).flatMap(({ specifier }) => resolve(file.path, specifier, paths, inner));
}

/** The source files that a relative specifier names as its output (`./x.js`), or that a `#name` can mean. */
function resolve(from: string, specifier: string, paths: ReadonlySet<string>, inner: InnerNames): string[] {
  if (specifier.startsWith("#")) return (inner[specifier] ?? []).filter((target) => paths.has(target));
  if (!specifier.startsWith(".") || !specifier.endsWith(".js")) return [];
  const stem = posix.join(posix.dirname(from), specifier).slice(0, -".js".length);
  return [`${stem}.ts`, `${stem}.d.ts`].filter((candidate) => paths.has(candidate)).slice(0, 1);
}

function layerOf(path: string): string {
  return path.split("/")[0] ?? path;
}

function packageOf(specifier: string): string {
  return specifier
    .split("/")
    .slice(0, specifier.startsWith("@") ? 2 : 1)
    .join("/");
}
