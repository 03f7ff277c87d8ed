import { LIMITS, type PlannedAction, type RequestOf } from "../protocol/index.js";
import { stageAnswer, statusAnswer, type StageAnswer, type StatusAnswer } from "./answers.js";
import type { CallOptions } from "./bounded.js";
import type { Connection } from "./connection.js";
import { A2achanError, abortedBy } from "./errors.js";
import type { AnswerTo, Ask } from "./frames.js";
import { issueId } from "./issue-id.js";
import { isRefused, type Refused } from "./refusals.js";
import type { ClientClock } from "./runtime.js";

/** What a worker says of itself: the fields of `status` (PROTOCOL.md section 2). */
export interface StatusFields {
  /** A number is taken as its digits. */
  issue: string | number;
  task_id?: string;
  lane: string;
  /** At most 512 UTF-8 bytes. */
  last_action?: string;
  /** Left out, the row has none any more, and the frame is no planned action. */
  next_action?: PlannedAction;
}

type Published = Omit<RequestOf<"status">, "type" | "id" | "expect_seq">;

interface Job {
  run: () => Promise<void>;
  fail: (error: A2achanError) => void;
}

/**
 * Everything that may move the row or judge a correction goes through here, one at a time and in the order of the
 * calls. So at most one such request is in doubt when a connection breaks: it is settled first (resent, byte for byte),
 * then the last status that was taken is published again, then the next goes. Only an ack with a plan waits for that
 * status, unless it turns out to have been taken: the row may not be live any more, and a plan needs a live one.
 *
 * That status carries no `expect_seq`: the broker itself may have moved the row meanwhile (`live: false` after a lapse
 * or a restart), and only the current session of a worker can publish at all. It restates the row's `next_action`, so
 * it decides nothing. One that was given up by its caller after it was sent is still settled; one not yet sent never is.
 */
export class RowLane {
  readonly #connection: Connection;
  readonly #clock: ClientClock;
  #jobs: Job[] = [];
  #running = false;
  #last: Published | undefined;
  /** Of the row as the broker last told this session. */
  #digest: string | undefined;
  #stale = false;
  #down = false;
  #republishing = false;
  #leaving = false;

  constructor(connection: Connection, clock: ClientClock) {
    this.#connection = connection;
    this.#clock = clock;
  }

  /** The connection broke: what is asked from now on goes to a new session. */
  down(): void {
    this.#down = true;
  }

  /** A new session stands: the row may not be live any more. */
  reconnected(): void {
    this.#down = false;
    this.#stale = this.#last !== undefined && !this.#republishing;
    this.#digest = undefined;
    void this.#pump();
  }

  ended(error: A2achanError): void {
    for (const { fail } of this.#jobs.splice(0)) fail(error);
  }

  /** Whether the row is known to be another one than `cited` names. */
  hasMoved(cited: string): boolean {
    return this.#digest !== undefined && this.#digest !== cited;
  }

  status(fields: StatusFields, options?: CallOptions): Promise<StatusAnswer | Refused> {
    const said = copied(fields);
    return this.#add(() => this.#publish(said), options);
  }

  plan(action: PlannedAction, options?: CallOptions): Promise<StatusAnswer | Refused> {
    const said = copied({ next_action: action });
    return this.#add(() => {
      if (this.#last === undefined) throw new A2achanError("no_status");
      return this.#publish({ ...this.#last, ...said });
    }, options);
  }

  /** `acked` is kept with the correction: the plan of a repeated ack is inert. */
  ack(ask: Omit<Ask<"ack">, "type">, acked: { taken: boolean }, options?: CallOptions): Promise<StageAnswer | Refused> {
    const said = copied(ask);
    return this.#add(async () => {
      let answer = await this.#settledAck(said);
      // After a lapse a plan is taken only once the row is live again.
      if (isRefused(answer) && answer.detail === "NOT_LIVE" && (await this.#republish()))
        answer = await this.#settledAck(said);
      if (!isRefused(answer) && TAKEN.includes(answer.stage) && !acked.taken) {
        acked.taken = true;
        this.#planned(said.next_action);
      }
      if (!isRefused(answer)) this.#digest = answer.status_digest ?? this.#digest;
      return answer;
    }, options);
  }

