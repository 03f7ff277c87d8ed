import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { isRefused, type StageNotice } from "../../../src/client/index.js";
import { turn } from "../../support/local.js";
import type { Frame, Wire } from "../../support/wire.js";
import { Scene, WHERE, ackOf, correctionOf, digestIn, pushed, statusOf } from "./support/scene.js";

let scene: Scene;

beforeEach(async () => {
  scene = await Scene.open();
});

afterEach(() => scene.close());

describe("a view that is left behind", () => {
  it("C02: ends the stream of a correction's stages with what the snapshot says", async () => {
    const { broker, worker, orchestrator, digest } = scene;
    const sdk = await scene.sdkOrchestrator();
    const watcher = await broker.orchestrator("O2");
    await watcher.ask({ type: "watch" });
    const { row } = (await scene.view()) as never;
    const receipt = await sdk.correct(row, "stay in lane");
    if (receipt.verdict !== "ALLOW") throw new Error(receipt.advice);
    const id = receipt.correction_id;
    const next_action = { summary: "edit the right file first", reflects: [id] };
    await worker.ask({ type: "receive", correction_id: id });
    await worker.ask(ackOf(id, digest, { next_action }));

    const seen: StageNotice[] = [];
    for await (const notice of receipt.stages()) seen.push(notice);
    expect(seen.map(({ stage }) => stage)).toEqual(["ADMITTED", "DELIVERED", "ACKED", "WITNESSED"]);
    expect(await sdk.stage(id)).toEqual(seen.at(-1));
    const pushes = await pushed(orchestrator, "stage");
    expect(pushes.map(({ stage }) => stage)).toEqual(["ADMITTED", "DELIVERED", "ACKED", "WITNESSED"]);
    const { type: _type, id: _id, ...snapshot } = await orchestrator.ask({ type: "stage", correction_id: id });
    expect(pushes.at(-1)).toEqual({ type: "stage", cursor: expect.any(String) as string, ...snapshot });
    // What watches rows sees none pending either.
    expect((await pushed(watcher, "row")).at(-1)).toMatchObject({ pending: 0, row: { next_action } });
    expect(await scene.view()).toMatchObject({ pending: 0, row: { next_action } });
  });

  it("C03: replaces a row by that of another task as a whole, and the old digest is dead", async () => {
    const { broker, worker, orchestrator } = scene;
    const watcher = await broker.orchestrator("O2");
    const digest = await scene.publish("plan A", { next_action: { summary: "half way" } });
    await watcher.ask({ type: "watch" });
    const open = await scene.admit("for the first task", {}, digest);
    const moved = await worker.ask({ type: "status", ...WHERE, task_id: "gh-2163" });
    expect(moved["row"]).toEqual({
      schema: "a2achan.worker-status.v1",
      worker_id: "W1",
      issue: "2162",
      task_id: "gh-2163",
      lane: "internal/a2achan",
      live: true,
      seq: 3,
    });
    const { id: _id, ...view } = await scene.view();
    expect(view).toMatchObject({ row: moved["row"], pending: 0 });
    expect((await pushed(watcher, "row")).at(-1)).toEqual(view);
    expect(await scene.stage(open)).toBe("STALE");
    const stale = { verdict: "DENY", reason: "UNWITNESSED", detail: "DIGEST", current: moved["row"] };
    expect(await orchestrator.ask(correctionOf(digest, "stay in lane"))).toMatchObject(stale);
    // Nor does it come to life when the worker comes back to the first task.
    const back = await worker.ask(statusOf("plan A", { next_action: { summary: "half way" } }));
    expect(back).toMatchObject({ row: { seq: 4 } });
    const dead = await orchestrator.ask(correctionOf(digest, "again"));
    expect(dead).toMatchObject({ ...stale, current: back["row"] });
  });
});

