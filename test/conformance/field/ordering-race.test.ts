import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Frame, Wire } from "../../support/wire.js";
import { turn, until } from "../../support/local.js";
import { SlowStore } from "../../support/stores.js";
import {
  Scene,
  WHERE,
  ackOf,
  correctionOf,
  delivered,
  digestIn,
  ids,
  lasting,
  pushed,
  statusOf,
} from "./support/scene.js";

let scene: Scene;
/** Turns of the event loop from a decision until it is durable, and told. */
let turns: number;

beforeEach(async () => {
  turns = 0;
  scene = await Scene.open({}, { store: new SlowStore(() => turns) });
});

afterEach(() => scene.close());

const FENCED = { code: 4409, reason: "fenced by a newer session" };

describe("an order of events", () => {
  it("X01: delivers in the order of admission within a priority, halts first, also behind a closed inbox", async () => {
    const { worker, orchestrator, broker } = scene;
    const texts = ["m0", "m1", "m2", "m3", "m4", "m5", "m6", "m7"];
    await Promise.all(texts.slice(0, 4).map((text) => scene.admit(text)));
    expect((await delivered(worker)).map(({ message }) => message)).toEqual(["m0", "m1", "m2", "m3"]);
    await worker.ask({ type: "inbox", open: false });
    await Promise.all(texts.slice(4).map((text) => scene.admit(text)));
    await scene.admit("stop", { priority: "halt" });
    await worker.ask({ type: "inbox", open: true });
    expect((await delivered(worker)).map(({ message }) => message)).toEqual(["stop", "m4", "m5", "m6", "m7"]);
    // A turn boundary, or a new process: from the start, in the same order.
    const next = await broker.worker("W1");
    expect((await delivered(next)).map(({ message }) => message)).toEqual(["stop", ...texts]);
    expect(await pushed(orchestrator, "stage")).toEqual([]);
  });

  it("X02: replaces a pending correction by the one that supersedes it, in one step, and delivers the new one only", async () => {
    const { worker, orchestrator, digest } = scene;
    await worker.ask({ type: "inbox", open: false });
    const old = await scene.admit("old");
    const receipt = await orchestrator.ask(correctionOf(digest, "new", { supersedes: old }));
    expect(receipt).toMatchObject({ verdict: "ALLOW", stage: "ADMITTED" });
    await worker.ask({ type: "inbox", open: true });
    expect(await delivered(worker)).toMatchObject([{ message: "new", supersedes: old }]);
    expect(await scene.stage(old)).toBe("SUPERSEDED");
    const [admitted] = (await scene.logged("admitted")).slice(-1);
    expect(await scene.logged("superseded")).toMatchObject([
      { index: (receipt["index"] as number) + 1, at: admitted?.["at"], correction_id: old },
    ]);
    // One that is received already is called back too.
    const held = receipt["correction_id"] as string;
    await worker.ask({ type: "receive", correction_id: held });
    const newest = await scene.admit("newest", { supersedes: held });
    expect(await pushed(worker, "stage")).toMatchObject([{ correction_id: held, stage: "SUPERSEDED" }]);
    expect(await delivered(worker)).toMatchObject([{ correction_id: newest, message: "newest" }]);
    expect(await worker.ask(ackOf(held, digest))).toMatchObject({ type: "stage", stage: "SUPERSEDED" });
  });

  it("X04: delivers what was admitted before the worker opened its inbox, came, or lived again", async () => {
    const { broker, digest } = scene;
    scene.worker.drop();
    const closed = await broker.worker("W1", { inbox: false });
    const first = await scene.admit("stay in lane");
    expect(await delivered(closed)).toEqual([]);
    await closed.ask({ type: "inbox", open: true });
    expect(ids(await delivered(closed))).toEqual([first]);

    closed.drop();
    const second = await scene.admit("while away");
    const back = await broker.worker("W1");
    expect(ids(await delivered(back))).toEqual([first, second]);

    back.drop();
    await broker.advance(60_000, scene.orchestrator);
    expect(await scene.view()).toMatchObject({ liveness: "dead", row: { live: false } });
    const again = await broker.worker("W1");
    expect(await delivered(again)).toEqual([]);
    expect(await again.ask(statusOf("plan A"))).toMatchObject({ row: { live: true } });
    expect(await delivered(again)).toMatchObject([
      { correction_id: first, status_digest: digest },
      { correction_id: second, status_digest: digest },
    ]);
  });

  it("X05: refuses a status that expects another row, repeats an equal one without a trace, and never goes back", async () => {
    const { worker } = scene;
    const ask = (lastAction: string, expect_seq?: number): Promise<Frame> =>
      worker.ask(statusOf(lastAction, expect_seq === undefined ? {} : { expect_seq }));
    const moved = await ask("c", 1);
    expect(moved).toMatchObject({ changed: true, row: { seq: 2, last_action: "c" } });
    const late = { type: "refusal", reason: "UNWITNESSED", detail: "SEQ" };
    expect(await ask("b", 1)).toMatchObject(late);
    expect(await ask("other", 3)).toMatchObject(late);
    expect(await ask("other", 0)).toMatchObject(late);
    const again = await ask("c");
    expect(again).toMatchObject({ changed: false, row: { seq: 2 }, status_digest: moved["status_digest"] });
    expect(await ask("c", 2)).toMatchObject({ changed: false, row: { seq: 2 } });
    expect(await scene.view()).toMatchObject({ status_digest: moved["status_digest"], row: { seq: 2 } });
    // Back to the first content is on to a third row.
    expect(await ask("plan A")).toMatchObject({ changed: true, row: { seq: 3 } });
    const seqs = (await scene.logged("status")).map((entry) => (entry["row"] as { seq: number }).seq);
    expect(seqs).toEqual([1, 2, 3]);
  });

  it("X07: lets only the newest of two sessions of a worker publish, receive or ack, and closes the older with 4409", async () => {
    const { broker, worker: older, digest } = scene;
    const id = await scene.admit("stay in lane");
    expect(ids(await delivered(older))).toEqual([id]);
    const newer = await broker.worker("W1");
    expect(await older.closed).toEqual(FENCED);
    expect(ids(await delivered(newer))).toEqual([id]);
    expect(await newer.ask({ type: "receive", correction_id: id })).toMatchObject({ stage: "DELIVERED" });
    expect(await newer.ask(ackOf(id, digest))).toMatchObject({ stage: "ACKED" });
    expect(await newer.ask(statusOf("plan B"))).toMatchObject({ changed: true, row: { seq: 2 } });
    // While a takeover is decided and not yet told, the older one still speaks: in vain.
    turns = 50;
    const { token } = await broker.running.addToken({ role: "worker", subject: "W1", issue: "**", lane: "**" });
    const newest = await broker.open(token);
    const hello = newest.ask({ type: "hello", role: "worker", worker_id: "W1" });
    await until(() => broker.running.broker.stats().waiting > 0);
    for (const frame of [statusOf("plan C"), { type: "bye" }]) newer.raw(JSON.stringify({ ...frame, id: "late" }));
    expect(await hello).toMatchObject({ type: "welcome" });
    expect(await newer.closed).toEqual(FENCED);
    expect(await scene.view()).toMatchObject({ liveness: "live", row: { seq: 2, last_action: "plan B" } });
    const by = (await scene.broker.entries()).filter(
      (entry) => entry["kind"] === "delivered" || entry["kind"] === "acked",
    );
    expect(by.map((entry) => entry["session"])).toEqual([newer.welcome["session"], newer.welcome["session"]]);
  });
});

