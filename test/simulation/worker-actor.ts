import type { Correction } from "../../src/client/correction.js";
import { isRefused } from "../../src/client/refusals.js";
import { openWorker, type Worker } from "../../src/client/worker.js";
import { holds } from "../support/log-book.js";
import type { Random } from "../support/random.js";
import { ClientProcess, ISSUES, LANES, pick, rarely, URL, type Surroundings } from "./surroundings.js";

/** An honest worker: one process at a time, or two for a moment, each a real SDK worker. */
export class WorkerActor {
  readonly id: string;
  readonly #world: Surroundings;
  #run: Run | undefined;
  #runs = 0;

  constructor(id: string, world: Surroundings) {
    this.id = id;
    this.#world = world;
  }

  get processes(): ClientProcess[] {
    return this.#run === undefined ? [] : [this.#run.process];
  }

  /** Does one thing that a worker does; says what. */
  act(random: Random): string {
    if (this.#run === undefined || this.#run.over) return this.start(random);
    if (rarely(random, 4)) return this.#crash(random);
    return `${this.id} ${this.#run.act(random)}`;
  }

  /** I7: a worker that stays comes back by itself after whatever happened, and its row is live. */
  i7Live(): void {
    const row = this.#world.ledger.book.worker(this.id).row;
    if (this.#run?.stays === true && row?.live !== true)
      this.#world.report("I7", `${this.id} is there, and its row is not live`);
  }

  /** I7: what waits for a worker that is connected, live, granted, and has its inbox open is received. */
  i7Received(): void {
    const { clock, ledger } = this.#world;
    const { book, state } = ledger;
    if (this.#run?.takes !== true || book.worker(this.id).row?.live !== true) return;
    // A clock that jumped may be past the end of a token whose connection still stands.
    const grant = book.grants.get(this.#run.tokenId);
    if (grant === undefined || !holds(grant, "receive", Math.max(state.at, clock.now()))) return;
    for (const { id, stage } of book.open(this.id))
      if (stage === "ADMITTED") this.#world.report("I7", `${id} waits, and ${this.id} is there and takes what comes`);
  }

  /** Opens its inbox, so that what waits for it comes. */
  opens(): void {
    this.#run?.opens();
  }

  start(random: Random): string {
    this.#runs += 1;
    this.#run = new Run(this.#world, this.id, `${this.id}.${this.#runs}`, random);
    return `${this.id} starts process ${this.#runs}`;
  }

  #crash(random: Random): string {
    const takeover = rarely(random, 40);
    // A process that hangs on beside its successor is fenced by it.
    if (!takeover) this.#run?.process.kill(rarely(random, 40));
    this.#world.count(takeover ? "fault takeover" : "fault client crash");
    return `${takeover ? "a second process of" : "after a crash,"} ${this.start(random)}`;
  }
}

/** One life of an SDK worker and of the application on top of it. */
class Run {
  readonly process: ClientProcess;
  readonly tokenId: string;
  over = false;
  /** It reads its corrections, so that it knows when its connection ends for good. */
  readonly #streams: boolean;
  #published = false;
  #inbox: boolean;
  /** How often it was asked to open or to close. */
  #asks = 0;
  readonly #world: Surroundings;
  readonly #id: string;
  readonly #mine = new Set<string>();
  #worker: Worker | undefined;
  #got: Correction[] = [];
  #acked: string[] = [];
  #actions = 0;

  constructor(world: Surroundings, id: string, name: string, random: Random) {
    this.#world = world;
    this.#id = id;
    this.process = new ClientProcess(world, name);
    this.#streams = rarely(random, 80);
    const token = world.tokens.get(id) ?? "";
    this.tokenId = token.split("_")[1] ?? "";
    const options = { url: URL, token, workerId: id };
    const leaseMs = pick(random, [45_000, 60_000, 90_000]);
    this.#inbox = !rarely(random, 10);
    openWorker({ ...options, leaseMs, inbox: this.#inbox }, this.process.runtime).then(
      (worker) => {
        this.#worker = worker;
        if (this.#streams) void this.#consume(worker);
      },
      () => (this.over = true),
    );
  }

  /** Whether it is connected, or about to be again, and has a row of its own. */
  get stays(): boolean {
    return this.#streams && this.#published && !this.over;
  }

  /** Whether it receives whatever is pushed to it. */
  get takes(): boolean {
    return this.stays && this.#inbox;
  }

  act(random: Random): string {
    const worker = this.#worker;
    if (worker === undefined) return "waits for its connection";
    const what = random(100);
    if (this.#actions === 0 || what < 16) return this.#publish(worker, random);
    if (what < 70 && this.#got.length > 0) return this.#decide(random);
    if (what < 78) return this.#plan(worker, random);
    if (what < 92) {
      this.#settled(worker.take().then((taken) => taken.forEach((one) => this.#take(one))));
      return "takes what waits";
    }
    if (what < 97) {
      const open = !rarely(random, 30);
      this.#setInbox(worker, open);
      return open ? "opens its inbox" : "closes its inbox";
    }
    if (what === 97) {
      this.over = true;
      this.#settled(worker.bye("completed"));
      return "says bye";
    }
    if (what === 98) {
      this.over = true;
      this.#settled(worker.close());
      return "closes";
    }
    return this.#publish(worker, random);
  }

  /** Opens its inbox, if it can. */
  opens(): void {
    if (this.#worker !== undefined && !this.over) this.#setInbox(this.#worker, true);
  }

  // It is known to be open once that is answered: until then the connection may be a broken one.
  #setInbox(worker: Worker, open: boolean): void {
    const ask = (this.#asks += 1);
    this.#inbox &&= open;
    this.#settled(
      worker.inbox(open).then((refused) => {
        if (refused === undefined && ask === this.#asks) this.#inbox = open;
      }),
    );
  }

  #publish(worker: Worker, random: Random): string {
    this.#actions += 1;
    const moves = rarely(random, 20);
    const fields = {
      issue: moves ? pick(random, ISSUES) : "2162",
      lane: moves ? pick(random, LANES) : "internal/a2achan",
      ...(rarely(random, 10) && { task_id: "t-1" }),
      ...(rarely(random, 85) && { last_action: `step ${random(5)}` }),
      ...(rarely(random, 30) && { next_action: { summary: `go on ${random(3)}`, reflects: this.#some(random) } }),
    };
    this.#settled(
      worker.status(fields).then((answer) => {
        if (!isRefused(answer)) this.#published = true;
      }),
    );
    return "publishes";
  }

  #plan(worker: Worker, random: Random): string {
    this.#settled(worker.plan(`plan ${random(4)}`, { reflects: this.#some(random), via: "plan" }));
    return "plans";
  }

  #some(random: Random): string[] {
    const named = this.#acked.filter(() => rarely(random, 70)).slice(-9);
    this.#acked = [];
    return named;
  }

  #decide(random: Random): string {
    const [correction] = this.#got.splice(random(this.#got.length), 1);
    if (correction === undefined) return "has nothing to decide";
    const id = correction.correction_id;
    const what = random(10);
    if (what === 0) return "lets a correction lie";
    if (what === 1) {
      this.#settled(correction.decline("the file is generated"));
      return "declines";
    }
    if (what < 4) {
      this.#acked.push(id);
      this.#settled(correction.ack());
      return "acks";
    }
    const reflects = what === 4 ? [] : [id];
    this.#settled(correction.ack({ next_action: { summary: `take up ${random(3)}`, reflects } }));
    if (what === 5) this.#settled(correction.ack());
    return "acks with a plan";
  }

  async #consume(worker: Worker): Promise<void> {
    try {
      for await (const correction of worker.corrections()) this.#take(correction);
    } catch {
      // It has ended, whatever it was.
    }
    this.over = true;
  }

  /** I5, I12: the application is handed what was received for it, and never twice. */
  #take(correction: Correction): void {
    const { correction_id: id, redelivered, attempt } = correction;
    const { handed, ledger, report, count } = this.#world;
    count("handed to an application");
    if (this.#mine.has(id)) report("I5", `${id} is handed out twice by one process of ${this.#id}`);
    if (handed.has(`${id} ${attempt}`)) report("I5", `attempt ${attempt} of ${id} is handed out by two processes`);
    if (redelivered) count("redelivered");
    const booked = ledger.book.corrections.get(id);
    if (booked?.workerId !== this.#id) report("I12", `${id} is handed to ${this.#id}`);
    else if (booked.sessions.length === 0) report("I12", `${id} is handed out before its receipt`);
    else if (booked.content.message.text !== correction.message) report("I13", `${id} is handed out with another text`);
    this.#mine.add(id);
    handed.add(`${id} ${attempt}`);
    this.#got.push(correction);
  }

  // Whether a call fails is not what is looked at here: what it did is in the log.
  #settled(call: Promise<unknown>): void {
    call.catch((error: unknown) => {
      const { code } = error as { code?: string };
      if (code === "fenced" || code === "unauthenticated" || code === "role_not_granted") this.over = true;
      this.#world.count(`call ${code ?? String(error)}`);
    });
  }
}