describe("law: what a watcher was told last is what a snapshot says", () => {
  const lanes = ["src/a", "src/b", "docs"];
  const move = fc.record({
    of: fc.nat({ max: 1 }),
    does: fc.constantFrom(
      "publish",
      "publish",
      "lane",
      "open",
      "shut",
      "drop",
      "come",
      "correct",
      "ack",
      "withdraw",
      "bye",
      "wait",
    ),
    how: fc.nat({ max: 100 }),
  });
  const filters = [{}, { lane: "src/*" }, { live: true }, { worker_id: "*-0", lane: "**" }, { live: false }];

  it("for any filter and grant, after whatever happens to workers, sessions, leases and corrections", async () => {
    const { broker, orchestrator } = scene;
    const sdk = await scene.sdkOrchestrator();
    let run = 0;
    const plays = fc.tuple(
      fc.array(move, { minLength: 5, maxLength: 25 }),
      fc.constantFrom(...filters),
      fc.constantFrom("**", "src/**"),
    );
    await fc.assert(
      fc.asyncProperty(plays, async ([moves, filter, lane]) => {
        run += 1;
        const names = [`run-${run}-0`, `run-${run}-1`];
        const players: Player[] = [];
        for (const name of names) players.push(await Player.enter(scene, name));
        const granted = {
          role: "orchestrator" as const,
          subject: `watcher-${run}`,
          worker: `run-${run}-*`,
          issue: "**",
          lane,
        };
        const watcher = await broker.open((await broker.running.addToken(granted)).token);
        await watcher.ask({ type: "hello", role: "orchestrator" });
        const last = new Map<string, unknown>();
        const note = (frame: Frame): void => {
          if (frame["gone"] === true) return void last.delete(frame["worker_id"] as string);
          last.set((frame["row"] as { worker_id: string }).worker_id, frame);
        };
        const snapshot = await watcher.ask({ type: "watch", filter });
        for (const view of snapshot["rows"] as object[]) note({ type: "row", ...view });
        const ours = { ...filter, worker_id: filter.worker_id === undefined ? `run-${run}-*` : `run-${run}-0` };
        const live = sdk.workers(ours);
        const seen = new Map<string, unknown>();
        const reading = (async () => {
          for await (const change of live) {
            if (isRefused(change)) throw new Error(change.advice);
            if ("gone" in change) seen.delete(change.worker_id);
            else seen.set(change.row.worker_id, change);
          }
        })();

        for (const { of, does, how } of moves) {
          await (players[of] as Player).play(does, lanes[how % 3] ?? "docs", how);
          await watcher.barrier();
          for (const frame of await pushed(watcher, "row")) note(frame);
          const listed = (await watcher.ask({ type: "list", filter }))["rows"] as { row: { worker_id: string } }[];
          const views = listed.map((view) => [view.row.worker_id, { type: "row", ...view }] as const);
          expect(Object.fromEntries(last), does).toEqual(Object.fromEntries(views));
        }

        const all = await sdk.list(ours);
        if (isRefused(all)) throw new Error(all.advice);
        for (let turns = 0; turns < 5; turns += 1) await turn();
        expect(Object.fromEntries(seen)).toEqual(
          Object.fromEntries(all.rows.map((view) => [view.row.worker_id, view])),
        );
        await live.return?.();
        await reading;
        watcher.drop();
        for (const player of players) player.leave();
        await broker.advance(1_000, orchestrator);
      }),
      { numRuns: 15 },
    );
  });
});

/** One worker, and the orchestrator's corrections for it, as a generated story moves them. */
class Player {
  readonly #scene: Scene;
  readonly #id: string;
  readonly #token: string;
  #wire: Wire | undefined;
  #digest = "";
  #lane = "src/a";
  #step = 0;
  readonly #open: { id: unknown; digest: string }[] = [];

  private constructor(scene: Scene, id: string, token: string) {
    this.#scene = scene;
    this.#id = id;
    this.#token = token;
  }

  static async enter(scene: Scene, id: string): Promise<Player> {
    const issued = { role: "worker" as const, subject: id, issue: "**", lane: "**" };
    const player = new Player(scene, id, (await scene.broker.running.addToken(issued)).token);
    await player.play("come", "src/a", 0);
    return player;
  }

  leave(): void {
    this.#wire?.drop();
  }

  async play(does: string, lane: string, how: number): Promise<void> {
    const { broker, orchestrator } = this.#scene;
    const oldest = this.#open[0];
    switch (does) {
      case "come": {
        const hello = { lease_ms: 45_000 + how, inbox: how % 2 === 0 };
        this.#wire = await broker.worker(this.#id, hello, this.#token);
        return this.#digest === "" || how % 3 === 0 ? this.#publish() : undefined;
      }
      case "drop":
        this.#wire?.drop();
        return this.#gone();
      case "wait":
        // Long enough for a lease to lapse and a correction to expire, where nobody renews.
        return broker.advance(how * 1_000, orchestrator);
      case "correct": {
        const sent = { worker_id: this.#id, lane: this.#lane, ttl_ms: 1_000 + how * 1_000 };
        const receipt = await orchestrator.ask(correctionOf(this.#digest, `say ${(this.#step += 1)}`, sent));
        if (receipt["verdict"] === "ALLOW") this.#open.push({ id: receipt["correction_id"], digest: this.#digest });
        return undefined;
      }
      case "withdraw":
        if (oldest !== undefined) await orchestrator.ask({ type: "withdraw", correction_id: oldest.id });
        return undefined;
      default:
    }
    const wire = this.#wire;
    if (wire === undefined || !(await isUp(wire))) return undefined;
    if (does === "open" || does === "shut") await wire.ask({ type: "inbox", open: does === "open" });
    else if (does === "lane") {
      this.#lane = lane;
      await this.#publish();
    } else if (does === "publish") await this.#publish();
    else if (does === "bye") {
      await wire.ask({ type: "bye" });
      await this.#gone();
    } else if (oldest !== undefined) await wire.ask(ackOf(oldest.id, oldest.digest));
    return undefined;
  }

  /** Waits until the broker has heard that the connection is gone. */
  async #gone(): Promise<void> {
    this.#wire = undefined;
    for (;;) {
      const view = await this.#scene.orchestrator.ask({ type: "get", worker_id: this.#id });
      if (view["liveness"] !== "live" && view["inbox"] !== "open") return;
    }
  }

  async #publish(): Promise<void> {
    const row = await this.#wire?.ask(statusOf(`step ${(this.#step += 1)}`, { lane: this.#lane }));
    if (row?.type === "row") this.#digest = digestIn(row);
  }
}

/** Whether a connection still stands: one that was dropped, or lost its pings, does not. */
function isUp(wire: Wire): Promise<boolean> {
  return Promise.race([wire.closed.then(() => false), wire.barrier().then(() => true)]);
}
