import fc from "fast-check";
import type { Command, Step } from "../../src/kernel/index.js";
import { EVERYWHERE, SCOPE, type TestKernel } from "./kernel.js";
import { isOpenStage, type LogBook } from "./log-book.js";
import { placeToRedact } from "./redact-action.js";

const VERBS = {
  status: 32,
  receive: 24,
  ack: 30,
  decline: 5,
  connect: 10,
  bye: 1,
  inbox: 1,
  correct: 70,
  resend: 8,
  withdraw: 6,
  stage: 4,
  malformed: 3,
  read: 3,
  lapse: 4,
  restart: 2,
  tick: 4,
  revoke: 1,
  grant: 4,
  redact: 8,
  burst: 2,
  fill: 2,
  churn: 2,
  abuse: 1,
};
type ActionVerb = keyof typeof VERBS;

/** One thing that somebody does. `choices` are numbers below 100 that say how: 0 is always the plain and right way. */
export interface Action {
  verb: ActionVerb;
  worker: string;
  subject: string;
  pick: number;
  choices: number[];
  wait: number;
}

const weighted = <T>(weights: Readonly<Record<string, number>>, map: (key: string) => T): fc.Arbitrary<T> =>
  fc.oneof(...Object.entries(weights).map(([key, weight]) => ({ weight, arbitrary: fc.constant(map(key)) })));

export const actions: fc.Arbitrary<Action[]> = fc.array(
  fc.record({
    verb: weighted(VERBS, (key) => key as ActionVerb),
    worker: weighted({ "w-1": 6, "w-2": 3, "w-3": 1 }, String),
    subject: weighted({ "o-1": 5, "o-2": 3, "o-3": 1 }, String),
    pick: fc.nat({ max: 30 }),
    choices: fc.array(fc.nat({ max: 99 }), { minLength: 10, maxLength: 10 }),
    wait: weighted({ 0: 75, 1: 5, 250: 5, 999: 2, 1_000: 6, 5_000: 4, 20_000: 2, 60_000: 1, 600_000: 1 }, Number),
  }),
  { minLength: 30, maxLength: 70, size: "max" },
);

const DETAILS = ["SHAPE", "ID", "TEXT_BLANK", "TEXT_HIDDEN", "TEXT_ENCODING"] as const;
const UNKNOWN = `corr_${"0".repeat(32)}`;
const GRANTS = [EVERYWHERE, { worker: "*", issue: "2162", lane: "internal/*" }, { ...EVERYWHERE, lane: "cmd/**" }];

/** The players of every story: `o-3` may only watch, `o-1` has a second, narrower token. */
export function setUp(kernel: TestKernel): void {
  for (const subject of ["o-1", "o-2"]) kernel.grant("orchestrator", subject);
  kernel.grant("orchestrator", "o-1", { token: "t-o-1b", patterns: { ...EVERYWHERE, lane: "internal/*" } });
  kernel.grant("orchestrator", "o-3", { verbs: ["watch"] });
  for (const worker of ["w-1", "w-2", "w-3"]) {
    kernel.grant("worker", worker);
    kernel.connect(worker);
    if (worker !== "w-3") kernel.status(worker);
  }
}

/** Does what an action says, given what the log says so far. */
export class Player {
  readonly #kernel: TestKernel;
  readonly #book: LogBook;
  readonly #sent: Command[] = [];
  readonly #digests = new Set<string>();
  #count = 0;

  constructor(kernel: TestKernel, book: LogBook) {
    this.#kernel = kernel;
    this.#book = book;
  }

