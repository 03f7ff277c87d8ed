import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { TestBroker } from "../support/broker.js";
import { until } from "../support/local.js";
import { correctionOf, publish } from "../support/scenes.js";
import { EVERYWHERE } from "../support/serve.js";
import { Wire, type Frame } from "../support/wire.js";

const PAIRS = 50;
/** Rounds of every pair but the first, which goes on until the slow session has been cut. */
const ROUNDS = 5;
/** Corrections that are open with a worker at once. */
const OPEN = 8;
const STAGES = ["DELIVERED", "ACKED", "WITNESSED"];

let broker: TestBroker;

beforeEach(async () => {
  const many = 1_000_000;
  const limits = { frames_per_second: many, frames_burst: many, admitted_per_window: many, digests_per_window: many };
  broker = await TestBroker.start({ limits });
});
afterEach(() => broker.stop());

/** A worker and an orchestrator of its own. */
class Pair {
  readonly worker: Wire;
  readonly orchestrator: Wire;
  readonly #id: string;
  #digest: string;
  /** Ids in the order of admission. */
  readonly admitted: string[] = [];

  constructor(id: string, worker: Wire, orchestrator: Wire, digest: string) {
    this.#id = id;
    this.worker = worker;
    this.orchestrator = orchestrator;
    this.#digest = digest;
  }

  static async open(at: number): Promise<Pair> {
    const worker = await broker.worker(`w-${at}`);
    return new Pair(`w-${at}`, worker, await broker.orchestrator(`orch-${at}`), await publish(worker));
  }

  /** As many corrections as the worker takes at once, all of them witnessed. */
  async round(): Promise<void> {
    const begun = this.admitted.length;
    const receipts = await Promise.all(
      Array.from({ length: OPEN }, (_, at) =>
        this.orchestrator.ask(correctionOf(this.#id, this.#digest, `Mind step ${begun + at}.`)),
      ),
    );
    const ids = receipts.map((receipt) => String(receipt["correction_id"]));
    this.admitted.push(...ids);
    const cited = { type: "ack", status_digest: this.#digest };
    const last = ids.at(-1);
    for (const id of ids.slice(0, -1)) void this.worker.ask({ ...cited, correction_id: id });
    const next_action = { summary: `mind ${last}`, reflects: ids };
    const answer = await this.worker.ask({ ...cited, correction_id: last, next_action });
    if (answer["stage"] !== "WITNESSED") throw new Error(`not witnessed: ${JSON.stringify(answer)}`);
    this.#digest = String(answer["status_digest"]);
  }
}

/** The stages that were pushed of each correction, in the order in which the corrections first appear. */
function stagesOf(pushes: readonly Frame[]): Map<string, unknown[]> {
  const stages = new Map<string, unknown[]>();
  for (const { type, correction_id, stage } of pushes) {
    if (type === "stage") stages.set(String(correction_id), [...(stages.get(String(correction_id)) ?? []), stage]);
  }
  return stages;
}

describe("a session that reads nothing beside 50 pairs at work", () => {
  it("is cut with 4430, it alone, while every stage of the pairs arrives; its cursor is good for the rest [A2C-CUR-05] [A2C-LIM-09]", async () => {
    const pairs: Pair[] = [];
    for (let at = 0; at < PAIRS; at += 1) pairs.push(await Pair.open(at));
    const [busy, ...others] = pairs as [Pair, ...Pair[]];
    const { token } = await broker.running.addToken({ role: "orchestrator", subject: "orch-0", ...EVERYWHERE });
    const slow = await Wire.hello(broker.url, token, { role: "orchestrator" });
    const { sessions } = broker.running.broker.stats();
    expect(sessions).toBe(2 * PAIRS + 1);
    slow.pause();
    // Answers fill the buffers of the system; what counts is what is pushed on top.
    for (let page = 0; page < 240; page += 1) void slow.ask({ type: "list" });
    const standing = (): boolean => broker.running.broker.stats().sessions === sessions;
    await Promise.all([
      (async () => {
        while (standing()) await busy.round();
      })(),
      ...others.map(async (pair) => {
        for (let round = 0; round < ROUNDS; round += 1) await pair.round();
      }),
    ]);
    slow.resume();
    expect(await slow.closed).toEqual({ code: 4430, reason: "slow consumer" });

    for (const pair of pairs) {
      await pair.orchestrator.barrier();
      expect(stagesOf(pair.orchestrator.pushes)).toEqual(new Map(pair.admitted.map((id) => [id, STAGES])));
    }
    expect(others.map(({ admitted }) => admitted.length)).toEqual(Array(PAIRS - 1).fill(ROUNDS * OPEN));
    expect(broker.running.broker.stats().sessions).toBe(2 * PAIRS);

    const again = await Wire.hello(broker.url, token, {
      role: "orchestrator",
      resume_from: slow.pushes.at(-1)?.["cursor"],
    });
    expect(again.welcome["gap"]).toBe(false);
    await until(() => again.pushes.at(-1)?.["correction_id"] === busy.admitted.at(-1));
    await until(() => again.pushes.at(-1)?.["stage"] === "WITNESSED");
    const all = stagesOf([...slow.pushes, ...again.pushes]);
    expect(all).toEqual(new Map(busy.admitted.map((id) => [id, ["ADMITTED", ...STAGES]])));
    again.drop();
  });
});
