import type { ReplyOf, Stage } from "../protocol/index.js";
import type { CallOptions } from "./bounded.js";
import type { Connection } from "./connection.js";
import { A2achanError } from "./errors.js";
import { forked, requireChecks } from "./log-trail.js";
import { refusedBy, type Refused } from "./refusals.js";
import type { ShownCheckpoint } from "./shown-checkpoint.js";

/** That an entry is in the log. */
export interface EntryProof {
  index: number;
  /**
   * The exact line of the log, whose inclusion was checked. Absent for an entry that this client may not read: then
   * `hashes` are unchecked, and for whoever has the line.
   */
  entry?: string;
  /** Audit path of the leaf (RFC 6962), its sibling first, in base64. */
  hashes: string[];
  /** The signed checkpoint under which it holds; it extends the one that this client kept when it asked. */
  checkpoint: string;
  /** Whether the checkpoint's signature was checked, with `logKey`. */
  signed: boolean;
}

/** What an answer that rests on an entry says of it: a receipt, a stage, an outcome. */
export type LoggedAnswer =
  | {
      index: number;
      correction_id: string;
      worker_id?: string;
      stage: Stage;
      detail?: string;
      echo?: true;
      at?: number;
    }
  | {
      index?: number;
      verdict: "ALLOW" | "DENY";
      correction_id?: string;
      reason?: string;
      detail?: string;
      path?: string;
      max_bytes?: number;
      expires_at?: number;
      deliverable?: boolean;
      replayed?: boolean;
    };

/** Asks for the proof of one entry and checks it; undefined where the log ends before it. A broker that lies ends the client. */
export async function proveEntry(
  connection: Connection,
  index: number,
  options?: CallOptions,
): Promise<EntryProof | Refused | undefined> {
  requireChecks();
  return connection.orEnd(connection.within(proved(connection, index), options));
}

/**
 * Proves the entry that an answer names, and that it says what the answer said. Rejects with `log_forked` where it does
 * not, which ends the client.
 */
export function confirmAnswer(
  connection: Connection,
  answer: LoggedAnswer,
  options?: CallOptions,
): Promise<EntryProof | Refused> {
  const { index } = answer;
  if (index === undefined) {
    const sentence = "This refusal has no entry of its own to be confirmed by.";
    return Promise.reject(new A2achanError("unverifiable", { sentence }));
  }
  requireChecks();
  const confirmed = async (): Promise<EntryProof | Refused> => {
    const proof = await proved(connection, index);
    const { kept } = connection.trail;
    if (proof !== undefined && "refused" in proof) return proof;
    const shown = { note: proof?.checkpoint ?? kept?.note ?? "" };
    if (proof === undefined) throw forked(`The log has no entry ${index}, which an answer named.`, kept, shown);
    if (proof.entry === undefined || !saysSo(answer, proof.entry)) {
      throw forked(`Entry ${index} is not what was answered.`, kept, shown);
    }
    return proof;
  };
  return connection.orEnd(connection.within(confirmed(), options));
}

/** The entry's proof and the log's growth under one checkpoint, asked for together: again, if the log grew in between. */
async function proved(connection: Connection, index: number): Promise<EntryProof | Refused | undefined> {
  const { trail } = connection;
  for (;;) {
    const { kept } = trail;
    const [reply, growth] = await Promise.all([
      connection.ask({ type: "prove", index }).reply,
      connection.ask({ type: "prove", from_size: kept?.size ?? 0 }).reply,
    ]);
    if (reply.type === "refusal") return refusedBy(reply);
    if (growth.type === "refusal") return refusedBy(growth);
    const under = kept === undefined ? trail.judge(growth.checkpoint, kept) : trail.grown(kept, growth);
    trail.keep(under);
    if (reply.checkpoint !== growth.checkpoint) continue;
    return checked(index, reply, under, trail.pinned);
  }
}

function checked(
  index: number,
  { hashes, entry }: ReplyOf<"proof">,
  under: ShownCheckpoint,
  signed: boolean,
): EntryProof | undefined {
  if (hashes === undefined) {
    if (index < under.size) throw forked(`The log does not prove its entry ${index}.`, undefined, under);
    return undefined;
  }
  if (entry !== undefined && !requireChecks().isIncluded(index, entry, under, hashes)) {
    throw forked(`What is shown as entry ${index} is not in the log.`, undefined, under);
  }
  return { index, ...(entry !== undefined && { entry }), hashes, checkpoint: under.note, signed };
}

/** Whether a line of the log says what an answer said: its kind, what it names, and why. */
function saysSo(answer: LoggedAnswer, line: string): boolean {
  const entry = JSON.parse(line) as Record<string, unknown>;
  const named = ["index", "correction_id", "worker_id", "detail"] as const;
  if ("verdict" in answer) {
    if (answer.verdict === "DENY")
      return entry["kind"] === "refused" && agree(entry, answer, [...named, "reason", "path", "max_bytes"]);
    // A replay says where things stand now, the entry where they stood.
    const then = answer.replayed === true ? [] : ["expires_at", "deliverable"];
    return entry["kind"] === "admitted" && agree(entry, answer, [...named, ...then]);
  }
  return entry["kind"] === answer.stage.toLowerCase() && agree(entry, answer, [...named, "at", "echo"]);
}

function agree(entry: Record<string, unknown>, answer: object, fields: readonly string[]): boolean {
  const said = answer as Record<string, unknown>;
  return fields.every((field) => said[field] === undefined || said[field] === entry[field]);
}
