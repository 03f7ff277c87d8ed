import fc from "fast-check";
import { MemoryTokenHashes } from "../../../../src/broker/tokens.js";
import { MemoryStore } from "../../../../src/index.js";
import { TestBroker } from "../../../support/broker.js";
import { FakeClock } from "../../../support/fake-clock.js";
import { correctionOf, statusOf } from "../../../support/scenes.js";
import { Wire, type Frame } from "../../../support/wire.js";
import type { Entry } from "./log.js";
import { ack, receive, stagePushes } from "./talk.js";

export const SENDERS = ["lead", "other"] as const;
export type Sender = (typeof SENDERS)[number];

/** One thing that somebody does. `which` and `named` point at corrections that were admitted before. */
export type Move =
  | { act: "correct"; sender: Sender; fields: Record<string, unknown>; supersedes?: number }
  | { act: "resend"; which: number; times: number }
  | { act: "withdraw" | "receive" | "ack" | "decline"; which: number }
  | { act: "ack_plan"; which: number; named: number[] }
  | { act: "plan"; named: number[] }
  | { act: "inbox"; open: boolean }
  | { act: "pass"; ms: number }
  | { act: "renew_token"; sender: Sender }
  | { act: "report" | "move" | "takeover" | "away" | "bye" | "restart" };

const which = fc.nat({ max: 9 });
const named = fc.array(which, { maxLength: 3 });
const sender = fc.constantFrom(...SENDERS);
const fields = fc.record(
  {
    ttl_ms: fc.constantFrom(2_000, 30_000),
    priority: fc.constant("halt"),
    freshness: fc.constant("exact"),
  },
  { requiredKeys: ["ttl_ms"] },
);
const correct = fc.record({ act: fc.constant("correct" as const), sender, fields });
const supersede = fc.record({ act: fc.constant("correct" as const), sender, fields, supersedes: which });
const resend = fc.record({ act: fc.constant("resend" as const), which, times: fc.integer({ min: 1, max: 3 }) });
const about = fc.record({ act: fc.constantFrom("withdraw", "receive", "ack", "decline"), which });
const judged = fc.oneof(
  fc.record({ act: fc.constant("ack_plan" as const), which, named }),
  fc.record({ act: fc.constant("plan" as const), named }),
);
const around = fc.oneof(
  fc.record({ act: fc.constant("inbox" as const), open: fc.boolean() }),
  fc.record({ act: fc.constant("pass" as const), ms: fc.constantFrom(500, 5_000, 20_000) }),
  fc.record({ act: fc.constant("renew_token" as const), sender }),
  fc.record({ act: fc.constantFrom("report", "move", "takeover", "away", "bye", "restart") }),
);

/** What people do to one worker's corrections, in any order: the quick and the slow, the careless and the unlucky. */
export const anyMoves = fc.array(
  fc.oneof(
    { weight: 6, arbitrary: correct },
    { weight: 1, arbitrary: supersede },
    { weight: 3, arbitrary: resend },
    { weight: 6, arbitrary: about },
    { weight: 3, arbitrary: judged },
    { weight: 4, arbitrary: around },
  ),
  { minLength: 8, maxLength: 30 },
) as fc.Arbitrary<Move[]>;

interface View {
  row: unknown;
  status_digest: unknown;
  liveness: unknown;
  inbox: unknown;
  pending: unknown;
  lease_ms: unknown;
}

/** The view that a frame shows, without what makes it a frame. */
function viewIn(frame: object | undefined): View | undefined {
  if (frame === undefined || !("row" in frame)) return undefined;
  const { row, status_digest, liveness, inbox, pending, lease_ms } = frame as View;
  return { row, status_digest, liveness, inbox, pending, lease_ms };
}

/** A sender's sessions: two ask; the third only listens, and resumes where it broke off. */
interface Side {
  token: { id: string; token: string };
  asking: [Wire, Wire];
  listening: Wire & { welcome: Frame };
  heard: Frame[];
  /** Where its first session began. */
  begin: unknown;
  /** What its watch showed first. */
  snapshot: Frame;
}

/** A correction as it was sent, once or more often, and the receipts in the order in which they came. */
interface Sent {
  frame: Frame;
  sender: Sender;
  receipts: Frame[];
}

/** What outlives a broker. */
interface Kept {
  clock: FakeClock;
  store: MemoryStore;
  idKey: Uint8Array;
  logKey: Uint8Array;
  hashes: MemoryTokenHashes;
  limits: { frames_per_second: number; frames_burst: number };
}

/** A worker and two senders on a broker that is restarted on its log, doing what the moves say. */
export class Traffic {
  /** The corrections that were answered ALLOW, in that order. */
  readonly admitted: { id: string; sender: Sender; digest: string }[] = [];
  readonly sent: Sent[] = [];
  /** Every session that the worker had. */
  readonly workers: Wire[] = [];
  readonly #kept: Kept;
  readonly #sides = new Map<Sender, Side>();
  readonly #workerToken: string;
  #broker: TestBroker;
  #worker: Wire;
  #lane = "src/parser";
  #count = 0;

