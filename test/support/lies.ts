import { MemoryStore } from "../../src/storage/memory.js";
import type { Batch } from "../../src/storage/event-store.js";
import { lineOf } from "./mangled-log.js";

/** An entry of a log, parsed. */
export type LoggedEntry = Record<string, unknown> & { kind: string };

/** Tells an entry otherwise; undefined for one about which there is nothing to be told. */
export type Lie = (entry: LoggedEntry) => LoggedEntry | undefined;

const NO_DIGEST = `sha256:${"0".repeat(64)}`;
const OF_REFUSALS = ["reason", "detail", "verb"];

/** What a broker can say in its log that its rules do not say. */
export const LIES: Readonly<Record<"a verdict" | "a reason" | "a stage" | "a digest" | "a reflection", Lie>> = {
  "a verdict": ({ kind, ...entry }) =>
    kind === "refused" && entry["reason"] === "TRUST_VIOLATION"
      ? {
          ...Object.fromEntries(Object.entries(entry).filter(([key]) => !OF_REFUSALS.includes(key))),
          kind: "admitted",
          deliverable: true,
          expires_at: (entry["at"] as number) + 600_000,
          orchestrator_id: (entry["by"] as { subject: string }).subject,
        }
      : undefined,
  "a reason": (entry) => (entry["reason"] === "TRUST_VIOLATION" ? { ...entry, reason: "UNWITNESSED" } : undefined),
  "a stage": (entry) => (entry.kind === "unreflected" ? { ...entry, kind: "witnessed" } : undefined),
  "a digest": (entry) => (entry.kind === "status" ? { ...entry, status_digest: NO_DIGEST } : undefined),
  "a reflection": (entry) =>
    entry.kind === "planned" && (entry["reflects"] as string[]).length > 0 ? { ...entry, reflects: [] } : undefined,
};

/** The log of a broker that lies in it, once: whoever builds the tree and signs it takes the lie for what was written. */
export class LyingStore extends MemoryStore {
  /** Where it lied; undefined before. */
  told: number | undefined;
  readonly #lie: Lie;

  constructor(lie: Lie) {
    super();
    this.#lie = lie;
  }

  override append(batch: Batch): Promise<void> {
    const entries = batch.entries.map((line, at) => {
      const lie = this.told === undefined ? this.#lie(JSON.parse(line) as LoggedEntry) : undefined;
      if (lie === undefined) return line;
      this.told = batch.first + at;
      return lineOf(lie);
    });
    return super.append({ ...batch, entries });
  }
}