  play(action: Action): void {
    const { verb, worker, subject, pick, choices, wait } = action;
    const kernel = this.#kernel;
    kernel.now += wait;
    this.#count += 1;
    const rare = (at: number, percent: number): boolean => (choices[at] ?? 0) >= 100 - percent;
    const from = { ...(rare(8, 5) && { session: "an older one" }), ...(rare(9, 3) && { token: "t-o-1" }) };
    const { digest } = this.#book.worker(worker);
    if (digest !== undefined) this.#digests.add(digest);

    switch (verb) {
      case "status":
        if (this.#book.worker(worker).session === undefined && !rare(6, 20)) kernel.connect(worker, `s-${this.#count}`);
        return void kernel.status(worker, this.#row(action, rare), from);
      case "receive":
        return void kernel.receive(worker, this.#held(action), from);
      case "ack":
        return this.#ack(action, rare, from);
      case "decline":
        return void kernel.decline(worker, this.#held(action), { ...from, ...(rare(1, 8) && { status_digest: "x" }) });
      case "connect":
        return void kernel.connect(worker, `s-${this.#count}`, rare(9, 10) ? { token: "t-o-2" } : {});
      case "bye":
        return void kernel.bye(worker, from);
      case "inbox":
        return void kernel.read("worker", worker, "inbox", from);
      case "correct":
        return this.#correct(action, rare);
      case "resend": {
        const again = this.#sent.at(-1 - (pick % Math.max(1, this.#sent.length)));
        return again === undefined ? undefined : void kernel.do(again);
      }
      case "withdraw":
      case "stage":
        return void kernel[verb](subject, this.#own(action));
      case "malformed": {
        const refusal = { reason: "MALFORMED" as const, detail: DETAILS[pick % 5] ?? "SHAPE" };
        const message = rare(1, 50) ? { message: "x".repeat(rare(2, 50) ? 3_000 : 10) } : {};
        return void kernel.malformed(subject, { type: "correct", id: "1", refusal, worker_id: worker, ...message });
      }
      case "read":
        return void kernel.read("orchestrator", subject, rare(0, 30) ? "prove" : "get");
      case "lapse":
        return void kernel.lapse(worker);
      case "restart":
        return void kernel.start();
      case "tick":
        return void kernel.tick();
      case "revoke":
        return void kernel.revoke(rare(0, 20) ? `t-${worker}` : `t-${subject}`);
      case "grant":
        return this.#grant(action, rare);
      case "redact": {
        const place = placeToRedact(kernel.events, this.#book, choices[0] ?? 0, pick);
        return place && void kernel.redact(place.entry, place.field, place.committed);
      }
      case "burst":
        return this.#burst(worker, subject);
      case "fill":
        for (let n = 0; n < 10; n += 1) this.#another(worker, subject, `f-${n}`, n < 8 ? "normal" : "halt");
        return;
      case "churn":
        for (let n = 0; n < 21; n += 1) kernel.status(worker, { last_action: `churn ${n}` });
        return this.#ack(action, rare, from);
      case "abuse":
        for (let n = 0; n < 104; n += 1) kernel.stage(subject, UNKNOWN);
    }
  }

  #row({ worker, choices, pick }: Action, rare: Rare): Parameters<TestKernel["status"]>[1] {
    const now = this.#book.worker(worker).row;
    const last = ["a", "b", "c"][(choices[3] ?? 0) % 4];
    return {
      ...(rare(0, 4) && { issue: "9" }),
      ...(rare(1, 8) && { lane: "cmd/x" }),
      ...(rare(2, 4) && { task_id: "t-1" }),
      ...(last !== undefined && { last_action: last }),
      ...this.#plan(worker, choices[4] ?? 0, choices[5] ?? 0, pick),
      ...(rare(7, 10) && { expect_seq: (now?.seq ?? 0) + (pick % 3 === 0 ? 1 : 0) }),
    };
  }

  /** No plan, the one that the row has, or one that names some of the worker's corrections. */
  #plan(
    worker: string,
    how: number,
    which: number,
    mask: number,
  ): { next_action?: { summary: string; reflects: string[] } } {
    const now = this.#book.worker(worker).row?.next_action;
    if (how < 35) return {};
    if (how < 55 && now !== undefined)
      return { next_action: { summary: now.summary.text ?? "", reflects: [...now.reflects] } };
    const all = [...this.#book.corrections.values()].filter(({ workerId }) => workerId === worker).map(({ id }) => id);
    const reflects = all.slice(-8).filter((_, at) => ((mask + 1) >> (at % 5)) % 2 === 1);
    if (how > 95) reflects.push(UNKNOWN);
    return { next_action: { summary: `plan ${which % 3}`, reflects } };
  }

  #ack({ worker, choices, pick, ...action }: Action, rare: Rare, from: object): void {
    const id = this.#held({ worker, choices, pick, ...action });
    const plan = this.#plan(worker, choices[4] ?? 0, choices[5] ?? 0, pick).next_action;
    if (plan !== undefined && rare(6, 60) && !plan.reflects.includes(id)) plan.reflects.push(id);
    this.#kernel.ack(worker, id, plan, { ...from, ...(rare(1, 6) && { status_digest: "x" }) });
  }

  #correct({ worker, subject, choices, pick }: Action, rare: Rare): void {
    const { row } = this.#book.worker(worker);
    const digests = [...this.#digests, undefined];
    const ttl_ms = [undefined, 1_000, 5_000, 60_000, 3_600_000][(choices[5] ?? 0) % 5];
    const own = [...this.#book.corrections.values()].filter(({ sender }) => sender === subject);
    const supersedes = rare(7, 20) ? UNKNOWN : own.at(-1 - (pick % Math.max(1, own.length)))?.id;
    const fields = {
      worker_id: rare(9, 3) ? "w-9" : worker,
      issue: row?.issue ?? SCOPE.issue,
      task_id: row?.task_id,
      lane: row?.lane ?? SCOPE.lane,
      ...(rare(1, 8) && [{ lane: "internal/z" }, { issue: "9/z" }, { task_id: "t-z" }][pick % 3]),
      message: rare(6, 5) ? "x".repeat(1_024 + (pick % 2)) : "Stay.",
      key: rare(8, 15) ? "same" : `k${this.#count}`,
      ttl_ms,
      ...(rare(0, 10) && { status_digest: digests[pick % digests.length] }),
      ...(rare(2, 20) && { supersedes }),
      ...(rare(3, 20) && { priority: "halt" as const }),
      ...(rare(4, 25) && { freshness: "exact" as const }),
      ...(rare(7, 10) && { orchestrator_id: pick % 2 === 0 ? subject : "o-2" }),
      ...(rare(5, 6) && { max_bytes: [4, 5, 60_000][pick % 3] }),
    };
    const token = subject === "o-1" && pick % 3 === 0 ? { token: "t-o-1b" } : {};
    const before = this.#kernel.observer;
    this.#kernel.observer = (command, step) => {
      this.#sent.push(command);
      before?.(command, step);
    };
    this.#kernel.correct(subject, fields, { reachable: pick % 2 === 0, ...token });
    this.#kernel.observer = before;
  }

  /** Twenty-one corrections at once, each in the place of the one before. */
  #burst(worker: string, subject: string): void {
    let supersedes: string | undefined;
    for (let n = 0; n < 21; n += 1) {
      const { answer } = this.#another(worker, subject, `b-${n}`, "normal", supersedes);
      supersedes = answer.kind === "admitted" ? answer.correctionId : undefined;
    }
  }

  #another(worker: string, subject: string, key: string, priority: "normal" | "halt", supersedes?: string): Step {
    const { issue = SCOPE.issue, lane = SCOPE.lane, task_id } = this.#book.worker(worker).row ?? {};
    const fields = { worker_id: worker, issue, lane, task_id, key: `${key}-${this.#count}`, priority, supersedes };
    return this.#kernel.correct(subject, fields);
  }

  #grant({ worker, subject, pick, choices }: Action, rare: Rare): void {
    const ends = rare(0, 30) ? { expires_at: this.#kernel.now + ([1_000, 5_000, 60_000][pick % 3] ?? 0) } : {};
    if (rare(1, 15)) {
      this.#kernel.grant("worker", worker, {
        patterns: { worker, issue: "2162", lane: rare(2, 50) ? "cmd/*" : "**" },
        ...ends,
      });
      return;
    }
    const patterns = GRANTS[(choices[2] ?? 0) % 4] ?? EVERYWHERE;
    const token = subject === "o-1" && rare(3, 40) ? { token: "t-o-1b" } : {};
    this.#kernel.grant("orchestrator", subject, {
      ...(subject === "o-3" && { verbs: ["watch"] }),
      patterns,
      ...ends,
      ...token,
    });
  }

  /** A correction of the worker that is open, or now and then any at all. */
  #held({ worker, pick, choices }: Action): string {
    const all = [...this.#book.corrections.values()];
    const open = all.filter(({ workerId, stage }) => workerId === worker && isOpenStage(stage));
    const own = open.length > 0 ? open : all.filter(({ workerId }) => workerId === worker);
    const from = (choices[2] ?? 0) < 90 ? own : all;
    return from.at(-1 - (pick % Math.max(1, from.length)))?.id ?? UNKNOWN;
  }

  /** A correction of the sender, or now and then another's. */
  #own({ subject, pick, choices }: Action): string {
    const all = [...this.#book.corrections.values()];
    const own = all.filter(({ sender }) => sender === subject);
    const from = (choices[2] ?? 0) < 85 && own.length > 0 ? own : all;
    return from.at(-1 - (pick % Math.max(1, from.length)))?.id ?? UNKNOWN;
  }
}

type Rare = (at: number, percent: number) => boolean;
