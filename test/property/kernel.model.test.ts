import { isDeepStrictEqual } from "node:util";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  decodeEntry,
  deliverable,
  emptyState,
  encodeEntry,
  evolve,
  type Command,
  type EncodedEntry,
  type State,
  type Step,
} from "../../src/kernel/index.js";
import { commitmentOf } from "../../src/storage/texts.js";
import { hold, Invariants, REFUSALS } from "../support/invariants.js";
import { actions, Player, setUp, type Action } from "../support/kernel-actions.js";
import { ID_KEY, TestKernel } from "../support/kernel.js";
import { isOpenStage } from "../support/log-book.js";
import { plainState } from "../support/plain-state.js";
import { expectedOf, keptFor, nameOf, type Expected } from "../support/oracle.js";

const SEED = 20_251_130;
const RUNS = 1_000;
/** How often each thing of interest must have come up in those runs. */
const OFTEN = 40;
const LONGEST = 2 * 3_600_000;

/** Entries that the oracle predicts; the ends that follow from them are the invariants' business. */
const PREDICTED =
  "session_opened admitted superseded delivered acked planned status late_ack declined withdrawn refused redacted".split(
    " ",
  );

const seen = new Map<string, number>();
const see = (what: string): void => void seen.set(what, (seen.get(what) ?? 0) + 1);

/** One story: the kernel, what its log says, and the state that its log gives when it is read back. */
class Story {
  readonly kernel = new TestKernel();
  readonly #invariants = new Invariants(ID_KEY);
  readonly #player = new Player(this.kernel, this.#invariants.book);
  #lines: EncodedEntry[] = [];
  #rebuilt: State = emptyState();
  readonly #erased = new Set<string>();

  constructor() {
    this.kernel.salted = true;
    this.#keep({ events: this.kernel.events, workerEntries: [] });
    this.#invariants.step(this.kernel.events, 0, this.kernel.now);
    this.kernel.observer = (command, step) => this.#check(command, step);
    setUp(this.kernel);
  }

  play(action: Action): void {
    if (action.verb === "restart") this.kernel.state = this.#readBack();
    this.#player.play(action);
  }

