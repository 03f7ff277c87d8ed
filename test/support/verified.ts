import { Verifier, type Findings, type Yardsticks } from "../../src/cli/audit/verifier.js";
import type { LoggedLine } from "../../src/storage/journal/index.js";

/** What `a2achan verify` finds in these entries. */
export function verified(entries: Iterable<LoggedLine>, yardsticks: Partial<Yardsticks> = {}): Findings {
  const verifier = new Verifier({ texts: "whole", ...yardsticks });
  for (const entry of entries) if (verifier.take(entry) !== undefined) break;
  return verifier.end();
}
