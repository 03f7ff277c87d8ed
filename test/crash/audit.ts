import { connectAuditor, isRefused } from "../../src/client/index.js";
import type { Claim } from "./book.js";

/** One entry of a log, as far as the checks look into it. */
interface Entry {
  index: number;
  at: number;
  kind: string;
  shard?: string;
  session?: string;
  token?: string;
  worker_id?: string;
  worker_entry?: number;
  correction_id?: string;
  status_digest?: string;
  row?: { seq: number; live: boolean };
}

/** What claims are looked up by that name no index. */
interface Sets {
  /** Digest of a worker's row, by worker and seq. */
  rows: Map<string, string>;
  admitted: Map<string, Entry>;
  /** Sessions that were opened and tokens that were granted. */
  names: Set<string>;
}

const OPEN_STAGES = ["admitted", "delivered", "acked"];
const ENDS = [
  "witnessed",
  "unreflected",
  "declined",
  "expired",
  "withdrawn",
  "superseded",
  "stale",
  "orphaned",
  "revoked",
];

/** A log as an auditor reads it, from its first entry on. */
export class AuditedLog {
  readonly lines: readonly string[];
  readonly entries: readonly Entry[];
  readonly #texts: ReadonlyMap<string, string>;

  constructor(lines: readonly string[], texts: readonly { index: number; field: string; utf8: string }[]) {
    this.lines = lines;
    this.entries = lines.map((line) => JSON.parse(line) as Entry);
    this.#texts = new Map(texts.map(({ index, field, utf8 }) => [`${index} ${field}`, utf8]));
  }

  /** Reads the whole log from a broker with a token that may audit, texts too. */
  static async read(url: string, token: string): Promise<AuditedLog> {
    await using auditor = await connectAuditor({ url, token });
    const lines: string[] = [];
    const texts: { index: number; field: string; utf8: string }[] = [];
    for (;;) {
      const page = await auditor.log({ after: lines.length });
      if (isRefused(page)) throw new Error(`the auditor was refused: ${page.reason}`);
      if (page.entries.length === 0) return new AuditedLog(lines, texts);
      lines.push(...page.entries);
      texts.push(...page.texts);
    }
  }

  /** Each claim that the log does not bear out, with what stands there instead. */
  lost(claims: readonly Claim[]): string[] {
    const sets = this.#sets();
    return claims.flatMap((claim) => {
      const stands = this.#missing(claim, sets);
      return stands === undefined ? [] : [`${JSON.stringify(claim)}: ${stands}`];
    });
  }

  /** What no log may be, whatever was answered. */
  broken(): string[] {
    const faults: string[] = [];
    const seqs = new Map<string, number>();
    const digests = new Set<string>();
    const named = new Map<string, number>();
    const stages = new Map<string, number>();
    let before = 0;
    this.entries.forEach((entry, at) => {
      const fault = (what: string): void => void faults.push(`entry ${at}: ${what}`);
      if (entry.index !== at) fault(`it says that it is ${entry.index}`);
      if (entry.at < before) fault("its time is before that of the entry before it");
      before = entry.at;
      const { worker_id = "", worker_entry, row, status_digest = "", correction_id = "" } = entry;
      if (entry.kind === "status" && row !== undefined) {
        if (row.seq !== (seqs.get(worker_id) ?? 0) + 1) fault(`seq of ${worker_id} went to ${row.seq}`);
        if (digests.has(status_digest)) fault(`digest ${status_digest} is current again`);
        seqs.set(worker_id, row.seq);
        digests.add(status_digest);
      }
      if (worker_entry !== undefined) {
        if (worker_entry !== (named.get(worker_id) ?? 0) + 1) fault(`worker_entry of ${worker_id} is ${worker_entry}`);
        named.set(worker_id, worker_entry);
      }
      const rank = rankOf(entry.kind);
      if (rank === undefined) return;
      const reached = stages.get(correction_id);
      const again = entry.kind === "delivered" && reached === rank;
      if (!again && rank <= (reached ?? -1)) fault(`${correction_id} went back to ${entry.kind}`);
      if (rank > 0 && reached === undefined) fault(`${correction_id} was never admitted`);
      stages.set(correction_id, rank);
    });
    return faults;
  }

  /** Ids of corrections without an end, by worker. */
  open(): Map<string, string[]> {
    const open = new Map<string, string>();
    for (const { kind, correction_id = "", worker_id = "" } of this.entries) {
      if (kind === "admitted") open.set(correction_id, worker_id);
      else if (ENDS.includes(kind)) open.delete(correction_id);
    }
    const byWorker = new Map<string, string[]>();
    for (const [id, worker] of open) byWorker.set(worker, [...(byWorker.get(worker) ?? []), id]);
    return byWorker;
  }

  /** The `seq` that each worker's row has. */
  seqs(): Map<string, number> {
    return new Map(
      this.entries.flatMap(({ worker_id = "", row }) => (row === undefined ? [] : [[worker_id, row.seq]])),
    );
  }

  count(kind: string): number {
    return this.entries.filter((entry) => entry.kind === kind).length;
  }

  #missing(claim: Claim, sets: Sets): string | undefined {
    switch (claim.what) {
      case "entry": {
        const entry = this.entries[claim.index] as Record<string, unknown> | undefined;
        const bears =
          entry !== undefined && Object.entries(claim.fields).every(([name, value]) => entry[name] === value);
        return bears ? undefined : (this.lines[claim.index] ?? "no such entry");
      }
      case "line":
        return this.lines[claim.index] === claim.line ? undefined : (this.lines[claim.index] ?? "no such entry");
      case "row": {
        const digest = sets.rows.get(`${claim.worker_id} ${claim.seq}`);
        return digest === claim.digest ? undefined : (digest ?? "no such row");
      }
      case "admitted": {
        const entry = sets.admitted.get(claim.correction_id);
        if (entry?.at !== claim.at) return "never admitted then";
        return this.#texts.get(`${entry.index} message`) === claim.message ? undefined : "its text is gone";
      }
      case "session":
        return sets.names.has(claim.session) ? undefined : "no such session";
      case "grant":
        return sets.names.has(claim.token) ? undefined : "no such grant";
      case "size":
        if (this.entries[0]?.shard !== claim.shard) return "another log";
        return this.lines.length >= claim.size ? undefined : `the log has ${this.lines.length} entries`;
    }
  }

  #sets(): Sets {
    const rows = new Map<string, string>();
    const admitted = new Map<string, Entry>();
    const names = new Set<string>();
    for (const entry of this.entries) {
      const { kind, worker_id, row, status_digest, correction_id, session, token } = entry;
      if (kind === "status") rows.set(`${worker_id} ${row?.seq}`, String(status_digest));
      if (kind === "admitted") admitted.set(String(correction_id), entry);
      if (kind === "session_opened") names.add(String(session));
      if (kind === "grant_added") names.add(String(token));
    }
    return { rows, admitted, names };
  }
}

/** Where a kind of entry stands in a correction's life; undefined for one that is no stage. */
function rankOf(kind: string): number | undefined {
  if (ENDS.includes(kind)) return OPEN_STAGES.length;
  const rank = OPEN_STAGES.indexOf(kind);
  return rank === -1 ? undefined : rank;
}
