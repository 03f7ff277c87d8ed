import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { MemoryStore } from "../../src/index.js";
import { TestBroker } from "../support/broker.js";
import { LocalBroker, turn, until, type LocalClient } from "../support/local.js";
import { publish, statusOf } from "../support/scenes.js";
import type { Frame, Wire } from "../support/wire.js";

const A_TURN = 256;
const PLENTY = { connections: 4_096, unauthenticated: 4_096, digests_per_window: 1e6 };

const seqOf = ({ row }: Frame): number => (row as { seq: number }).seq;
const idOf = ({ row }: Frame): string => (row as { worker_id: string }).worker_id;

describe("a row that 600 sessions watch", () => {
  let local: LocalBroker;
  let worker: LocalClient;
  let watchers: LocalClient[];

  beforeEach(async () => {
    local = await LocalBroker.open({ store: new MemoryStore(), limits: PLENTY });
    worker = await local.worker("w-1");
    await publish(worker);
    const token = await local.orchestratorToken("watcher");
    watchers = [];
    for (let at = 0; at < 600; at += 1) {
      const watcher = await local.hello(token, { role: "orchestrator" });
      await watcher.ask({ type: "watch" });
      watchers.push(watcher);
    }
  });
  afterEach(() => local.stop());

  const seqs = (): number[][] => watchers.map((watcher) => watcher.pushes("row").map(seqOf));
  const told = (): number => seqs().flat().length;

  it("is told to at most 256 of them in one turn, and to all of them once [A2C-FRM-21]", async () => {
    worker.tell(statusOf("moved on"));
    const perTurn: number[] = [];
    for (let before = 0; before < 600; before = told()) {
      await turn();
      perTurn.push(told() - before);
    }
    expect(perTurn.filter((count) => count > A_TURN)).toEqual([]);
    expect(seqs()).toEqual(watchers.map(() => [2]));
  });

  it("and that changes again on the way is told as it is then, never as it was [A2C-FRM-21]", async () => {
    worker.tell(statusOf("moved on"));
    await until(() => told() > 0);
    const early = seqs().filter(({ length }) => length > 0).length;
    expect(early).toBeLessThan(600);
    worker.tell(statusOf("and on"));
    await until(() => seqs().every((one) => one.at(-1) === 3));
    // Whoever was not told of the first change by then never is.
    expect(seqs().filter((one) => one.length === 2).length).toBeLessThanOrEqual(2 * A_TURN);
    expect(seqs().filter((one) => one.length === 1).length).toBeGreaterThan(0);
    await turn();
    expect(new Set(seqs().map((one) => one.join()))).toEqual(new Set(["2,3", "3"]));
  });

  it("is not told to who has gone, watches no more, or watches anew, on the way [A2C-FRM-23] [A2C-FRM-24]", async () => {
    const [gone, ended, anew] = watchers.slice(-3) as [LocalClient, LocalClient, LocalClient];
    worker.tell(statusOf("moved on"));
    await until(() => told() > 0);
    gone.drop();
    ended.tell({ type: "unwatch" });
    const id = anew.tell({ type: "watch" });
    await until(() => told() >= 597);
    for (let count = 0; count < 5; count += 1) await turn();
    for (const client of [gone, ended, anew]) expect(client.pushes("row")).toEqual([]);
    expect(anew.reply(id)).toMatchObject({ rows: [{ row: { seq: 2 } }], done: true });
  });
});

