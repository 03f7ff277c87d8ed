import type { KernelEvent } from "../../src/kernel/index.js";
import { digestOf, holds, idOf, isOpenStage, LogBook, type BookedCorrection, type BookedWorker } from "./log-book.js";

type Of<K extends KernelEvent["kind"]> = Extract<KernelEvent, { kind: K }>;
type End = Exclude<
  Extract<KernelEvent, { orchestrator_id: string }>,
  { kind: "admitted" | "delivered" | "acked" | "late_ack" }
>;

/** Place of each kind in a step that a worker or a sender caused; what is not named here comes alone. */
const ORDER = ["delivered", "acked", "planned", "witnessed unreflected declined orphaned withdrawn", "status", "stale"];

/** Every reason with its detail: the closed sets of the protocol. */
export const REFUSALS: ReadonlySet<string> = new Set([
  "DEFAULT_DENY/NO_GRANT",
  "DEFAULT_DENY/REVOKED",
  "OVERSIZE/",
  "LEASE_HELD/SESSION",
  "MALFORMED/SHAPE",
  "MALFORMED/ID",
  "MALFORMED/TEXT_BLANK",
  "MALFORMED/TEXT_HIDDEN",
  "MALFORMED/TEXT_ENCODING",
  "UNWITNESSED/NO_ROW",
  "UNWITNESSED/NOT_LIVE",
  "UNWITNESSED/ENDED",
  "UNWITNESSED/DIGEST",
  "UNWITNESSED/SUPERSEDES",
  "UNWITNESSED/SEQ",
  "TRUST_VIOLATION/PRINCIPAL",
  "TRUST_VIOLATION/SCOPE",
  "TRUST_VIOLATION/SUPERSEDES",
  "TRUST_VIOLATION/CORRECTION",
  "TRUST_VIOLATION/CITED",
  "RATE_LIMITED/INBOX_FULL",
  "RATE_LIMITED/RATE",
]);

/** Checks the invariants of the log, event by event, from the events alone; throws on the first that is broken. */
export class Invariants {
  readonly book = new LogBook();
  readonly #idKey: Uint8Array;
  #size = 0;
  #at = 0;
  /** What a planned action still has to end, in order, and the admission that a superseded end must follow. */
  #judged: { id: string; kind: string }[] = [];
  #before: KernelEvent | undefined;

  constructor(idKey: Uint8Array) {
    this.#idKey = idKey;
  }

