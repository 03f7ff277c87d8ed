import { isOpen, type EndStage, type Stage, type StageDetail } from "../protocol/index.js";
import { Bell } from "./bell.js";
import type { CallOptions } from "./bounded.js";
import type { A2achanError } from "./errors.js";
import { streamOf, type Source } from "./stream.js";

/** One stage of a correction (PROTOCOL.md section 4), as its sender is told. */
export interface StageNotice {
  correction_id: string;
  worker_id: string;
  stage: Stage;
  /** STALE: RUN_CHANGED or DIGEST_MOVED; EXPIRED after the ack: WINDOW. */
  detail?: StageDetail;
  /** The plan that names the correction has the same summary as the one before. */
  echo?: true;
  /** Of the stage's entry in the log. */
  index: number;
  /** Milliseconds of log time; absent from an ADMITTED that was told by the receipt. */
  at?: number;
}

/** How a correction ended. WITNESSED: acked and named in the next planned action; it does not say applied. */
export interface Outcome extends StageNotice {
  stage: EndStage;
}

/** What the sender has been told of one correction: stages only go forward. */
export class Course {
  /** Whether somebody of this process waits for its end. */
  awaited = false;
  readonly #bell = new Bell();
  readonly #told: StageNotice[] = [];
  #end: Outcome | undefined;
  #failed: A2achanError | undefined;

  get over(): boolean {
    return this.#end !== undefined;
  }

  /** Takes a stage; false when it or a later one is known. */
  tell(notice: StageNotice): boolean {
    if (this.knows(notice.stage)) return false;
    this.#told.push(notice);
    if (isEnd(notice)) this.#end = notice;
    this.#bell.ring();
    return true;
  }

  knows(stage: Stage): boolean {
    const last = this.#told.at(-1);
    return last !== undefined && rank(last.stage) >= rank(stage);
  }

  /** There will be no more to tell, and no end is known. */
  fail(error: A2achanError): void {
    if (this.#end === undefined) this.#failed ??= error;
    this.#bell.ring();
  }

  async outcome(): Promise<Outcome> {
    while (this.#end === undefined) {
      if (this.#failed !== undefined) throw this.#failed;
      await this.#bell.wait();
    }
    return this.#end;
  }

  /** Every stage from the first one known, up to the end. */
  stages(options?: CallOptions): AsyncIterableIterator<StageNotice> {
    let next = 0;
    const source: Source<StageNotice> = {
      bell: this.#bell,
      take: () => {
        const notice = this.#told[next];
        if (notice !== undefined) next += 1;
        return notice;
      },
      state: () => (this.over ? "over" : this.#failed),
    };
    return streamOf(source, options);
  }
}

function rank(stage: Stage): number {
  if (stage === "ADMITTED") return 0;
  if (stage === "DELIVERED") return 1;
  return stage === "ACKED" ? 2 : 3;
}

function isEnd(notice: StageNotice): notice is Outcome {
  return !isOpen(notice.stage);
}
