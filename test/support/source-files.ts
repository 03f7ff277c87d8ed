import { readdirSync, readFileSync } from "node:fs";
import { join, relative, sep } from "node:path";
import { fileURLToPath } from "node:url";

/** One source file; `path` is relative to the folder that was read, with `/` between its parts. */
export interface SourceFile {
  path: string;
  text: string;
}

export const projectRoot = fileURLToPath(new URL("../..", import.meta.url));

/** Every TypeScript file of a folder below the project root, or every file of another kind, sorted by path. */
export function readSources(folder: string, extension = ".ts"): SourceFile[] {
  const root = join(projectRoot, folder);
  return readdirSync(root, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith(extension))
    .map((entry) => join(entry.parentPath, entry.name))
    .map((full) => ({ path: relative(root, full).split(sep).join("/"), text: readFileSync(full, "utf8") }))
    .sort((a, b) => (a.path < b.path ? -1 : 1));
}
