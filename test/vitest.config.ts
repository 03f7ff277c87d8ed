import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";
import { SummaryReporter } from "./support/summary-reporter.js";

export default defineConfig({
  root: fileURLToPath(new URL("..", import.meta.url)),
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
