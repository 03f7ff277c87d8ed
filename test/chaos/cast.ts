import {
  A2achanError,
  isRefused,
  type Admitted,
  type Correction,
  type Orchestrator,
  type StageNotice,
  type View,
  type Worker,
} from "../../src/client/index.js";
import type { Random } from "../support/random.js";

export const SCOPE = { issue: "2162", lane: "src/parser" };

/** One correction as the application of a worker was handed it. */
export interface Yielded {
  correction_id: string;
  halt: boolean;
}

/** One correction as its sender knew it to the end. */
export interface Sent {
  correction_id: string;
  replayed: boolean;
  /** What `receipt.stages()` yielded. */
  stages: StageNotice[];
  /** What `receipt.outcome` resolved with. */
  end: string;
}

/** An agent: it takes corrections from the iterable, now and then from a new one, and answers each in a way of its own. */
export class Agent {
  readonly yielded: Yielded[] = [];
  readonly #worker: Worker;
  readonly #random: Random;
  #steps = 0;
  #fail: (error: unknown) => void = () => {};

  constructor(worker: Worker, random: Random) {
    this.#worker = worker;
    this.#random = random;
  }

  /** Resolves when the worker is closed. */
  run(): Promise<void> {
    const failed = new Promise<never>((_resolve, reject) => (this.#fail = reject));
    return Promise.race([failed, this.#loop()]);
  }

  async #loop(): Promise<void> {
    while (await this.#some());
  }

  /** Takes some corrections from a new iterator; false when it is over. */
  async #some(): Promise<boolean> {
    for await (const correction of this.#worker.corrections()) {
      this.yielded.push({ correction_id: correction.correction_id, halt: correction.priority === "halt" });
      const answered = this.#answer(correction).catch((error: unknown) => {
        // What was asked last may be unanswered when the run is over.
        if (!(error instanceof A2achanError && error.code === "closed")) this.#fail(error);
      });
      // An agent may take the next one before it has answered for this one.
      if (this.#random(2) === 0) await answered;
      if (this.#random(6) === 0) return true;
    }
    return false;
  }

  async #answer(correction: Correction): Promise<void> {
    const { correction_id } = correction;
    if (this.#random(6) === 0) await this.#step();
    const what = this.#random(6);
    if (what === 0) await taken(() => correction.decline("the file is generated"));
    else if (what === 1) {
      await taken(() => correction.ack());
      const reflects = this.#random(2) === 0 ? [correction_id] : [];
      await taken(() => this.#worker.plan(`go on behind ${correction_id}`, { reflects }));
    } else {
      const next_action = { summary: `take up ${correction_id}`, reflects: [correction_id] };
      await taken(() => correction.ack({ next_action }));
    }
  }

  #step(): Promise<unknown> {
    return taken(() => this.#worker.status({ ...SCOPE, last_action: `did step ${(this.#steps += 1)}` }));
  }
}

/** What an orchestrator sees of the workers, live. */
export class Sight {
  readonly #views = new Map<string, View>();
  #waiting: (() => void)[] = [];

  /** Reads the iterable of views until the client is closed. */
  async run(orchestrator: Orchestrator): Promise<void> {
    for await (const change of orchestrator.workers()) {
      if (isRefused(change) || "gone" in change) throw new Error("a row was withheld");
      this.#views.set(change.row.worker_id, change);
      for (const resolve of this.#waiting.splice(0)) resolve();
    }
  }

  /** The worker's row, once it is at least at `seq`. */
  async at(workerId: string, seq: number): Promise<View> {
    for (;;) {
      const view = this.#views.get(workerId);
      if (view !== undefined && view.row.seq >= seq) return view;
      await new Promise<void>((resolve) => this.#waiting.push(resolve));
    }
  }
}

/** Sends `count` corrections to one worker, one after the other, each followed to its end. */
export async function steer(
  orchestrator: Orchestrator,
  sight: Sight,
  workerId: string,
  count: number,
  random: Random,
): Promise<Sent[]> {
  const sent: Sent[] = [];
  for (let at = 0; at < count; at += 1) {
    const receipt = await admitted(orchestrator, sight, workerId, random);
    if (random(8) === 0) await orchestrator.withdraw(receipt.correction_id);
    const stages: StageNotice[] = [];
    for await (const notice of receipt.stages()) stages.push(notice);
    const { correction_id, replayed } = receipt;
    sent.push({ correction_id, replayed, stages, end: (await receipt.outcome).stage });
  }
  return sent;
}

/** Decides again on the newer row each time that the one in hand has moved. */
async function admitted(orchestrator: Orchestrator, sight: Sight, workerId: string, random: Random): Promise<Admitted> {
  const priority = random(5) === 0 ? ("halt" as const) : ("normal" as const);
  const freshness = random(5) === 0 ? ("exact" as const) : ("run" as const);
  for (let seq = 1; ;) {
    const view = await sight.at(workerId, seq);
    const receipt = await orchestrator.correct(view, "Keep the names as they are.", { priority, freshness });
    if (receipt.verdict === "ALLOW") return receipt;
    const { reason, detail, current } = receipt;
    if (detail === "DIGEST" && current !== undefined) seq = current.seq;
    else if (reason !== "RATE_LIMITED") throw new Error(`refused: ${reason}/${detail ?? ""}: ${receipt.advice}`);
  }
}

/** Asks until it is not refused for its rate; nothing else may be refused here. */
async function taken<T>(ask: () => Promise<T>): Promise<void> {
  for (;;) {
    const answer = await ask();
    if (!isRefused(answer)) return;
    if (answer.reason !== "RATE_LIMITED") throw new Error(`refused: ${answer.reason}/${answer.detail ?? ""}`);
  }
}
