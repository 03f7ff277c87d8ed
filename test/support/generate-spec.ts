/**
 * Writes what the specification takes from the code: `npm run spec`. With `--check` it writes nothing and exits 1 when
 * a file differs. The parts are spec/schema/*.json, the tables of spec/PROTOCOL.md, and spec/requirements.json, which
 * comes from the clauses of PROTOCOL.md.
 */
import { mkdirSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { readProtocol, requirementsOf, specFolder, withTables } from "./spec-document.js";
import { schemaFiles } from "./spec-schemas.js";
import { specTables } from "./spec-tables.js";

/** What each generated file should be, by its path below spec. */
export function specFiles(): Map<string, string> {
  const protocol = withTables(readProtocol(), specTables());
  const files = new Map([
    ["PROTOCOL.md", protocol],
    ["requirements.json", `${JSON.stringify(requirementsOf(protocol), null, 2)}\n`],
  ]);
  for (const [name, text] of schemaFiles()) files.set(`schema/${name}`, text);
  return files;
}

/** Paths below spec that are missing, differ from what the code says, or that the code knows nothing of; sorted. */
export function specDifferences(): string[] {
  const files = specFiles();
  const changed = [...files].filter(([path, text]) => readOr(path) !== text).map(([path]) => path);
  const schemas = readOr("schema") === undefined ? [] : readdirSync(join(specFolder, "schema"));
  const unknown = schemas.map((name) => `schema/${name}`).filter((path) => !files.has(path));
  return [...changed, ...unknown].toSorted();
}

function readOr(path: string): string | undefined {
  try {
    return readFileSync(join(specFolder, path), "utf8");
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "ENOENT") return undefined;
    if (code === "EISDIR") return "";
    throw error;
  }
}

function main(check: boolean): void {
  if (check) {
    const differences = specDifferences();
    for (const path of differences) process.stderr.write(`spec/${path} differs from the code; run npm run spec\n`);
    process.exitCode = differences.length === 0 ? 0 : 1;
    return;
  }
  for (const [path, text] of specFiles()) {
    const target = join(specFolder, path);
    mkdirSync(dirname(target), { recursive: true });
    writeFileSync(target, text);
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) main(process.argv.includes("--check"));
