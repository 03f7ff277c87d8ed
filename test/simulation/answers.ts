import { createHash } from "node:crypto";
import canonicalize from "canonicalize";
import type { Outgoing } from "../../src/broker/index.js";
import type { KernelEvent } from "../../src/kernel/index.js";
import type { Parsed, Request, Verb } from "../../src/protocol/index.js";
import { idOf } from "../support/log-book.js";
import type { Cable } from "./cable.js";
import type { Report } from "./clauses.js";
import type { Ledger } from "./ledger.js";

type Frame = Outgoing["frame"];
type Of<T extends Frame["type"]> = Extract<Frame, { type: T }>;

/** What is known of one connection of a broker that runs. */
interface Known {
  role?: string;
  subject?: string;
  session?: string;
  requests: Map<string, Request>;
  /** Index of the last correction that was pushed, by priority. */
  pushed: Map<string, number>;
}

/** Everything that leaves the broker, held in that turn against what is durable. */
export class Answers {
  readonly #ledger: Ledger;
  readonly #idKey: Uint8Array;
  readonly #report: Report;
  readonly #known = new Map<Cable, Known>();
  readonly #sessions = new Set<string>();
  /** Id of each correction that was answered with ALLOW, by sender and content. */
  readonly #admitted = new Map<string, string>();
  /** Refusals that were answered, by whether they are to be in the log singly. */
  readonly refusals = { single: 0, folded: 0 };
  /** Counts frames by type. */
  readonly count: (what: string) => void;

  constructor(ledger: Ledger, idKey: Uint8Array, report: Report, count: (what: string) => void) {
    this.#ledger = ledger;
    this.#idKey = idKey;
    this.#report = report;
    this.count = count;
  }

  accepted(cable: Cable): void {
    this.#known.set(cable, { requests: new Map(), pushed: new Map() });
  }

  /** The worker of which this is the current session, as far as the log tells. */
  workerOf(cable: Cable): string | undefined {
    const { role, subject, session } = this.#known.get(cable) ?? {};
    if (role !== "worker" || subject === undefined) return undefined;
    return this.#ledger.book.worker(subject).session === session ? subject : undefined;
  }

  /** Whether a process of a worker has the worker's current session, and it stands at both its ends. */
  stands(host: string): boolean {
    for (const cable of this.#known.keys()) {
      const whole = !cable.dead && cable.held && cable.terminal !== undefined;
      if (cable.host === host && whole && this.workerOf(cable) !== undefined) return true;
    }
    return false;
  }

  asked(cable: Cable, parsed: Parsed | undefined): void {
    const known = this.#known.get(cable);
    if (known === undefined || parsed === undefined || parsed.kind === "unknown") return;
    if (parsed.kind === "request") known.requests.set(parsed.request.id, parsed.request);
    else known.requests.delete(parsed.malformed.id);
  }

  leaves(cable: Cable, frame: Frame): void {
    const known = this.#known.get(cable);
    if (known === undefined) return;
    this.count(`frame ${frame.type}`);
    const request = "id" in frame ? known.requests.get(frame.id) : undefined;
    switch (frame.type) {
      case "welcome":
        return this.#welcome(known, frame);
      case "receipt":
        this.#i4OneCorrection(known, request, frame);
        return this.#i1Receipt(frame);
      case "refusal":
        return known.subject === undefined ? undefined : this.#i11Counted("folded" in frame && frame.folded === true);
      case "stage":
        if (!("id" in frame)) this.#i12Stage(known, frame);
        this.#i2Cited(request);
        if ("outcomes" in frame) for (const outcome of frame.outcomes ?? []) this.#i1Stage(outcome);
        return this.#i1Stage(frame);
      case "correction":
        this.#i12Delivered(known, frame);
        return this.#i6InOrder(known, frame);
      case "row":
        if ("outcomes" in frame) for (const outcome of frame.outcomes ?? []) this.#i1Stage(outcome);
        if (!("id" in frame)) this.#i15Watched(known, frame);
        return this.#i1Row(frame);
      case "rows":
        for (const view of frame.rows) this.#i1Row(view);
        return;
      case "entries":
        for (const line of frame.entries) this.#i1Line(line);
        return;
      default:
    }
  }

  #welcome(known: Known, { principal, session, cursor }: Of<"welcome">): void {
    known.role = principal.role;
    known.subject = principal.subject;
    known.session = session;
    if (this.#sessions.has(session)) this.#report("I13", `the session ${session} was opened twice`);
    this.#sessions.add(session);
    if (Number(cursor.split(".")[1]) > this.#size)
      this.#report("I1", `welcomed at ${cursor}, ${this.#size} are durable`);
  }

  get #size(): number {
    return this.#ledger.lines.length;
  }