describe("an order across a restart", () => {
  it("is that of admission, what was received and what was superseded before included", async () => {
    const kept = lasting();
    const before = await Scene.open({}, kept);
    const [first, old] = [await before.admit("first"), await before.admit("old")];
    await before.worker.ask({ type: "receive", correction_id: first });
    const fresh = await before.admit("new", { supersedes: old });
    const halt = await before.admit("stop", { priority: "halt" });
    const after = await before.restarted(kept);
    const late = { type: "refusal", reason: "UNWITNESSED", detail: "SEQ" };
    expect(await after.worker.ask(statusOf("plan B", { expect_seq: 1 }))).toMatchObject(late);
    expect(await after.worker.ask(statusOf("plan A", { expect_seq: 2 }))).toMatchObject({
      row: { seq: 3, live: true },
    });
    expect(ids(await delivered(after.worker))).toEqual([halt, first, fresh]);
    expect(await after.stage(old)).toBe("SUPERSEDED");
    await after.close();
  });
});

describe("law: within a priority, delivery keeps the order of admission", () => {
  const move = fc.oneof(
    { weight: 4, arbitrary: fc.constantFrom("normal", "halt") },
    { weight: 2, arbitrary: fc.constantFrom("inbox", "publish", "ack", "withdraw") },
    { weight: 1, arbitrary: fc.constant("takeover") },
  );

  it("to each session, whatever is admitted, ended, closed, moved or taken over meanwhile", async () => {
    const { broker, orchestrator } = scene;
    let run = 0;
    await fc.assert(
      fc.asyncProperty(fc.array(move, { minLength: 10, maxLength: 30 }), async (moves) => {
        const worker_id = `law-${(run += 1)}`;
        const issued = { role: "worker" as const, subject: worker_id, issue: "**", lane: "**" };
        const { token } = await broker.running.addToken(issued);
        const sessions = [await broker.worker(worker_id, {}, token)];
        let digest = digestIn(await (sessions[0] as Wire).ask(statusOf("begin")));
        let open = true;
        const admitted: { id: unknown; digest: string; halt: boolean }[] = [];
        for (const [at, one] of moves.entries()) {
          broker.clock.advance(100);
          const worker = sessions.at(-1) as Wire;
          const oldest = admitted[0];
          if (one === "normal" || one === "halt") {
            const sent = correctionOf(digest, `say ${at}`, { worker_id, priority: one });
            const receipt = await orchestrator.ask(sent);
            if (receipt["verdict"] === "ALLOW")
              admitted.push({ id: receipt["correction_id"], digest, halt: one === "halt" });
          } else if (one === "inbox") await worker.ask({ type: "inbox", open: (open = !open) });
          else if (one === "publish") digest = digestIn(await worker.ask(statusOf(`step ${at}`)));
          else if (one === "takeover") {
            open = true;
            sessions.push(await broker.worker(worker_id, {}, token));
          } else if (oldest !== undefined) {
            admitted.shift();
            if (one === "ack") await worker.ask(ackOf(oldest.id, oldest.digest));
            else await orchestrator.ask({ type: "withdraw", correction_id: oldest.id });
          }
        }
        const last = sessions.at(-1) as Wire;
        await last.ask({ type: "inbox", open: true });
        await last.barrier();
        for (const session of sessions) {
          const got = session.pushes.filter(({ type }) => type === "correction");
          const sent = got.map(({ correction }) => correction as { message: string; priority: string });
          for (const priority of ["normal", "halt"]) {
            const said = sent.filter((one) => one.priority === priority).map(({ message }) => Number(message.slice(4)));
            expect(said).toEqual(said.toSorted((a, b) => a - b));
            expect(new Set(said).size).toBe(said.length);
          }
          session.drop();
        }
        // Nothing that is open was left out.
        const given = new Set(ids(last.pushes.map(({ correction }) => (correction ?? {}) as Record<string, unknown>)));
        expect(admitted.filter(({ id }) => !given.has(id))).toEqual([]);
      }),
      { numRuns: 15 },
    );
  });

  it("from the SDK's take, at whatever moments it is called", async () => {
    const worker = await scene.sdkWorker();
    const moves = fc.array(fc.constantFrom("normal", "halt", "take"), { minLength: 4, maxLength: 12 });
    let told = 0;
    await fc.assert(
      fc.asyncProperty(moves, async (order) => {
        scene.broker.clock.advance(1_000);
        const waiting = { halt: [] as string[], normal: [] as string[] };
        const [got, wanted]: [unknown[], unknown[]] = [[], []];
        for (const one of [...order, "take"] as const) {
          if (one === "take") {
            await worker.status({ ...WHERE, last_action: "plan A" });
            const taken = await worker.take();
            const expected = [...waiting.halt.splice(0), ...waiting.normal.splice(0)];
            got.push(taken.map(({ message, backlog }) => [message, backlog]));
            wanted.push(expected.map((message, at) => [message, expected.length - at - 1]));
            for (const correction of taken) await correction.decline("not now");
          } else if (waiting.halt.length + waiting.normal.length < 8) {
            const text = `say ${(told += 1)}`;
            await scene.admit(text, { priority: one });
            waiting[one].push(text);
          }
        }
        expect(got).toEqual(wanted);
      }),
      { numRuns: 6 },
    );
  });
});

