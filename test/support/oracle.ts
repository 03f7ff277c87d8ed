import type { Command } from "../../src/kernel/index.js";
import { holds, isOpenStage, type BookedCorrection, type BookedWorker, type LogBook } from "./log-book.js";

/** What a command must be answered, and the entries that it must leave, but for the ends that follow from them. */
export interface Expected {
  /** `REASON/DETAIL`, or what kind of answer. */
  answer: string;
  kinds: string[];
}

type Of<K extends Command["kind"]> = Extract<Command, { kind: K }>;
type FromWorker = Of<"status" | "receive" | "ack" | "decline" | "bye">;
type Named = Extract<Command, { by: { role: string } }>;

const NO_GRANT = "DEFAULT_DENY/NO_GRANT";
const ROLES: Readonly<Record<string, string>> = {
  worker: "publish receive ack",
  orchestrator: "correct watch",
  auditor: "audit audit.text",
};
const VERBS: Readonly<Record<string, string>> = {
  status: "publish",
  bye: "publish",
  open_session: "publish",
  receive: "receive",
  inbox: "receive",
  ack: "ack",
  decline: "ack",
  correct: "correct",
  withdraw: "correct",
  stage: "correct",
  get: "watch",
};

/** The answer by the book alone, in the plainest way: rule after rule, each looked up afresh. */
export function expectedOf(book: LogBook, command: Command): Expected {
  const answer = answerOf(book, command);
  if (!answer.includes("/")) return { answer, kinds: kindsOf(book, command, answer) };
  return { answer, kinds: isFolded(book, command as Named) ? [] : ["refused"] };
}

function answerOf(book: LogBook, command: Command): string {
  switch (command.kind) {
    case "take_role": {
      const { by, role, worker_id } = command;
      const own = book.grants.get(by.token ?? "")?.role;
      // Whoever shows no good token is nobody, and leaves no entry.
      if (own !== by.role || refusedVerb(book, command, "ping") !== undefined) return "done";
      const right = own === "operator" ? role !== "worker" : own === role;
      const named = role !== "worker" || worker_id === by.subject;
      return right && named ? "done" : NO_GRANT;
    }
    case "open_session":
      return refusedVerb(book, command, "open_session") ?? "done";
    case "malformed":
      return refusedVerb(book, command, command.request) ?? fenced(book, command) ?? nameOf(command.refusal);
    case "read":
      return refusedVerb(book, command, command.request) ?? fenced(book, command) ?? "done";
    case "correct":
      return refusedVerb(book, command, "correct") ?? admission(book, command);
    case "withdraw":
    case "stage": {
      const own = book.corrections.get(command.correction_id)?.sender === command.by.subject;
      return refusedVerb(book, command, command.kind) ?? (own ? "stage" : NO_GRANT);
    }
    case "status":
    case "receive":
    case "ack":
    case "decline":
    case "bye":
      return refusedVerb(book, command, command.kind) ?? fenced(book, command) ?? ofWorker(book, command);
    default:
      return "done";
  }
}

function admission(book: LogBook, { by, now, content, message, correction_id }: Of<"correct">): string {
  const grant = book.grants.get(by.token ?? "");
  if (grant === undefined || !holds(grant, "correct", now, content)) return NO_GRANT;
  if (![undefined, by.subject].includes(content.orchestrator_id)) return "TRUST_VIOLATION/PRINCIPAL";
  if (message.bytes > Math.min(content.max_bytes ?? 1_024, 1_024)) return "OVERSIZE/";
  if (book.corrections.has(correction_id)) return "replayed";
  const { row, digest, ended } = book.worker(content.worker_id);
  if (row === undefined || !holds(grant, "correct", now, row)) return "UNWITNESSED/NO_ROW";
  if (!row.live) return ended ? "UNWITNESSED/ENDED" : "UNWITNESSED/NOT_LIVE";
  if (content.status_digest !== digest) return "UNWITNESSED/DIGEST";
  const same = content.issue === row.issue && content.task_id === row.task_id && content.lane === row.lane;
  if (!same) return "TRUST_VIOLATION/SCOPE";
  const old = book.corrections.get(content.supersedes ?? "");
  if (content.supersedes !== undefined) {
    if (old?.sender !== by.subject || old.workerId !== row.worker_id) return "TRUST_VIOLATION/SUPERSEDES";
    if (!isOpenStage(old.stage)) return "UNWITNESSED/SUPERSEDES";
  }
  const others = book.open(row.worker_id).filter((one) => one !== old).length;
  if (others >= (content.priority === "halt" ? 9 : 8)) return "RATE_LIMITED/INBOX_FULL";
  const lately = [...book.corrections.values()].filter(
    (one) => one.sender === by.subject && one.admittedAt > now - 1_000,
  );
  return lately.length >= 20 ? "RATE_LIMITED/RATE" : "admitted";
}

