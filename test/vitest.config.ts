import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";
import tsconfig from "../tsconfig.json" with { type: "json" };
import { SummaryReporter } from "./support/summary-reporter.js";

const root = fileURLToPath(new URL("..", import.meta.url));
// The `#` imports mean the sources here, as for the compiler.
const alias = Object.entries(tsconfig.compilerOptions.paths).map(([find, [path]]) => ({
  find: new RegExp(`^${find}$`),
  replacement: join(root, path ?? ""),
}));

export default defineConfig({
  root,
  resolve: { alias },
  test: {
    include: ["test/**/*.test.ts"],
    environment: "node",
    // Processes, not threads: suites spawn brokers, send signals and may leave sockets, and a worker that dies must not take the run with it.
    pool: "forks",
    maxWorkers: 2,
    // Guards against a hang on a slow machine; no test measures time.
    testTimeout: 30_000,
    hookTimeout: 30_000,
    // An instance, because a path would be resolved against the root by some versions and against this file by others.
    reporters: ["default", new SummaryReporter()],
  },
});