  /**
   * The answer to an ack, across lost connections. Where one with a plan is in doubt, its repeated receipt tells what
   * became of it: one that was not taken goes behind the status, and past one that was no older plan is published.
   */
  async #settledAck(said: Omit<Ask<"ack">, "type">): Promise<StageAnswer | Refused> {
    const again = said.next_action === undefined;
    if (!again && this.#down) await this.#republish();
    for (;;) {
      try {
        return stageAnswer(await this.#connection.ask({ type: "ack", ...said }, { again }).reply);
      } catch (error) {
        if (!(error instanceof A2achanError) || error.code !== "connection_lost") throw error;
      }
      const { correction_id } = said;
      const stands = stageAnswer(await this.#connection.ask({ type: "receive", correction_id }).reply);
      if (isRefused(stands)) return stands;
      if (stands.stage === "DELIVERED") await this.#republish();
    }
  }

  decline(ask: Omit<Ask<"decline">, "type">, options?: CallOptions): Promise<StageAnswer | Refused> {
    return this.#add(async () => stageAnswer(await this.#connection.ask({ type: "decline", ...ask }).reply), options);
  }

  bye(outcome: RequestOf<"bye">["outcome"], options?: CallOptions): Promise<AnswerTo<"bye">> {
    return this.#add(async () => {
      this.#leaving = true;
      const reply = await this.#connection.ask({ type: "bye", ...(outcome !== undefined && { outcome }) }).reply;
      this.#leaving = reply.type === "ok";
      return reply;
    }, options);
  }

  async #publish({ issue, ...rest }: StatusFields): Promise<StatusAnswer | Refused> {
    const fields: Published = { ...rest, issue: issueId(issue) };
    const answer = statusAnswer(await this.#connection.ask({ type: "status", ...fields }).reply);
    if (isRefused(answer)) return answer;
    this.#last = fields;
    this.#digest = answer.status_digest;
    this.#planned(fields.next_action);
    // What was just taken made the row live.
    this.#stale = false;
    return answer;
  }

  /** Keeps what the row now plans, without what only says how it was planned. */
  #planned(action: PlannedAction | undefined): void {
    if (this.#last === undefined || action === undefined) return;
    const { summary, reflects = [] } = action;
    this.#last = { ...this.#last, next_action: { summary, reflects } };
  }

  /** Makes the row live again; false when there is nothing to publish, or it was refused for good. */
  async #republish(): Promise<boolean> {
    this.#stale = false;
    if (this.#last === undefined || this.#leaving) return false;
    this.#republishing = true;
    try {
      for (;;) {
        const reply = await this.#connection.ask({ type: "status", ...this.#last }).reply;
        if (reply.type !== "refusal") {
          this.#digest = reply.status_digest;
          return true;
        }
        if (reply.reason !== "RATE_LIMITED") return false;
        await new Promise<void>((resolve) => void this.#clock.at(LIMITS.rate_window_ms, resolve));
      }
    } finally {
      this.#republishing = false;
    }
  }

  #add<T>(work: () => Promise<T>, options: CallOptions = {}): Promise<T> {
    const { ended } = this.#connection;
    if (ended !== undefined) return Promise.reject(ended);
    const aborted = abortedBy(options.signal);
    if (aborted !== undefined) return Promise.reject(aborted);
    let job: Job | undefined;
    const done = new Promise<T>((resolve, reject) => {
      const run = async (): Promise<void> => {
        try {
          resolve(await work());
        } catch (error) {
          reject(error instanceof Error ? error : new A2achanError("protocol", { cause: error }));
        }
      };
      job = { run, fail: reject };
      this.#jobs.push(job);
    });
    void this.#pump();
    return this.#connection.within(done, options, () => {
      this.#jobs = this.#jobs.filter((waiting) => waiting !== job);
    });
  }

  async #pump(): Promise<void> {
    if (this.#running) return;
    this.#running = true;
    try {
      for (;;) {
        if (this.#stale) await this.#republish();
        const job = this.#stale ? undefined : this.#jobs.shift();
        if (job === undefined && !this.#stale) break;
        await job?.run();
      }
    } catch {
      // The connection has ended; `ended` fails what waits.
    } finally {
      this.#running = false;
    }
  }
}

/** Stages that say that an ack was taken, with the plan in its frame. */
const TAKEN: readonly string[] = ["ACKED", "WITNESSED", "UNREFLECTED"];

/** What the caller said at the time of the call, whatever it does with its objects while the call waits its turn. */
function copied<T extends { next_action?: PlannedAction }>(fields: T): T {
  const { next_action } = fields;
  if (next_action === undefined) return { ...fields };
  const { reflects } = next_action;
  return { ...fields, next_action: { ...next_action, ...(reflects !== undefined && { reflects: [...reflects] }) } };
}
