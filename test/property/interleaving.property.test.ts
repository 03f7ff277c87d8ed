import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { statusDigest } from "../../src/protocol/index.js";
import { LocalBroker, turn, type LocalClient } from "../support/local.js";
import { SCOPE, correctionOf, statusOf } from "../support/scenes.js";
import { HeldStore } from "../support/stores.js";
import type { Frame } from "../support/wire.js";

/** One send, or one move of the store; the numbers pick who and what. */
type Move =
  | { kind: "status" | "reconnect"; worker: number }
  | { kind: "correct"; orch: number; worker: number; digest: number }
  | { kind: "resend"; sent: number }
  | { kind: "ack"; from: number; sent: number }
  | { kind: "acknowledge" | "turn" };

const WORKERS = ["w-1", "w-2", "w-3"];
const SENDERS = ["orch-1", "orch-2"];

const pick = fc.nat({ max: 1_000 });
const move: fc.Arbitrary<Move> = fc.oneof(
  { weight: 3, arbitrary: fc.record({ kind: fc.constant("status" as const), worker: pick }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("reconnect" as const), worker: pick }) },
  {
    weight: 5,
    // Mostly the digest of now or the one before it.
    arbitrary: fc.record({
      kind: fc.constant("correct" as const),
      orch: pick,
      worker: pick,
      digest: fc.oneof({ weight: 4, arbitrary: fc.constantFrom(0, 1) }, { weight: 1, arbitrary: pick }),
    }),
  },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant("resend" as const), sent: pick }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant("ack" as const), from: pick, sent: pick }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constantFrom("acknowledge" as const, "turn" as const) }) },
);

/** A correction as it was sent, and what must come of it: judged from the order of the sends alone. */
interface Sent {
  orch: number;
  worker: number;
  frame: Frame;
  allowed: boolean;
  /** Ids of its requests, the resends included. */
  asked: string[];
  acked: boolean;
}

/** Plays a schedule against a broker, beside a model that knows only the order of the sends. */
class Play {
  readonly sent: Sent[] = [];
  readonly sessions: LocalClient[][] = [];
  readonly digests: string[][] = [];
  readonly #local: LocalBroker;
  readonly #store: HeldStore;
  readonly #tokens: string[] = [];
  readonly orchs: LocalClient[] = [];

  constructor(local: LocalBroker, store: HeldStore) {
    this.#local = local;
    this.#store = store;
  }

  async start(): Promise<void> {
    for (const [at, id] of WORKERS.entries()) {
      this.#tokens.push(await this.#local.workerToken(id));
      this.sessions.push([]);
      this.digests.push([]);
      this.#connect(at);
      this.#status(at);
    }
    for (const id of SENDERS) this.orchs.push(await this.#local.orchestrator(id));
    this.#store.hold();
  }

  /** Sends are not awaited: many may come in one turn, as they do from one read of a socket. */
  step(next: Move): Promise<void> | undefined {
    // Below the rates of admissions and digests, and far below the lease.
    this.#local.clock.advance(100);
    switch (next.kind) {
      case "status":
        this.#status(next.worker % WORKERS.length);
        return undefined;
      case "reconnect":
        this.#connect(next.worker % WORKERS.length);
        return undefined;
      case "correct":
        this.#correct(next.orch % SENDERS.length, next.worker % WORKERS.length, next.digest);
        return undefined;
      case "resend":
        this.#resend(next.sent);
        return undefined;
      case "ack":
        this.#ack(next.from, next.sent);
        return undefined;
      case "acknowledge":
        this.#store.release(1);
        return turn();
      case "turn":
        return turn();
    }
  }

  async end(): Promise<void> {
    this.#store.release();
    await turn();
    await turn();
  }

  #connect(worker: number): void {
    const client = this.#local.client();
    client.tell({ type: "hello", token: this.#tokens[worker], role: "worker", worker_id: WORKERS[worker] });
    this.sessions[worker]?.push(client);
  }

  #status(worker: number): void {
    const digests = this.digests[worker] as string[];
    const lastAction = `step ${digests.length + 1}`;
    this.sessions[worker]?.at(-1)?.tell(statusOf(lastAction));
    const row = { worker_id: WORKERS[worker] as string, ...SCOPE, live: true, seq: digests.length + 1 };
    digests.push(statusDigest({ schema: "a2achan.worker-status.v1", ...row, last_action: lastAction }));
  }

  #correct(orch: number, worker: number, back: number): void {
    const digests = this.digests[worker] as string[];
    const at = Math.max(0, digests.length - 1 - back);
    const frame = correctionOf(WORKERS[worker] as string, digests[at], "Stay.", { key: `k${this.sent.length}` });
    const asked = [this.orchs[orch]?.tell(frame) as string];
    this.sent.push({ orch, worker, frame, allowed: at === digests.length - 1, asked, acked: false });
  }