  /** Time passes until everything that was admitted has had its end. */
  end(): void {
    this.#compareDue();
    this.kernel.now += LONGEST;
    this.kernel.tick();
    const stages = [...this.#invariants.book.corrections.values()].map(({ stage }) => stage);
    hold("I7", !stages.some(isOpenStage), stages.join(" "));
    this.#compareDue();
  }

  #check(command: Command, step: Step): void {
    const { book } = this.#invariants;
    const own = step.events.slice(step.own).map(({ kind }) => kind);
    let expected: Expected = { answer: "", kinds: [] };
    this.#invariants.step(step.events, step.own, command.now, () => {
      expected = expectedOf(book, command);
      if (command.kind !== "redact") return;
      see(`redact ${this.#erased.has(command.committed) ? "again" : (keptFor(book, command) ?? "done")}`);
    });
    if ("by" in command && (command.by.role !== "operator" || command.kind === "redact")) {
      const actual = { answer: answerOf(step), kinds: own.filter((kind) => PREDICTED.includes(kind)) };
      hold("oracle", isDeepStrictEqual(actual, expected), JSON.stringify({ command, actual, expected }));
      see(`answer ${actual.answer}`);
      if (step.answer.kind === "refused" && step.answer.folded) see("folded");
    }
    for (const event of step.events) see("detail" in event ? `${event.kind}/${event.detail ?? ""}` : event.kind);
    for (const event of step.events)
      for (const key of ["echo", "redelivered", "stale_context"]) {
        if ((event as unknown as Record<string, unknown>)[key] === true) see(key);
      }
    this.#keep(step);
    this.#compare();
  }

  /** The state in memory tells what the log tells, by the book and read back from its lines. */
  #compare(): void {
    const { state } = this.kernel;
    for (const { id, workerId, stage, detail } of this.#invariants.book.corrections.values()) {
      const kept = state.corrections.get(id);
      hold("stage", kept?.stage === stage && kept.detail === detail && kept.worker.id === workerId, id);
    }
    for (const [subject, { open }] of state.senders) {
      const own = [...this.#invariants.book.corrections.values()].filter(({ sender }) => sender === subject);
      const left = own.filter(({ stage }) => isOpenStage(stage)).map(({ id }) => id);
      hold("sender", isDeepStrictEqual([...open.keys()], left), subject);
    }
    for (const [id, worker] of state.workers) {
      const queue = deliverable(worker).map((correction) => correction.id);
      hold("I6", isDeepStrictEqual(queue, this.#invariants.book.queue(id)), id);
      hold("entries", worker.entries === this.#invariants.book.worker(id).entries, id);
    }
    hold("I10", isDeepStrictEqual(plainState(state), plainState(this.#rebuilt)), "the log gives another state");
  }

  #compareDue(): void {
    const { now, state } = this.kernel;
    hold("I10", isDeepStrictEqual(upcoming(state, now), upcoming(this.#readBack(), now)), "another thing is due");
  }

  #keep({ events, workerEntries }: Pick<Step, "events" | "workerEntries">): void {
    events.forEach((event, at) => {
      const entry = encodeEntry(event, this.#lines.length, workerEntries[at]);
      this.#lines.push(entry);
      evolve(this.#rebuilt, decodeEntry(entry.line, entry.texts));
      if (event.kind === "redacted") this.#erase(event.committed);
    });
  }

  /** The text goes from every entry that has it, and the log without it is as good as it was. */
  #erase(committed: string): void {
    this.#erased.add(committed);
    this.#lines = this.#lines.map(({ line, texts }) => ({
      line,
      texts: texts.filter((text) => commitmentOf(text) !== committed),
    }));
    this.#rebuilt = this.#readBack();
  }

  #readBack(): State {
    const state = emptyState();
    for (const { line, texts } of this.#lines) evolve(state, decodeEntry(line, texts));
    return state;
  }
}

function answerOf({ answer }: Step): string {
  if (answer.kind === "refused") return nameOf(answer.refusal);
  return answer.kind === "admitted" && answer.replayed ? "replayed" : answer.kind;
}

/** What is due after `now`, in the order in which it is taken. */
function upcoming({ due }: State, now: number): unknown[] {
  const taken = [];
  for (let next = due.peek(); next !== undefined; next = due.peek()) {
    due.remove(next);
    taken.push(next);
  }
  for (const next of taken) due.put(next);
  return taken.filter(({ dueAt }) => dueAt > now).map(({ dueAt, index }) => [dueAt, index]);
}

describe("the kernel, in any story", () => {
  it(
    "keeps the invariants of its log, answers as the oracle does, and is what its log says [A2C-LIFE-01] [A2C-LIFE-02] [A2C-ROW-07] [A2C-ANS-07]",
    {
      timeout: 120_000,
    },
    () => {
      fc.assert(
        fc.property(actions, (story) => {
          const world = new Story();
          for (const action of story) world.play(action);
          world.end();
        }),
        { seed: SEED, numRuns: RUNS },
      );
    },
  );

  it.each([
    "witnessed",
    "unreflected",
    "declined",
    "expired",
    "expired/WINDOW",
    "withdrawn",
    "superseded",
    "stale/RUN_CHANGED",
    "stale/DIGEST_MOVED",
    "orphaned",
    "revoked",
    "late_ack",
    "echo",
    "redelivered",
    "stale_context",
    "folded",
    ...["done", "open", "row", "again", "no entry"].map((what) => `redact ${what}`),
    "answer admitted",
    "answer replayed",
    "answer stage",
    "answer row",
    "answer done",
    ...[...REFUSALS].map((refusal) => `answer ${refusal}`),
  ])("met often enough in those stories: %s", (what) => {
    expect(seen.get(what) ?? 0).toBeGreaterThanOrEqual(OFTEN);
  });
});
