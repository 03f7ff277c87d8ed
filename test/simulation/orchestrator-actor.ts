import type { Outcome, StageNotice } from "../../src/client/course.js";
import { openOrchestrator, type CorrectOptions, type Orchestrator } from "../../src/client/orchestrator.js";
import type { Receipt } from "../../src/client/receipt.js";
import { isRefused } from "../../src/client/refusals.js";
import type { WorkerStatus } from "../../src/protocol/index.js";
import { holds } from "../support/log-book.js";
import type { Random } from "../support/random.js";
import { ClientProcess, LANES, pick, rarely, URL, type Surroundings } from "./surroundings.js";

const TTLS = [2_000, 20_000, 60_000, 60_000];
const RANKS = ["ADMITTED", "DELIVERED", "ACKED"];

/** An honest orchestrator, a real SDK one: it watches, corrects, and waits for what comes of it. */
export class OrchestratorActor {
  readonly subject: string;
  readonly #world: Surroundings;
  #run: Run | undefined;

  constructor(subject: string, world: Surroundings) {
    this.subject = subject;
    this.#world = world;
  }

  get processes(): ClientProcess[] {
    return this.#run === undefined ? [] : [this.#run.process];
  }

  act(random: Random): string {
    if (this.#run === undefined || this.#run.over) return this.start();
    if (rarely(random, 2)) {
      this.#run.process.kill(rarely(random, 40));
      this.#world.count("fault client crash");
      return `after a crash, ${this.start()}`;
    }
    return `${this.subject} ${this.#run.act(random)}`;
  }

  start(): string {
    this.#run = new Run(this.#world, this.subject);
    return `${this.subject} starts`;
  }

  /** What it watches is what is: the last row that it was shown of each worker is the row of now. */
  watches(): void {
    this.#run?.watches();
  }

  /** I7: whoever asks where a correction of its own stands is told what the log tells. */
  i7Asks(): void {
    this.#run?.i7Asks();
  }

  /** I7: whoever waits for an outcome has it, and it is that of the log. */
  i7Learned(): void {
    this.#run?.i7Learned();
  }
}

class Run {
  readonly process: ClientProcess;
  over = false;
  readonly #world: Surroundings;
  readonly #subject: string;
  readonly #token: string;
  #orchestrator: Orchestrator | undefined;
  /** Every row that was seen of each worker, the latest last. */
  readonly #rows = new Map<string, WorkerStatus[]>();
  readonly #sent: { id: string; outcome: Outcome | undefined; failed: boolean }[] = [];
  readonly #told = new Map<string, number>();

  constructor(world: Surroundings, subject: string) {
    this.#world = world;
    this.#subject = subject;
    this.process = new ClientProcess(world, subject);
    this.#token = world.tokens.get(subject) ?? "";
    openOrchestrator({ url: URL, token: this.#token }, this.process.runtime).then(
      (orchestrator) => {
        this.#orchestrator = orchestrator;
        void this.#watch(orchestrator);
        void this.#listen(orchestrator);
      },
      () => (this.over = true),
    );
  }

  act(random: Random): string {
    const orchestrator = this.#orchestrator;
    if (orchestrator === undefined) return "waits for its connection";
    const what = random(100);
    const sent = this.#sent.length === 0 ? undefined : pick(random, this.#sent.slice(-6));
    if (what < 70) return this.#correct(orchestrator, random);
    if (what < 80 && sent !== undefined) {
      this.#settled(orchestrator.withdraw(sent.id));
      return "withdraws";
    }
    if (what < 86 && sent !== undefined) {
      this.#settled(orchestrator.stage(sent.id));
      return "asks for a stage";
    }
    if (what < 90) {
      this.#settled(orchestrator.list({ live: true }));
      return "lists workers";
    }
    if (what < 93) {
      this.#settled(orchestrator.get(pick(random, ["w-1", "w-2", "w-9"])));
      return "gets a worker";
    }
    return this.#correct(orchestrator, random);
  }

  #correct(orchestrator: Orchestrator, random: Random): string {
    const known = [...this.#rows.values()];
    if (known.length === 0) return "sees no worker";
    const rows = pick(random, known);
    const stale = rarely(random, 12);
    const row = (stale ? pick(random, rows) : rows.at(-1)) as WorkerStatus;
    const last = this.#sent.at(-1 - random(3));
    const options: CorrectOptions = {
      ttl_ms: pick(random, TTLS),
      ...(rarely(random, 15) && { priority: "halt" as const }),
      ...(rarely(random, 20) && { freshness: "exact" as const }),
      ...(rarely(random, 12) && last !== undefined && { supersedes: last.id }),
      ...(rarely(random, 6) && { scope: { issue: row.issue, lane: pick(random, LANES) } }),
      ...(rarely(random, 8) && { key: `same-${random(3)}` }),
    };
    const message = rarely(random, 4) ? "x".repeat(1_020 + random(8)) : `Keep the names as they are (${random(50)}).`;
    this.#settled(orchestrator.correct(row, message, options).then((receipt) => this.#admitted(receipt)));
    return stale ? "corrects an older row" : "corrects";
  }

  #admitted(receipt: Receipt): void {
    if (receipt.verdict === "DENY") return;
    const followed: { id: string; outcome: Outcome | undefined; failed: boolean } = {
      id: receipt.correction_id,
      outcome: undefined,
      failed: false,
    };
    this.#sent.push(followed);
    receipt.outcome.then(
      (outcome) => (followed.outcome = outcome),
      () => (followed.failed = true),
    );
  }

