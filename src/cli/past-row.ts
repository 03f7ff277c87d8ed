import { A2achanError, connectAuditor, isRefused, type WorkerStatus } from "../client/index.js";
import type { TextLine } from "../kernel/index.js";
import { openedEntry, provenRow } from "./audit/opened-entry.js";
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
    const texts: TextLine[] = [];
    for (let after = 0; ;) {
      const page = await auditor.log({ worker_id, after });
      if (isRefused(page) || page.next === after) return undefined;
      // A row's texts may lie with the earlier entry that brought them.
      texts.push(...(page.texts as TextLine[]));
      for (const line of page.entries) {
        const event = line.includes(digest) ? openedEntry(line, texts) : undefined;
        if (event?.kind === "status") return provenRow(event.row, digest);
      }
      after = page.next;
    }
  } catch (error) {
    if (error instanceof A2achanError) return undefined;
    throw error;
  }
}
