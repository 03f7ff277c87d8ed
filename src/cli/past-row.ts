import {
  A2achanError,
  connectAuditor,
  isRefused,
  statusDigest,
  type LogPage,
  type WorkerStatus,
} from "../client/index.js";
import { commitment, workerStatus, type TextField } from "../protocol/index.js";
import type { Connection } from "./config.js";

/** How long the log is searched: what moved is good to know, and not worth a long wait. */
const SEARCH_MS = 3_000;

/**
 * The row that a worker had when its digest was this one, read from the witness log and proven by the digest itself;
 * undefined when the token does not open the log with its texts, or the row is not found soon.
 */
export async function pastRow(
  { url, token }: Connection,
  worker_id: string,
  digest: string,
): Promise<WorkerStatus | undefined> {
  const signal = AbortSignal.timeout(SEARCH_MS);
  try {
    await using auditor = await connectAuditor({ url, token, signal });
    const texts: LogPage["texts"] = [];
    for (let after = 0; ;) {
      const page = await auditor.log({ worker_id, after });
      if (isRefused(page) || page.next === after) return undefined;
      texts.push(...page.texts);
      const entry = page.entries.find((line) => line.includes(digest) && isStatus(line));
      if (entry !== undefined) return provenRow(entry, texts, digest);
      after = page.next;
    }
  } catch (error) {
    if (error instanceof A2achanError) return undefined;
    throw error;
  }
}

function isStatus(line: string): boolean {
  return (JSON.parse(line) as { kind: string }).kind === "status";
}

/** A text as an entry holds it. */
interface Committed {
  commitment: string;
}

/** The row of a status entry, with its texts put back; they may lie with the earlier entry that brought them. */
function provenRow(line: string, texts: LogPage["texts"], digest: string): WorkerStatus | undefined {
  const { row } = JSON.parse(line) as { row: Record<string, unknown> };
  const text = (field: TextField, held: unknown): string | undefined =>
    texts.find(
      (one) =>
        one.field === field &&
        commitment(field, Buffer.from(one.salt, "hex"), one.utf8) === (held as Committed).commitment,
    )?.utf8;
  const next = row["next_action"] as { reflects: string[]; summary: unknown } | undefined;
  const read = workerStatus.safeParse({
    ...row,
    ...("last_action" in row && { last_action: text("last_action", row["last_action"]) }),
    ...(next !== undefined && { next_action: { summary: text("summary", next.summary), reflects: next.reflects } }),
  });
  return read.success && statusDigest(read.data) === digest ? read.data : undefined;
}