  private constructor(kept: Kept, broker: TestBroker, workerToken: string, worker: Wire) {
    this.#kept = kept;
    this.#broker = broker;
    this.#workerToken = workerToken;
    this.#worker = worker;
    this.workers.push(worker);
  }

  /** Does each move in turn, then judges: what is refused or comes too late is refused or comes too late. */
  static async judge(moves: readonly Move[], judge: (traffic: Traffic) => Promise<void>): Promise<void> {
    const traffic = await Traffic.#start();
    try {
      for (const move of moves) await traffic.#do(move);
      await judge(traffic);
    } finally {
      traffic.#leave();
      await traffic.#broker.stop();
    }
  }

  /** Lets every window close, that of an ack of the last moment included. */
  settle(): Promise<void> {
    return this.#pass(65_000);
  }

  /** The worker's connection breaks, and the broker has noticed. */
  async leave(): Promise<void> {
    this.#worker.drop();
    const [asking] = this.#side("lead").asking;
    while ((await asking.ask({ type: "get", worker_id: "w-1" }))["liveness"] === "live");
  }

  /** The entries of the log, as an auditor reads them. */
  entries(): Promise<Entry[]> {
    return this.#broker.entries();
  }

  /** Every stage push that a sender was sent, across its sessions, restarts and tokens. */
  async heard(sender: Sender): Promise<Frame[]> {
    const { listening, heard } = this.#side(sender);
    await listening.barrier();
    return [...heard, ...stagePushes(listening)];
  }

  /** The cursors that a sender was ever given: that of its first welcome, and one with each stage. */
  async cursors(sender: Sender): Promise<unknown[]> {
    return [this.#side(sender).begin, ...(await this.heard(sender)).map(({ cursor }) => cursor)];
  }

  /** The worker as the sender's watch showed it last, and as it is read now. */
  async views(sender: Sender): Promise<{ watched: View | undefined; read: View | undefined }> {
    const { asking, listening, snapshot } = this.#side(sender);
    const read = viewIn(await asking[0].ask({ type: "get", worker_id: "w-1" }));
    await listening.barrier();
    const last = listening.pushes.findLast(({ type }) => type === "row");
    return { watched: viewIn(last ?? (snapshot["rows"] as object[])[0]), read };
  }

  /** A session of the sender that resumes from a cursor, and what it was pushed. */
  async resumed(sender: Sender, cursor: unknown): Promise<{ welcome: Frame; pushes: Frame[] }> {
    const wire = await this.#hello(this.#side(sender).token.token, { resume_from: cursor });
    const last = (await this.heard(sender)).at(-1)?.["cursor"];
    // A resume is not ordered against replies, so its last push is waited for.
    if (last !== undefined && last !== cursor) wire.pushes.push(await wire.push((push) => push["cursor"] === last));
    wire.drop();
    return { welcome: wire.welcome, pushes: stagePushes(wire) };
  }

  static async #start(): Promise<Traffic> {
    const kept = {
      clock: new FakeClock(),
      store: new MemoryStore(),
      idKey: new Uint8Array(32).fill(1),
      logKey: new Uint8Array(32).fill(2),
      hashes: new MemoryTokenHashes(),
      limits: { frames_per_second: 10_000, frames_burst: 10_000 },
    };
    const broker = await TestBroker.start(kept);
    const { token } = await broker.running.addToken({ role: "worker", subject: "w-1", issue: "**", lane: "**" });
    const traffic = new Traffic(kept, broker, token, await broker.worker("w-1", {}, token));
    for (const sender of SENDERS) await traffic.#seat(sender);
    await traffic.#status({});
    return traffic;
  }

  async #do(move: Move): Promise<void> {
    switch (move.act) {
      case "correct":
        return this.#correct(move);
      case "withdraw": {
        const picked = this.#pick(move.which);
        const sender = picked?.sender ?? "lead";
        if (picked !== undefined)
          await this.#side(sender).asking[0].ask({ type: "withdraw", correction_id: picked.id });
        return;
      }
      case "resend": {
        const again = this.sent[move.which % this.sent.length];
        return again === undefined ? undefined : this.#send(again, move.times);
      }
      case "receive":
      case "ack":
      case "ack_plan":
      case "decline":
        return this.#answer(move);
      case "plan":
        return this.#status({ next_action: this.#plan(move.named) });
      case "report":
        return this.#status({});
      case "move":
        this.#lane = this.#lane === "docs" ? "src/parser" : "docs";
        return this.#status({});
      case "inbox":
        return void (await this.#worker.ask({ type: "inbox", open: move.open }));
      case "takeover":
        return this.#work();
      case "away":
        this.#worker.drop();
        await this.#pass(61_000);
        return this.#work();
      case "bye":
        await this.#worker.ask({ type: "bye" });
        return this.#work();
      case "pass":
        return this.#pass(move.ms);
      case "renew_token":
        return this.#renewToken(move.sender);
      case "restart":
        return this.#restart();
    }
  }