describe("the snapshot of a fleet that takes more than one turn to look over", () => {
  it("is from the state in which it was finished: what changed on the way is in it, and not told again [A2C-FRM-20] [A2C-CUR-01]", async () => {
    const local = await LocalBroker.open({ store: new MemoryStore(), limits: PLENTY });
    const names = Array.from({ length: 1_100 }, (_, at) => `w-${String(at).padStart(4, "0")}`);
    const workers = new Map<string, LocalClient>();
    for (const name of names) {
      const worker = await local.worker(name);
      worker.tell(statusOf("step 1"));
      workers.set(name, worker);
    }
    const newcomer = await local.worker("a-first");
    const watcher = await local.orchestrator("watcher");
    const id = watcher.tell({ type: "watch", filter: { lane: "src/**" } });
    const first = workers.get("w-0000");
    first?.tell(statusOf("step 2"));
    workers.get("w-0001")?.tell({ ...statusOf("step 2"), lane: "docs" });
    newcomer.tell(statusOf("step 1"));
    const pages = (): Frame[] => watcher.frames.filter((frame) => frame["id"] === id);
    await until(() => pages().at(-1)?.["done"] === true);
    const views = pages().flatMap(({ rows }) => rows as Frame[]);
    expect(views.map(idOf)).toEqual(["a-first", ...names.filter((name) => name !== "w-0001")]);
    expect(views.filter((view) => seqOf(view) === 2).map(idOf)).toEqual(["w-0000"]);
    await turn();
    expect(watcher.pushes("row")).toEqual([]);
    first?.tell(statusOf("step 3"));
    await until(() => watcher.pushes("row").length > 0);
    expect(watcher.pushes("row").map(seqOf)).toEqual([3]);
    await local.stop();
  }, 30_000);
});

describe("a fleet of 200 workers and 100 watchers on real sockets", () => {
  let broker: TestBroker;

  beforeEach(async () => {
    broker = await TestBroker.start({ limits: PLENTY });
  });
  afterEach(() => broker.stop());

  it("keeps each watcher in order of seq, and up to the last row of everybody [A2C-FRM-21]", async () => {
    const open = <T>(count: number, one: (at: number) => Promise<T>): Promise<T[]> =>
      Promise.all(Array.from({ length: count }, (_, at) => one(at)));
    const workers = await open(200, (at) => broker.worker(`w-${at}`));
    await Promise.all(workers.map((worker) => worker.ask(statusOf("step 1"))));
    const watchers = await open(100, (at) => broker.orchestrator(`o-${at}`));
    const shown = await Promise.all(watchers.map((watcher) => snapshot(watcher)));
    for (let step = 2; step <= 6; step += 1) for (const worker of workers) void worker.ask(statusOf(`step ${step}`));
    await Promise.all(workers.map((worker) => worker.barrier()));

    await Promise.all(watchers.map((watcher) => allAt(watcher, 6)));
    watchers.forEach((watcher, at) => {
      expect(shown[at]).toHaveLength(200);
      const seen = new Map(shown[at]?.map((view) => [idOf(view), seqOf(view)]));
      for (const push of watcher.pushes.filter(({ rows }) => rows === undefined)) {
        expect(seqOf(push)).toBeGreaterThan(seen.get(idOf(push)) ?? 0);
        seen.set(idOf(push), seqOf(push));
      }
      expect([...seen.values()]).toEqual(Array.from({ length: 200 }, () => 6));
    });
  }, 30_000);

  /** Every view of a watch's snapshot; its later pages come as pushes. */
  async function snapshot(watcher: Wire): Promise<Frame[]> {
    const pages = [await watcher.ask({ type: "watch" })];
    while (pages.at(-1)?.["done"] !== true) pages.push(await watcher.push(({ type }) => type === "rows"));
    return pages.flatMap(({ rows }) => rows as Frame[]);
  }

  /** Resolves when a watcher was told that every row is at `seq`. */
  async function allAt(watcher: Wire, seq: number): Promise<void> {
    const at = (): number => watcher.pushes.filter((push) => push["row"] !== undefined && seqOf(push) === seq).length;
    while (at() < 200) await watcher.barrier();
  }
});

it("writes what it sends in one turn in its order, ASCII or not", async () => {
  const broker = await TestBroker.start();
  try {
    const worker = await broker.worker("w-1");
    await worker.ask(statusOf("\u201cquoted\u201d"));
    const client = await broker.orchestrator("lead");
    const types = ["ping", "get", "ping", "list", "get", "ping"];
    const answers = await Promise.all(
      types.map((type) => client.ask({ type, ...(type === "get" && { worker_id: "w-1" }) })),
    );
    expect(answers.map(({ type }) => type)).toEqual(["pong", "row", "pong", "rows", "row", "pong"]);
    expect(answers.map(({ id }) => id)).toEqual(["t2", "t3", "t4", "t5", "t6", "t7"]);
    expect(answers[1]).toMatchObject({ row: { last_action: "\u201cquoted\u201d" } });
  } finally {
    await broker.stop();
  }
});