  #resend(which: number): void {
    const sent = this.sent[which % Math.max(1, this.sent.length)];
    if (sent === undefined) return;
    sent.asked.push(this.orchs[sent.orch]?.tell(sent.frame) as string);
  }

  /** An ack by any session there ever was of any worker, or by an orchestrator. */
  #ack(from: number, which: number): void {
    const sent = this.sent[which % Math.max(1, this.sent.length)];
    const everybody = [...this.sessions.flat(), ...this.orchs];
    const client = everybody[from % everybody.length] as LocalClient;
    const correction_id = sent && this.#idOf(sent);
    if (sent === undefined || correction_id === undefined) return;
    client.tell({ type: "ack", correction_id, status_digest: sent.frame["status_digest"] });
    if (client === this.sessions[sent.worker]?.at(-1)) sent.acked = true;
  }

  #idOf(sent: Sent): unknown {
    return this.orchs[sent.orch]?.reply(sent.asked[0] as string)?.["correction_id"];
  }

  receipts(sent: Sent): Frame[] {
    return sent.asked.map((id) => this.orchs[sent.orch]?.reply(id) as Frame);
  }
}

async function play(moves: readonly Move[]): Promise<Play> {
  const store = new HeldStore();
  const local = await LocalBroker.open({ store, limits: { open_per_worker: 1_000 } });
  const played = new Play(local, store);
  await played.start();
  for (const next of moves) {
    const waits = played.step(next);
    if (waits !== undefined) await waits;
  }
  await played.end();
  await local.stop();
  return played;
}

const idsPushed = (client: LocalClient): string[] =>
  client.pushes("correction").map(({ correction }) => (correction as { correction_id: string }).correction_id);

describe("under any interleaving of sends and acknowledgements of the store", () => {
  const schedule = fc.array(move, { minLength: 1, maxLength: 60 });

  it("a status sent before a correction that cites the older digest wins [A2C-ADM-12] [A2C-ADM-06]", async () => {
    await fc.assert(
      fc.asyncProperty(schedule, async (moves) => {
        const played = await play(moves);
        for (const sent of played.sent) {
          const [first] = played.receipts(sent);
          const stale = { type: "receipt", verdict: "DENY", reason: "UNWITNESSED", detail: "DIGEST" };
          expect(first).toMatchObject(sent.allowed ? { type: "receipt", verdict: "ALLOW", stage: "ADMITTED" } : stale);
        }
      }),
    );
  });

  it("a resend is the same correction, and answered with its admission [A2C-ADM-04] [A2C-ADM-29]", async () => {
    await fc.assert(
      fc.asyncProperty(schedule, async (moves) => {
        const played = await play(moves);
        for (const sent of played.sent.filter(({ allowed }) => allowed)) {
          const [first, ...resends] = played.receipts(sent);
          for (const again of resends) {
            expect(again).toMatchObject({ verdict: "ALLOW", replayed: true, correction_id: first?.["correction_id"] });
          }
        }
        const ids = played.sent.flatMap((sent) => (sent.allowed ? [played.receipts(sent)[0]?.["correction_id"]] : []));
        expect(new Set(ids).size).toBe(ids.length);
      }),
    );
  });

  it("what was admitted is what is delivered, once a session and in order [A2C-LIFE-08] [A2C-LIFE-09]", async () => {
    await fc.assert(
      fc.asyncProperty(schedule, async (moves) => {
        const played = await play(moves);
        for (const [worker, sessions] of played.sessions.entries()) {
          const admitted = played.sent.filter((sent) => sent.allowed && sent.worker === worker);
          const ids = admitted.map((sent) => played.receipts(sent)[0]?.["correction_id"]);
          const pushed = sessions.map(idsPushed);
          for (const of of pushed) expect(of).toEqual(ids.filter((id) => of.includes(id as string)));
          expect(new Set(pushed.flat())).toEqual(new Set(ids));
          const unacked = ids.filter((_, at) => admitted[at]?.acked === false);
          expect(pushed.at(-1)).toEqual(expect.arrayContaining(unacked));
        }
      }),
    );
  });

  it("an ack from anyone but the addressed worker's current session changes nothing [A2C-REF-10]", async () => {
    await fc.assert(
      fc.asyncProperty(schedule, async (moves) => {
        const played = await play(moves);
        for (const sent of played.sent.filter(({ allowed }) => allowed)) {
          const id = played.receipts(sent)[0]?.["correction_id"];
          const stages = played.orchs[sent.orch]?.pushes("stage").filter(({ correction_id }) => correction_id === id);
          expect(stages?.map(({ stage }) => stage)).toEqual(sent.acked ? ["DELIVERED", "ACKED"] : []);
        }
      }),
    );
  });
});