  async #correct({ sender, fields, supersedes }: Move & { act: "correct" }): Promise<void> {
    const [asking] = this.#side(sender).asking;
    const { row, status_digest } = await asking.ask({ type: "get", worker_id: "w-1" });
    const { lane } = row as { lane: string };
    const old = supersedes === undefined ? undefined : this.#pick(supersedes);
    const naming = old === undefined ? {} : { supersedes: old.id };
    const message = `correction ${(this.#count += 1)}`;
    const frame = correctionOf("w-1", status_digest, message, { lane, ...fields, ...naming });
    const sent = { frame, sender, receipts: [] };
    this.sent.push(sent);
    await this.#send(sent, 1);
  }

  /** Sends the same correction so many times at once, over both sessions. */
  async #send(sent: Sent, times: number): Promise<void> {
    const { frame, sender, receipts } = sent;
    const hear = (receipt: Frame): void => {
      receipts.push(receipt);
      if (receipt["verdict"] !== "ALLOW" || receipt["replayed"] === true) return;
      this.admitted.push({
        id: String(receipt["correction_id"]),
        sender,
        digest: String(frame["status_digest"]),
      });
    };
    const { asking } = this.#side(sender);
    const wires = Array.from({ length: times }, (_, at) => asking[at % 2] as Wire);
    await Promise.all(wires.map((wire) => wire.ask(frame).then(hear)));
  }

  async #answer(move: Move & { which: number }): Promise<void> {
    const picked = this.#pick(move.which);
    if (picked === undefined) return;
    const { id, digest } = picked;
    if (move.act === "receive") await this.#worker.ask(receive(id));
    else if (move.act === "ack") await this.#worker.ask(ack(id, digest));
    else if (move.act === "ack_plan") await this.#worker.ask(ack(id, digest, this.#plan(move.named)));
    else await this.#worker.ask({ type: "decline", correction_id: id, status_digest: digest, reason: "Not mine." });
  }

  #plan(named: readonly number[]): { summary: string; reflects: string[] } {
    const ids = named.flatMap((at) => this.#pick(at)?.id ?? []);
    return { summary: `plan ${(this.#count += 1)}`, reflects: [...new Set(ids)] };
  }

  async #status(fields: Record<string, unknown>): Promise<void> {
    await this.#worker.ask(statusOf(`report ${(this.#count += 1)}`, { lane: this.#lane, ...fields }));
  }

  async #work(): Promise<void> {
    this.#worker = await this.#broker.worker("w-1", {}, this.#workerToken);
    this.workers.push(this.#worker);
  }

  async #pass(ms: number): Promise<void> {
    const wires = [...this.#sides.values()].flatMap(({ asking, listening }) => [...asking, listening]);
    await this.#broker.advance(ms, ...wires);
  }

  async #renewToken(sender: Sender): Promise<void> {
    const side = this.#side(sender);
    await this.#broker.running.broker.revokeToken(side.token.id);
    await Promise.all([...side.asking, side.listening].map(({ closed }) => closed));
    await this.#seat(sender);
  }

  async #restart(): Promise<void> {
    this.#leave();
    await this.#broker.stop();
    this.#broker = await TestBroker.start(this.#kept);
    for (const sender of SENDERS) await this.#sit(sender, this.#side(sender).token);
    await this.#work();
  }

  async #seat(sender: Sender): Promise<void> {
    const everywhere = { worker: "**", issue: "**", lane: "**" };
    await this.#sit(
      sender,
      await this.#broker.running.addToken({ role: "orchestrator", subject: sender, ...everywhere }),
    );
  }

  async #sit(sender: Sender, token: Side["token"]): Promise<void> {
    const before = this.#sides.get(sender);
    const heard = before === undefined ? [] : [...before.heard, ...stagePushes(before.listening)];
    const cursor = heard.at(-1)?.["cursor"] ?? before?.begin;
    const listening = await this.#hello(token.token, cursor === undefined ? {} : { resume_from: cursor });
    const begin = before?.begin ?? listening.welcome["cursor"];
    const snapshot = await listening.ask({ type: "watch" });
    const asking: Side["asking"] = [await this.#hello(token.token, {}), await this.#hello(token.token, {})];
    this.#sides.set(sender, { token, asking, listening, heard, begin, snapshot });
  }

  #hello(token: string, fields: Record<string, unknown>): Promise<Wire & { welcome: Frame }> {
    return Wire.hello(this.#broker.url, token, { role: "orchestrator", ...fields });
  }

  #leave(): void {
    for (const { asking, listening } of this.#sides.values()) {
      for (const wire of [...asking, listening]) wire.drop();
    }
  }

  #side(sender: Sender): Side {
    const side = this.#sides.get(sender);
    if (side === undefined) throw new Error(`${sender} has no session`);
    return side;
  }

  #pick(at: number): { id: string; sender: Sender; digest: string } | undefined {
    return this.admitted.length === 0 ? undefined : this.admitted[at % this.admitted.length];
  }
}
