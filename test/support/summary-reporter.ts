import type { SerializedError } from "vitest";
import type { Reporter, TestModule } from "vitest/node";

/** Counts of a run: what passed, what failed and what did not run. */
interface Totals {
  passed: number;
  failed: number;
  skipped: number;
}

/**
 * The one line that scripts read: `12 passed, 0 failed`, with `, 3 skipped` when any did not run.
 * It has no colour and stands alone on its line.
 */
function summaryLine(totals: Totals): string {
  const line = `${totals.passed} passed, ${totals.failed} failed`;
  return totals.skipped > 0 ? `${line}, ${totals.skipped} skipped` : line;
}

/**
 * Counts tests. A file or suite that breaks before its tests run, and an error outside every test, each count as one failure,
 * so that a run which exits non-zero never reads `0 failed`.
 */
function countTests(modules: readonly TestModule[], unhandled: readonly SerializedError[]): Totals {
  const totals: Totals = { passed: 0, failed: unhandled.length, skipped: 0 };
  for (const module of modules) {
    for (const test of module.children.allTests()) {
      const { state } = test.result();
      if (state === "passed") totals.passed += 1;
      else if (state === "failed") totals.failed += 1;
      else totals.skipped += 1;
    }
    totals.failed += module.errors().length;
    for (const suite of module.children.allSuites()) totals.failed += suite.errors().length;
  }
  return totals;
}

/** Prints the summary line last, after whatever the reporters before it printed. */
export class SummaryReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], unhandled: readonly SerializedError[]): void {
    process.stdout.write(`${summaryLine(countTests(modules, unhandled))}\n`);
  }
}
