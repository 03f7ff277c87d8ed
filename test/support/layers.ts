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

/** Folder or top file of src -> its rule. What is not a key may not exist. */
export type LayerTable = Readonly<Record<string, LayerRule>>;

/** Every mention that the table does not allow, as `path:line sentence`. */
export function findLayerViolations(
  table: LayerTable,
  files: readonly SourceFile[],
  dependencies: readonly string[],
): string[] {
  const paths = new Set(files.map(({ path }) => path));
  return files.flatMap(({ path, text }) => {
    const layer = layerOf(path);
    const rule = table[layer];
    if (!rule) return [`${path}:1 ${layer} is not in the table`];
    return collectImports(path, text).flatMap((ref) => {
      const fault = judge(rule, layer, path, ref, paths, dependencies);
      return fault === undefined ? [] : [`${path}:${ref.line} ${fault}`];
    });
  });
}

/** One path round each cycle of imports, types included; empty when there is none. */
export function findCycles(files: readonly SourceFile[]): string[][] {
  const paths = new Set(files.map(({ path }) => path));
  const edges = new Map(files.map((file) => [file.path, targetsOf(file, paths)]));
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

function judge(
  rule: LayerRule,
  layer: string,
  path: string,
  ref: ImportRef,
  paths: ReadonlySet<string>,
  dependencies: readonly string[],
): string | undefined {
  const { specifier } = ref;
  if (ref.form === "unresolvable") return `loads ${specifier}, which is not a literal`;
  if (specifier.startsWith(".")) return judgeRelative(rule, layer, path, ref, paths);
  if (isBuiltin(specifier)) return judgeBuiltin(rule, ref);
  const name = packageOf(specifier);
  if (rule.packages !== "any" && !rule.packages.includes(name)) return `may not import the package ${name}`;
  return dependencies.includes(name) ? undefined : `imports ${name}, which is not in dependencies`;
}

function judgeRelative(
  rule: LayerRule,
  layer: string,
  path: string,
  ref: ImportRef,
  paths: ReadonlySet<string>,
): string | undefined {
  const target = resolve(path, ref.specifier, paths);
  if (target === undefined) return `imports ${ref.specifier}, which is no source file`;
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

function targetsOf(file: SourceFile, paths: ReadonlySet<string>): string[] {
  return collectImports(file.path, file.text)
    .filter(({ specifier }) => specifier.startsWith("."))
    .map(({ specifier }) => resolve(file.path, specifier, paths))
    .filter((target) => target !== undefined);
}

/** The source file that a relative specifier names as its output (`./x.js`). */
function resolve(from: string, specifier: string, paths: ReadonlySet<string>): string | undefined {
  if (!specifier.endsWith(".js")) return undefined;
  const stem = posix.join(posix.dirname(from), specifier).slice(0, -".js".length);
  return [`${stem}.ts`, `${stem}.d.ts`].find((candidate) => paths.has(candidate));
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
