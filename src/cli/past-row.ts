import {
  A2achanError,
  connectAuditor,
  isRefused,
  statusDigest,
  type LogPage,
  type WorkerStatus,
} from "../client/index.js";
import { workerStatus } from "../protocol/index.js";
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
    for (let after = 0; ;) {
      const page = await auditor.log({ worker_id, after });
      if (isRefused(page) || page.next === after) return undefined;
      const entry = page.entries.find((line) => line.includes(digest) && isStatus(line));
      if (entry !== undefined) return provenRow(entry, page.texts, digest);
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

/** The row of a status entry, with its texts put back where the log holds commitments. */
function provenRow(line: string, texts: LogPage["texts"], digest: string): WorkerStatus | undefined {
  const { index, row } = JSON.parse(line) as { index: number; row: Record<string, unknown> };
  const text = (field: string): string | undefined =>
    texts.find((one) => one.index === index && one.field === field)?.utf8;
  const next = row["next_action"] as { reflects: string[] } | undefined;
  const read = workerStatus.safeParse({
    ...row,
    ...("last_action" in row && { last_action: text("last_action") }),
    ...(next !== undefined && { next_action: { summary: text("summary"), reflects: next.reflects } }),
  });
  return read.success && statusDigest(read.data) === digest ? read.data : undefined;
}