function ofWorker(book: LogBook, command: FromWorker): string {
  const { by, now, worker_id } = command;
  const grant = book.grants.get(by.token ?? "");
  const worker = book.worker(worker_id);
  const busy = worker.published.filter((at) => at > now - 1_000).length >= 20;
  if (command.kind === "bye") return "done";
  if (command.kind === "status") {
    if (grant === undefined || !holds(grant, "publish", now, command)) return NO_GRANT;
    if (![undefined, worker.row?.seq ?? 0].includes(command.expect_seq)) return "UNWITNESSED/SEQ";
    return changes(worker, command) && busy ? "RATE_LIMITED/RATE" : "row";
  }
  const correction = book.corrections.get(command.correction_id);
  if (correction?.workerId !== worker_id) return "TRUST_VIOLATION/CORRECTION";
  if (command.kind === "receive") return "stage";
  if (command.status_digest !== correction.content.status_digest) return "TRUST_VIOLATION/CITED";
  const planned = command.kind === "ack" && isOpenStage(correction.stage) && !correction.acked && command.next_action;
  if (!planned || worker.row === undefined) return "stage";
  if (grant === undefined || !holds(grant, "publish", now, worker.row)) return NO_GRANT;
  if (!worker.row.live) return "UNWITNESSED/NOT_LIVE";
  return plans(worker, planned) && busy ? "RATE_LIMITED/RATE" : "stage";
}

/** Why a text stays (WITNESS-LOG.md, "Redaction"): somebody needs it, or there is no such entry; undefined if it goes. */
export function keptFor(book: LogBook, { entry, committed }: Of<"redact">): "no entry" | "open" | "row" | undefined {
  if (entry >= book.size) return "no entry";
  const needed = book.needed();
  return (["open", "row"] as const).find((by) => needed[by].has(committed));
}

/** Entries of a command that was not refused. */
function kindsOf(book: LogBook, command: Command, answer: string): string[] {
  if (command.kind === "redact") return keptFor(book, command) === undefined ? ["redacted"] : [];
  if (command.kind === "open_session") return ["session_opened"];
  if (command.kind === "correct" && answer === "admitted") {
    return command.content.supersedes === undefined ? ["admitted"] : ["admitted", "superseded"];
  }
  if (command.kind === "status") {
    const worker = book.worker(command.worker_id);
    if (!changes(worker, command)) return [];
    return command.next_action !== undefined && plans(worker, command.next_action) ? ["planned", "status"] : ["status"];
  }
  if (command.kind === "bye") {
    const { row, ended } = book.worker(command.worker_id);
    return row === undefined || ended ? [] : ["status"];
  }
  if (!("correction_id" in command)) return [];
  const correction = book.corrections.get(command.correction_id);
  return correction === undefined ? [] : moves(book, command, correction);
}

function moves(book: LogBook, command: Command, { stage, acked, lateAck, sessions }: BookedCorrection): string[] {
  if (command.kind === "withdraw") return stage === "ADMITTED" ? ["withdrawn"] : [];
  if (command.kind === "ack" && stage === "EXPIRED" && !acked && !lateAck) return ["late_ack"];
  if (!("session" in command) || !isOpenStage(stage) || acked) return [];
  const receipt = sessions.includes(command.session) ? [] : ["delivered"];
  if (command.kind === "decline") return [...receipt, "declined"];
  if (command.kind !== "ack") return receipt;
  const worker = book.worker(command.worker_id);
  const planned = command.next_action !== undefined && plans(worker, command.next_action);
  return [...receipt, "acked", ...(planned ? ["planned", "status"] : [])];
}

function changes({ row }: BookedWorker, command: Of<"status">): boolean {
  const { issue, task_id, lane, last_action, next_action } = command;
  const wanted = [
    issue,
    task_id,
    lane,
    true,
    last_action?.text,
    next_action?.summary.text,
    next_action?.reflects ?? [],
  ];
  const has = [row?.issue, row?.task_id, row?.lane, row?.live, row?.last_action?.text];
  const plan = [row?.next_action?.summary.text, row?.next_action?.reflects ?? []];
  return JSON.stringify(wanted) !== JSON.stringify([...has, ...plan]);
}

function plans({ row }: BookedWorker, { summary, reflects = [] }: NonNullable<Of<"status">["next_action"]>): boolean {
  const now = row?.next_action;
  return now?.summary.text !== summary.text || JSON.stringify(now?.reflects) !== JSON.stringify(reflects);
}

function refusedVerb(book: LogBook, { by, now, ...command }: Named, request: string): string | undefined {
  const grant = book.grants.get(by.token ?? "");
  if (grant?.subject !== by.subject) return NO_GRANT;
  if (grant.revoked || now >= grant.expiresAt) return "DEFAULT_DENY/REVOKED";
  if (["ping", "checkpoint", "prove"].includes(request)) return undefined;
  const verb = VERBS[request] ?? "unserved";
  if (!ROLES[by.role]?.split(" ").includes(verb) || !grant.verbs.includes(verb)) return NO_GRANT;
  const speaksForOther = by.role === "worker" && "worker_id" in command && command.worker_id !== by.subject;
  return speaksForOther ? NO_GRANT : undefined;
}

function fenced(book: LogBook, command: FromWorker | Of<"read" | "malformed">): string | undefined {
  if (command.by.role !== "worker" || command.worker_id === undefined) return undefined;
  return book.worker(command.worker_id).session === command.session ? undefined : "LEASE_HELD/SESSION";
}

/** A bucket of 100 that fills by one each 20,000 ms, poured out from the first refusal on. */
function isFolded(book: LogBook, { by, now }: Named): boolean {
  let missing = 0;
  let last = 0;
  for (const at of book.refusals.get(`${by.role} ${by.subject}`) ?? []) {
    missing = Math.max(0, missing - (at - last)) + 20_000;
    last = at;
  }
  return Math.max(0, missing - (now - last)) > 99 * 20_000;
}

export function nameOf({ reason, detail }: { reason: string; detail?: string }): string {
  return `${reason}/${detail ?? ""}`;
}