  watches(): void {
    const { clock, ledger, report } = this.#world;
    if (this.over || this.#orchestrator === undefined) return;
    const grant = ledger.book.grants.get(this.#token.split("_")[1] ?? "");
    for (const { id, row } of ledger.book.workers.values()) {
      if (row === undefined || grant === undefined || !holds(grant, "watch", clock.now(), row)) continue;
      const shown = this.#rows.get(id)?.at(-1)?.seq;
      if (shown !== row.seq) report("watch", `${this.#subject} is shown row ${shown} of ${id}, which has ${row.seq}`);
    }
  }

  i7Asks(): void {
    const { book } = this.#world.ledger;
    for (const { id, sender, stage } of book.corrections.values()) {
      if (sender !== this.#subject || this.over) continue;
      const answer = this.#orchestrator?.stage(id).then((notice) => {
        if (isRefused(notice) || notice.stage === stage) return;
        this.#world.report("I7", `${this.#subject} is told ${notice.stage} of ${id}, which is ${stage}`);
      });
      if (answer !== undefined) this.#settled(answer);
    }
  }

  i7Learned(): void {
    if (this.over) return;
    const { book } = this.#world.ledger;
    for (const { id, outcome, failed } of this.#sent) {
      const { stage } = book.corrections.get(id) ?? {};
      if (failed) continue;
      if (outcome?.stage !== stage)
        this.#world.report("I7", `${this.#subject} knows ${outcome?.stage} of ${id}, which is ${stage}`);
      else this.#world.count("outcomes learned");
    }
  }

  async #watch(orchestrator: Orchestrator): Promise<void> {
    try {
      for await (const change of orchestrator.workers()) {
        if (!("row" in change)) continue;
        const { row } = change;
        this.#rows.set(row.worker_id, [...(this.#rows.get(row.worker_id) ?? []), row]);
      }
    } catch {
      this.over = true;
    }
  }

  async #listen(orchestrator: Orchestrator): Promise<void> {
    try {
      for await (const notice of orchestrator.stages()) this.#i7InOrder(notice);
    } catch {
      this.over = true;
    }
  }

  /** I7: an iterator tells each stage of a correction once, and in order. */
  #i7InOrder({ correction_id, stage }: StageNotice): void {
    const rank = RANKS.includes(stage) ? RANKS.indexOf(stage) : RANKS.length;
    const before = this.#told.get(correction_id) ?? -1;
    if (rank <= before) this.#world.report("I7", `${stage} of ${correction_id} is told again, or late`);
    this.#told.set(correction_id, rank);
  }

  #settled(call: Promise<unknown>): void {
    call.catch((error: unknown) => {
      const { code } = error as { code?: string };
      if (code === "unauthenticated" || code === "role_not_granted") this.over = true;
      this.#world.count(`call ${code ?? String(error)}`);
    });
  }
}
