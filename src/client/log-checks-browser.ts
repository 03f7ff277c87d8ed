import type { LogChecks } from "./log-checks.js";

/**
 * `log-checks.js` in a browser, where no Ed25519 is synchronous: none. A client there keeps its checkpoints and sees a
 * log that shrank, changed its origin, or has two roots at one size, but neither signatures nor proofs.
 */
export const LOG_CHECKS: LogChecks | undefined = undefined;