  /**
   * One step: its events, of which those from `own` on are the command's, at log time `now`. `between` runs when what
   * was due is booked, and the command not yet.
   */
  step(events: readonly KernelEvent[], own: number, now: number, between: () => void = () => undefined): void {
    this.#before = undefined;
    for (const event of events.slice(0, own)) this.#observe(event);
    between();
    for (const event of events.slice(own)) this.#observe(event);
    hold("I2", this.#judged.length === 0, "a planned action left an acked correction unjudged");
    const ranks = events.slice(own).map(({ kind }) => ORDER.findIndex((kinds) => kinds.split(" ").includes(kind)));
    const ranked = ranks.filter((rank) => rank >= 0);
    if (events[own]?.kind !== "broker_started") hold("order", isSorted(ranked), JSON.stringify(events));
    this.#settled(now);
  }

  /**
   * Whole steps whose borders are not known, one behind the other: what is durable at once. `judged` sees each event
   * when it has passed, before it is booked.
   */
  batch(events: readonly KernelEvent[], judged: (event: KernelEvent) => void): void {
    for (const event of events) this.#observe(event, judged);
    hold("I2", this.#judged.length === 0, "a planned action left an acked correction unjudged");
    this.#settled(this.#at);
  }

  #observe(event: KernelEvent, judged: (event: KernelEvent) => void = () => {}): void {
    hold("time", event.at >= this.#at, "log time went back");
    this.#at = event.at;
    if (event.kind === "status") this.#status(event);
    else if (event.kind === "admitted") this.#admitted(event);
    else if (event.kind === "delivered") this.#delivered(event);
    else if (event.kind === "acked") this.#acked(event);
    else if (event.kind === "planned") this.#planned(event);
    else if (event.kind === "refused") {
      hold("I11", REFUSALS.has(`${event.reason}/${event.detail ?? ""}`), `${event.reason}/${event.detail}`);
    } else if (event.kind === "late_ack") {
      const { stage, acked, lateAck } = this.#known(event);
      hold("late ack", stage === "EXPIRED" && !acked && !lateAck, event.correction_id);
    } else if ("orchestrator_id" in event) this.#ended(event);
    judged(event);
    this.book.apply(event, this.#size);
    this.#size += 1;
    this.#before = event;
  }

  #status(event: Of<"status">): void {
    const { row, cause, status_digest } = event;
    const worker = this.book.worker(event.worker_id);
    const before = worker.row;
    hold("I8", this.#judged.length === 0, "the row moved before the plan was judged");
    const still = cause === "ended" && before?.live === false;
    hold("I8", row.seq === (before?.seq ?? 0) + (still ? 0 : 1), `${event.worker_id} ${before?.seq} -> ${row.seq}`);
    hold("digest", status_digest === digestOf(row), event.worker_id);
    hold("I8", still === (status_digest === worker.digest), "a digest came again");
    hold("live", row.live === (cause === "published"), cause);
    const ofBroker = cause === "lease_lapsed" || cause === "restart";
    hold("I15", ofBroker ? event.by.role === "broker" : this.#isWorker(event, "publish"), cause);
    if (cause === "published") hold("I15", this.#covers(event, "publish", row), "published outside the grant");
  }

  #admitted(event: Of<"admitted">): void {
    const { content, by } = event;
    const { row, digest } = this.book.worker(event.worker_id);
    hold("I3", digest !== undefined && content.status_digest === digest, "cites another digest");
    hold("I3", row?.live === true && content.worker_id === row.worker_id, "the row is not live");
    const same = row?.issue === content.issue && row.task_id === content.task_id && row.lane === content.lane;
    hold("I3", same && event.seq === row.seq, "scope or seq are not the row's");
    hold("I4", !this.book.corrections.has(event.correction_id), "admitted twice");
    hold("I13", event.correction_id === idOf(content, by.subject, this.#idKey), "the id names another content");
    hold("I15", event.orchestrator_id === by.subject && this.#covers(event, "correct", content), "not granted");
    hold("oversize", content.message.bytes <= Math.min(content.max_bytes ?? 1_024, 1_024), "too long");
    const replaced = content.supersedes === undefined ? 0 : 1;
    const room = content.priority === "halt" ? 9 : 8;
    hold("I14", this.book.open(event.worker_id).length - replaced < room, "no room");
  }

  #delivered(event: Of<"delivered">): void {
    const { workerId, stage, sessions, content } = this.#known(event);
    hold("I12", workerId === event.worker_id && this.#isWorker(event, "receive"), "delivered to another");
    hold("stage", stage === "ADMITTED" || stage === "DELIVERED", stage);
    hold("attempt", !sessions.includes(event.session) && event.attempt === sessions.length + 1, `${event.attempt}`);
    hold("attempt", event.redelivered === sessions.length > 0, "redelivered");
    hold("context", event.stale_context === (this.book.worker(workerId).digest !== content.status_digest), "stale");
  }

  #acked(event: Of<"acked">): void {
    const { workerId, stage, sessions, window } = this.#known(event);
    hold("I2", workerId === event.worker_id && this.#isWorker(event, "ack"), "acked by another");
    hold("stage", stage === "DELIVERED" && sessions.at(-1) === event.session, "acked without its receipt");
    hold("window", event.expires_at === event.at + window, "the second window is not as long as the first");
  }

  #planned(event: Of<"planned">): void {
    const before = this.book.worker(event.worker_id).row?.next_action;
    hold("I2", (event.summary.text ?? "").trim() !== "" && this.#isWorker(event, "publish"), "a blank plan");
    const sameSummary = before?.summary.text === event.summary.text;
    hold("plan", !sameSummary || JSON.stringify(before?.reflects) !== JSON.stringify(event.reflects), "it restates");
    hold("echo", (event.echo === true) === sameSummary, "echo");
    this.#judged = this.book
      .open(event.worker_id)
      .filter(({ stage }) => stage === "ACKED")
      .map(({ id }) => ({ id, kind: event.reflects.includes(id) ? "witnessed" : "unreflected" }));
  }

  #ended(event: End): void {
    const correction = this.#known(event);
    const { id, stage, acked, dueAt, workerId, sender } = correction;
    hold("I7", isOpenStage(stage), `${id} ended twice: ${stage}, ${event.kind}`);
    const { row } = this.book.worker(workerId);
    const moved = !sameScope(correction, row);
    const rules: Record<string, () => boolean> = {
      witnessed: () => this.#judge(id, event),
      unreflected: () => this.#judge(id, event),
      declined: () => stage === "DELIVERED" && this.#isWorker(event, "ack"),
      withdrawn: () => stage === "ADMITTED" && event.by.subject === sender,
      expired: () => event.at >= dueAt && event.by.role === "broker" && acked === (event.detail === "WINDOW"),
      superseded: () => this.#before?.kind === "admitted" && this.#before.content.supersedes === id,
      stale: () =>
        moved ? event.detail === "RUN_CHANGED" : event.detail === "DIGEST_MOVED" && isStaleExact(correction),
      orphaned: () => this.#isWorker(event, "publish"),
      revoked: () => stage === "ADMITTED",
    };
    hold(event.kind, rules[event.kind]?.() === true, JSON.stringify(event));
  }

  #judge(id: string, event: End): boolean {
    const next = this.#judged.shift();
    return next?.id === id && next.kind === event.kind;
  }

  /** What must hold when a step is done: nothing is left over that the step should have ended. */
  #settled(now: number): void {
    for (const worker of this.book.workers.values()) {
      for (const correction of this.book.open(worker.id)) this.#mayStayOpen(correction, worker, now);
    }
  }

  #mayStayOpen(correction: BookedCorrection, worker: BookedWorker, now: number): void {
    const { id, dueAt, stage, sender, content } = correction;
    hold("I7", now < dueAt, `${id} is past its window`);
    hold("I7", !worker.ended, `${id} outlived its worker's run`);
    hold("run", sameScope(correction, worker.row), `${id} is of another run`);
    const movedOn = isStaleExact(correction) && content.status_digest !== worker.digest;
    hold("exact", !movedOn, `${id} is exact and its digest has moved`);
    if (stage === "ADMITTED")
      hold("revoked", this.book.allows(sender, "correct", now, content), `${id} is not granted`);
  }

  #known({
    correction_id,
    worker_id,
    orchestrator_id,
  }: End | Of<"delivered" | "acked" | "late_ack">): BookedCorrection {
    const correction = this.book.corrections.get(correction_id);
    if (correction === undefined) throw new Error(`I12: ${correction_id} was never admitted`);
    hold("I12", correction.workerId === worker_id && correction.sender === orchestrator_id, "names another");
    return correction;
  }

  /** Whether the event's principal is the worker itself, by a token that holds, in its current session. */
  #isWorker(event: KernelEvent & { worker_id: string }, verb: string): boolean {
    const { by, worker_id } = event;
    const inSession = !("session" in event) || this.book.worker(worker_id).session === event.session;
    return by.role === "worker" && by.subject === worker_id && inSession && this.#holds(event, verb);
  }

  #covers(event: KernelEvent, verb: string, scope: { worker_id: string; issue: string; lane: string }): boolean {
    return this.#holds(event, verb, scope);
  }

  #holds({ by, at }: KernelEvent, verb: string, scope?: { worker_id: string; issue: string; lane: string }): boolean {
    const grant = this.book.grants.get(by.token ?? "");
    return grant?.subject === by.subject && holds(grant, verb, at, scope);
  }
}

function sameScope({ content }: BookedCorrection, row: BookedWorker["row"]): boolean {
  return content.issue === row?.issue && content.task_id === row.task_id && content.lane === row.lane;
}

function isStaleExact({ content, stage }: BookedCorrection): boolean {
  return content.freshness === "exact" && stage === "ADMITTED";
}

function isSorted(ranks: readonly number[]): boolean {
  return ranks.every((rank, at) => at === 0 || rank >= (ranks[at - 1] ?? 0));
}

/** Throws with the invariant's name unless it holds. */
export function hold(invariant: string, holds: boolean, what: string): void {
  if (!holds) throw new Error(`${invariant}: ${what}`);
}