describe("law: of a worker's sessions only the newest counts", () => {
  it("under any takeover order, with all that the older ones still send", async () => {
    const { broker, orchestrator } = scene;
    const { token } = await broker.running.addToken({ role: "worker", subject: "W1", issue: "**", lane: "**" });
    turns = 50;
    let run = 0;
    // Each move is of one of four connections: first its hello, then rows that tell whose they are, and receipts.
    const moves = fc.array(fc.record({ who: fc.nat({ max: 3 }), receive: fc.boolean(), pause: fc.nat({ max: 3 }) }), {
      minLength: 4,
      maxLength: 16,
    });
    await fc.assert(
      fc.asyncProperty(moves, async (order) => {
        run += 1;
        const { row: before, status_digest } = await scene.view();
        const id = await scene.admit(`run ${run}`, { ttl_ms: 500 }, status_digest as string);
        const wires = await Promise.all([0, 1, 2, 3].map(() => broker.open(token)));
        const hellos = new Map<Wire, Promise<Frame>>();
        for (const [at, { who, receive, pause }] of order.entries()) {
          for (let left = pause; left > 0; left -= 1) await turn();
          const wire = wires[who] as Wire;
          if (!hellos.has(wire)) hellos.set(wire, wire.ask({ type: "hello", role: "worker", worker_id: "W1" }));
          else if (receive) void wire.ask({ type: "receive", correction_id: id });
          else void wire.ask(statusOf(`${run}/${who}/${at}`));
        }
        const authors = new Map<unknown, string>();
        for (const [wire, hello] of hellos) authors.set((await hello)["session"], String(wires.indexOf(wire)));

        const { entries, texts } = await wholeLog(scene);
        const opened = entries.filter(({ kind, worker_id }) => kind === "session_opened" && worker_id === "W1");
        const newest = wires[Number(authors.get(opened.at(-1)?.["session"]))] as Wire;
        const older = [...hellos.keys()].filter((wire) => wire !== newest);
        expect(await Promise.all(older.map((wire) => wire.closed))).toEqual(older.map(() => FENCED));
        expect(await newest.ask(statusOf(`${run} is over`))).toMatchObject({ type: "row", changed: true });

        let current: unknown;
        const strays: unknown[] = [];
        for (const [index, entry] of entries.entries()) {
          const { kind, worker_id, session } = entry;
          if (worker_id !== "W1") continue;
          if (kind === "session_opened") current = session;
          const [of, who] = kind === "status" ? (texts.get(index) ?? "").split("/") : [];
          const isOlder = of === String(run) && who !== undefined && who !== authors.get(current);
          if (isOlder || (kind === "delivered" && session !== current)) strays.push(entry);
        }
        expect(strays).toEqual([]);
        expect((await scene.view())["row"]).toMatchObject({ live: true, issue: (before as { issue: string }).issue });
        for (const wire of wires) wire.drop();
        await orchestrator.barrier();
        broker.clock.advance(1_000);
      }),
      { numRuns: 15 },
    );
  });
});

/** The whole log, with the `last_action` of each row that brought a new one. */
async function wholeLog({
  broker,
}: Scene): Promise<{ entries: Record<string, unknown>[]; texts: Map<number, string> }> {
  const auditor = await broker.auditor("with-texts", true);
  const entries: Record<string, unknown>[] = [];
  const texts = new Map<number, string>();
  for (;;) {
    const page = await auditor.ask({ type: "log", after: entries.length });
    const lines = page["entries"] as string[];
    if (lines.length === 0) break;
    entries.push(...lines.map((line) => JSON.parse(line) as Record<string, unknown>));
    for (const { index, field, utf8 } of (page["texts"] ?? []) as { index: number; field: string; utf8: string }[])
      if (field === "last_action") texts.set(index, utf8);
  }
  auditor.drop();
  return { entries, texts };
}
