import {
  A2achanError,
  connectWorker,
  isRefused,
  type Correction,
  type StatusFields,
  type Worker,
} from "../../client/index.js";
import { CliError } from "../exit.js";

/** What a demo worker plans next when it has taken a correction. */
export type Turn = (correction: Correction) => Promise<void>;

/** A small scripted agent: it publishes where it is, and between its turns it takes what it is told. */
export class DemoWorker implements AsyncDisposable {
  readonly worker: Worker;
  readonly #running: Promise<void>;

  private constructor(worker: Worker, turn: Turn) {
    this.worker = worker;
    this.#running = this.#run(turn);
  }

  static async start(
    options: { url: string; token: string; workerId: string },
    row: StatusFields,
    turn: Turn,
  ): Promise<DemoWorker> {
    const worker = await connectWorker(options);
    const published = await worker.status(row);
    if (isRefused(published)) throw new CliError(`the demo's worker may not publish: ${published.advice}`);
    return new DemoWorker(worker, turn);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.worker.close();
    await this.#running;
  }

  async #run(turn: Turn): Promise<void> {
    try {
      for await (const correction of this.worker.corrections()) await turn(correction);
    } catch (error) {
      // Its orchestrator may hear how it ended, and the demo be over, before it has its own answer.
      if (!(error instanceof A2achanError) || error.code !== "closed") throw error;
    }
  }
}