  #entry(index: number | undefined): KernelEvent | undefined {
    return index === undefined ? undefined : this.#ledger.events[index];
  }

  /** I1: a receipt names the entry of its verdict, which is durable. */
  #i1Receipt(frame: Of<"receipt">): void {
    const entry = this.#entry(frame.index);
    if (frame.verdict === "ALLOW") {
      const same = entry?.kind === "admitted" && entry.correction_id === frame.correction_id;
      if (!same) this.#report("I1", `ALLOW of ${frame.correction_id} names entry ${frame.index} of ${this.#size}`);
      return;
    }
    this.#i11Counted(frame.folded === true);
    if (frame.folded === true) return;
    const same = entry?.kind === "refused" && entry.reason === frame.reason && entry.detail === frame.detail;
    if (!same) this.#report("I1", `DENY ${frame.reason} names entry ${frame.index} of ${this.#size}`);
  }

  /** I1: a stage names the entry that brought it about, which is durable. */
  #i1Stage({ correction_id, stage, index }: { correction_id: string; stage: string; index: number }): void {
    const entry = this.#entry(index);
    const same = entry !== undefined && "correction_id" in entry && entry.correction_id === correction_id;
    if (!same || entry.kind.toUpperCase() !== stage)
      this.#report("I1", `${stage} of ${correction_id} names entry ${index} of ${this.#size}`);
  }

  /** I2: an ack or decline that is answered with a stage cites the digest that the correction cites. */
  #i2Cited(request: Request | undefined): void {
    if (request?.type !== "ack" && request?.type !== "decline") return;
    const cited = this.#ledger.book.corrections.get(request.correction_id)?.content.status_digest;
    if (cited !== request.status_digest)
      this.#report("I2", `${request.type} of ${request.correction_id} cites another`);
  }

  /** I1, I8: a row that is told of is one of the log, with its digest. */
  #i1Row(frame: object): void {
    if (!("row" in frame) || !("status_digest" in frame)) return;
    const { row, status_digest } = frame as { row: { worker_id: string; seq: number }; status_digest: string };
    const digest = `sha256:${createHash("sha256")
      .update(`${canonicalize(row)}`)
      .digest("hex")}`;
    const logged = this.#ledger.digests.get(row.worker_id)?.get(row.seq);
    if (digest !== status_digest || logged !== digest)
      this.#report("I1", `row ${row.seq} of ${row.worker_id} is told, and not in the log of ${this.#size}`);
  }

  /** I1: an auditor reads the lines of the log. */
  #i1Line(line: string): void {
    const { index } = JSON.parse(line) as { index: number };
    if (this.#ledger.lines[index] !== line) this.#report("I1", `entry ${index} reads otherwise than it was written`);
  }

  /** I4, I13: one content of one sender has one id, which is that of its content, and once admitted it is never refused. */
  #i4OneCorrection({ subject = "" }: Known, request: Request | undefined, frame: Of<"receipt">): void {
    if (request?.type !== "correct") return;
    const { type: _type, id: _id, message, ...content } = request;
    const named = idOf({ ...content, message: { text: message, bytes: 0, commitment: "" } }, subject, this.#idKey);
    if (frame.correction_id !== undefined && frame.correction_id !== named)
      this.#report("I13", `${frame.correction_id} is the answer to ${named}`);
    if (frame.verdict === "ALLOW") {
      const key = `${subject} ${canonicalize({ ...content, message })}`;
      const before = this.#admitted.get(key) ?? frame.correction_id ?? "";
      this.#admitted.set(key, before);
      if (before !== frame.correction_id) this.#report("I4", `${before} is also ${frame.correction_id}`);
    } else if (frame.index !== undefined && frame.reason !== "DEFAULT_DENY") {
      const admitted = this.#ledger.book.corrections.get(named);
      if (admitted !== undefined && admitted.index < frame.index)
        this.#report("I4", `${named} was admitted and its repeat is refused ${frame.reason}/${frame.detail}`);
    }
  }

  /** I11: what is refused is in the log, singly or counted. */
  #i11Counted(folded: boolean): void {
    this.refusals[folded ? "folded" : "single"] += 1;
    const { refused } = this.#ledger;
    if (this.refusals.single > refused) this.#report("I11", `${this.refusals.single} refusals, ${refused} in the log`);
  }

  /** I12: what is pushed to a worker was admitted, for it, with that text. */
  #i12Delivered({ role, subject }: Known, { correction, attempt, redelivered }: Of<"correction">): void {
    const admitted = this.#ledger.book.corrections.get(correction.correction_id);
    const own = role === "worker" && admitted?.workerId === subject && correction.worker_id === subject;
    if (admitted === undefined || !own)
      this.#report("I12", `${correction.correction_id} is pushed to ${role} ${subject}`);
    else if (admitted.content.message.text !== correction.message)
      this.#report("I13", `${correction.correction_id} is pushed with another text`);
    if (redelivered !== attempt > 1)
      this.#report("I5", `${correction.correction_id}: attempt ${attempt}, ${redelivered}`);
  }

  /** I12: a stage is told to its sender, or to the worker that it was for, and to nobody else. */
  #i12Stage({ role, subject }: Known, { correction_id }: Of<"stage">): void {
    const admitted = this.#ledger.book.corrections.get(correction_id);
    const concerned = role === "worker" ? admitted?.workerId : admitted?.sender;
    if (concerned !== subject) this.#report("I12", `a stage of ${correction_id} is told to ${role} ${subject}`);
  }

  /** I6: within a priority, a session is pushed corrections in the order of their admission. */
  #i6InOrder({ pushed }: Known, { correction }: Of<"correction">): void {
    const index = this.#ledger.book.corrections.get(correction.correction_id)?.index ?? -1;
    const priority = correction.priority ?? "normal";
    if (index <= (pushed.get(priority) ?? -1)) this.#report("I6", `${correction.correction_id} is pushed out of order`);
    pushed.set(priority, index);
  }

  /** I15: a row is shown to those only whose grants cover it, as it was or as it is. */
  #i15Watched({ subject = "" }: Known, frame: Of<"row">): void {
    if (!("row" in frame) || frame.row === undefined) return;
    const { row } = frame;
    const may = [...this.#ledger.book.grants.values()].some(
      (grant) => grant.subject === subject && grant.verbs.includes("watch" satisfies Verb),
    );
    if (!may) this.#report("I15", `a row of ${row.worker_id} is shown to ${subject}`);
  }
}
