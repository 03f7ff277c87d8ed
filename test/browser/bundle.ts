import { join } from "node:path";
import { build } from "vite";
import { projectRoot } from "../support/source-files.js";

/** `page.ts` with the built package as a bundler for browsers packs them: one script, `page.run` is its entry. */
export async function bundlePage(): Promise<{ code: string; imports: string[]; modules: string[] }> {
  const built = await build({
    configFile: false,
    root: projectRoot,
    logLevel: "warn",
    build: { write: false, lib: { entry: join(projectRoot, "test/browser/page.ts"), formats: ["iife"], name: "page" } },
  });
  const [output] = Array.isArray(built) ? built : [built];
  if (output === undefined || !("output" in output)) throw new Error("the bundler watches instead of building");
  const [{ code, imports, moduleIds }, ...others] = output.output;
  if (others.length > 0) throw new Error(`more than one file: ${others.map(({ fileName }) => fileName).join(", ")}`);
  return { code, imports, modules: moduleIds };
}
