import type { Chance } from "../../src/broker/index.js";
import { grantRequest } from "../../src/broker/index.js";
import { MemoryTokenHashes } from "../../src/broker/tokens.js";
import type { TextLine } from "../../src/kernel/index.js";
import { signerKey, type VerifierKey } from "../../src/tlog/index.js";
import { FakeClock } from "../support/fake-clock.js";
import { turn } from "../support/local.js";
import { randomFrom, type Random } from "../support/random.js";
import { SimDisk, type Fault } from "../support/sim-files.js";
import { Answers } from "./answers.js";
import { AuditorActor } from "./auditor-actor.js";
import { i14Bounded } from "./bounds.js";
import { i9Refused } from "./bit-rot.js";
import { BrokerProcess, ORIGIN, type BrokerEvents } from "./broker-process.js";
import type { Violation } from "./clauses.js";
import { HostileActor } from "./hostile-actor.js";
import { SignsOfLife } from "./leases.js";
import { i10SameState, i1Kept, Ledger } from "./ledger.js";
import { Network } from "./network.js";
import { OrchestratorActor } from "./orchestrator-actor.js";
import { Redactions } from "./redactions.js";
import { bytesFrom, type Surroundings } from "./surroundings.js";
import { verified } from "./verified.js";
import { WorkerActor } from "./worker-actor.js";

const EVERYWHERE = { worker: "**", issue: "**", lane: "**" };
const MOST_ROUNDS = 400;

/** Why a broker is not running: it was stopped, its process was killed, its machine lost power. */
export type Down = "stopped" | "killed" | "power";

/** A whole small world from one seed: a broker on its disk, a network, and everybody who uses it. */
export class World implements Surroundings {
  readonly clock = new FakeClock();
  readonly network = new Network();
  readonly ledger: Ledger;
  readonly answers: Answers;
  readonly redactions: Redactions;
  readonly random: Random;
  readonly signs = new SignsOfLife(() => this.clock.monotonic());
  readonly tokens = new Map<string, string>();
  readonly handed = new Set<string>();
  readonly figures = new Map<string, number>();
  readonly workers: WorkerActor[];
  readonly orchestrators: OrchestratorActor[];
  readonly auditor: AuditorActor;
  readonly hostiles: HostileActor[];
  readonly idKey: Uint8Array;
  readonly logKey: Uint8Array;
  readonly verifierKey: VerifierKey;
  readonly hashes = new MemoryTokenHashes();
  disk: SimDisk;
  process: BrokerProcess | undefined;
  down: Down | undefined = "stopped";
  violation: Violation | undefined;
  /** Whether writes and syncs wait for the schedule. */
  slowDisk = false;
  /** Whether frames are doubled on their way. */
  doubles = false;
  /** What is to happen to the disk while the next broker starts, and at which of its operations. */
  startFault: { fault: Fault; at: number } | undefined;
  /** The same for the next erasure, from where it begins. */
  erasureFault: { fault: Fault; at: number } | undefined;
  #faulty = false;
  /** Folded refusals before this life of the broker. */
  #folded = { answered: 0, counted: 0 };
  #stopping = false;

  constructor(seed: number) {
    this.random = randomFrom(seed);
    this.disk = new SimDisk(this.random(0x1_0000_0000));
    this.idKey = bytesFrom(this.random, 32);
    this.logKey = bytesFrom(this.random, 32);
    this.verifierKey = signerKey(ORIGIN, this.logKey);
    const violated = (violation: Violation): void => void (this.violation ??= violation);
    this.ledger = new Ledger(this.idKey, violated, (event) => this.signs.onEvent(event, this.report));
    this.answers = new Answers(this.ledger, this.idKey, this.report, (what) => this.count(what));
    this.redactions = new Redactions(this.ledger, this.report);
    this.workers = ["w-1", "w-2"].map((id) => new WorkerActor(id, this));
    this.orchestrators = ["o-1", "o-2"].map((subject) => new OrchestratorActor(subject, this));
    this.auditor = new AuditorActor("a-1", this);
    this.hostiles = [
      new HostileActor("worker", "w-3", this),
      new HostileActor("orchestrator", "o-3", this),
      new HostileActor("auditor", "a-2", this),
    ];
  }

  readonly report = (invariant: string, what: string): void => {
    this.violation ??= { invariant, what };
  };

  readonly count = (what: string, by = 1): void => {
    this.figures.set(what, (this.figures.get(what) ?? 0) + by);
  };

  /** Has the disk wait for the schedule, or do everything at once. */
  slowDown(slow: boolean): void {
    this.slowDisk = slow;
    this.process?.files.hold(slow);
  }

  /** The first start, tokens for everybody, and their first connections. */
  async begin(): Promise<void> {
    await this.start();
    for (const id of ["w-1", "w-2", "w-3"]) await this.grant(id);
    for (const id of ["o-1", "o-2", "o-3", "a-1", "a-2"]) await this.grant(id);
    for (const worker of this.workers) worker.start(this.random);
    for (const orchestrator of this.orchestrators) orchestrator.start();
    this.auditor.start();
    for (const hostile of this.hostiles) hostile.start(this.random);
    await this.settle();
  }

  /** Gives a subject a new token; the one before it holds on until it is revoked. */
  async grant(subject: string, fields: { lane?: string; expiresInMs?: number } = {}): Promise<void> {
    const id = Array.from({ length: 8 }, () => String.fromCharCode(97 + this.random(26))).join("");
    const token = `a2t_${id}_${bytesFrom(this.random, 32).toString("base64url")}`;
    this.tokens.set(subject, token);
    const role = subject.startsWith("w") ? "worker" : subject.startsWith("o") ? "orchestrator" : "auditor";
    const narrow = subject === "o-3" || subject === "w-3" ? { lane: "internal/*" } : {};
    const everywhere = role === "worker" ? { issue: "**", lane: "**" } : EVERYWHERE;
    const request = grantRequest(
      role === "auditor"
        ? { role, subject, text: subject === "a-1" }
        : { role, subject, ...everywhere, ...narrow, ...fields },
    );
    await this.process?.broker.adoptToken({ id, token }, request).catch(() => {});
  }

  /** Starts a broker on what the last one left on the disk. A disk that fails meanwhile leaves it down. */
  async start(): Promise<void> {
    if (this.process !== undefined) return;
    if (this.down === "power") this.disk = this.disk.crash(this.random(0x1_0000_0000));
    else if (this.down === "killed") this.disk = this.disk.survivor(this.random(0x1_0000_0000));
    this.down = "killed";
    this.#faulty = false;
    if (this.startFault !== undefined) this.#arm(this.startFault);
    this.startFault = undefined;
    if (this.random(6) === 0) await this.#rot();
    const chance: Chance = { bytes: (count) => bytesFrom(this.random, count) };
    // A folded refusal comes early, so that it comes at all.
    const limits = { refusal_burst: 6 };
    const options = { clock: this.clock, chance, hashes: this.hashes, idKey: this.idKey, logKey: this.logKey, limits };
    try {
      const process = await BrokerProcess.start(this.disk, options, this.#events());
      this.process = process;
      this.network.landing = process.edge;
      this.#stopping = false;
      process.files.hold(this.slowDisk);
      void process.broker.faulted.then((error) => this.#faulted(process, error));
      this.count("starts");
      await verified(this);
      if (process.journal.torn !== undefined) this.count("torn tails set aside");
    } catch (error) {
      if (!this.#faulty) this.report("I9", `the log is not taken up: ${String(error)}`);
      this.count("fault start cut short");
    }
  }

  #arm({ fault, at }: NonNullable<World["startFault"]>): void {
    Object.assign(this.disk, { fault, faultAt: this.disk.operations.length + at });
  }

  async #rot(): Promise<void> {
    this.count("fault bit rot");
    if (!(await i9Refused(this.disk, this.random, this.report))) this.count("nothing to rot");
  }

  #events(): BrokerEvents {
    return {
      accepted: (cable) => {
        cable.onLeave = (frame) => {
          this.answers.leaves(cable, frame);
          this.redactions.leaves(cable, frame);
        };
        this.answers.accepted(cable);
      },
      heard: (cable) => {
        const worker = this.answers.workerOf(cable);
        if (worker !== undefined) this.signs.heard(worker);
      },
      arrived: (cable, parsed) => {
        this.answers.asked(cable, parsed);
        this.redactions.asked(cable, parsed);
      },
      threw: (error) => this.report("I14", `a handler threw: ${(error as Error).stack}`),
      recovered: ({ entries, texts }) => {
        i1Kept(this.ledger, entries, this.report);
        const later = entries.slice(this.ledger.lines.length);
        if (later.length > 0) this.count("batches found that were not acknowledged");
        this.#take(later, texts);
        this.redactions.found(texts);
      },
      durable: ({ entries, texts }) => {
        this.count("batches");
        this.#take(entries, texts);
      },
      erasing: () => {
        if (this.process === undefined) this.count("erasures finished by a start");
        if (this.erasureFault === undefined) return;
        this.count("fault in an erasure");
        this.#arm(this.erasureFault);
        this.erasureFault = undefined;
      },
      diskFault: () => {
        this.#faulty = true;
        if (this.disk.fault === "power" || this.disk.fault === "kill")
          this.kill(this.disk.fault === "power" ? "power" : "killed");
      },
    };
  }

  #take(entries: readonly string[], texts: readonly TextLine[]): void {
    const known = this.ledger.lines.length;
    this.ledger.take(entries, texts);
    this.redactions.durable(texts.filter(({ index }) => index >= known));
  }

  // A broker whose store fails has closed everything and ends; one that fails without a cause is a fault of its own.
  #faulted(process: BrokerProcess, error: unknown): void {
    if (this.process !== process) return;
    if (!this.#faulty) this.report("I1", `the broker stopped by itself: ${(error as Error).stack}`);
    this.count("fault store failed");
    this.kill("killed");
  }

  /** The broker's process ends here and now. */
  kill(how: Down): void {
    const { process } = this;
    this.process = undefined;
    this.network.landing = undefined;
    this.down = how;
    process?.kill();
    this.#folded = { answered: this.answers.refusals.folded, counted: this.ledger.folded };
    for (const cable of this.network.cables) if (cable.terminal !== undefined) cable.unplug(how === "power");
  }

  /** The broker drains and stops. */
  stop(): void {
    const { process } = this;
    if (process === undefined || this.#stopping) return;
    this.#stopping = true;
    process.broker.stop().then(
      () => {
        if (this.process !== process) return;
        if (process.timers > 0) this.report("I14", `${process.timers} timers are left over`);
        this.#i11Folded();
        this.kill("stopped");
      },
      () => {
        if (this.process === process) this.kill("killed");
      },
    );
  }

  /** I11: what this life of the broker answered as folded is counted in its log, now that it has stopped. */
  #i11Folded(): void {
    const answered = this.answers.refusals.folded - this.#folded.answered;
    const counted = this.ledger.folded - this.#folded.counted;
    if (answered > counted) this.report("I11", `${answered} refusals were answered as folded, ${counted} are counted`);
  }

  /** Everything that is on its way arrives, in an order of the step's making. */
  async settle(random: Random = this.random): Promise<void> {
    for (let round = 0; round < MOST_ROUNDS; round += 1) {
      await turn();
      const busy = this.network.busy();
      const disk = this.process?.files.waiting.length ?? 0;
      if (busy.length + disk === 0) return;
      if (disk > 0 && random(busy.length + 1) === 0) this.process?.files.release(random(disk));
      else if (busy.length > 0)
        this.network.segment(busy[random(busy.length)] as (typeof busy)[number], 1 + random(4), random, this.doubles);
    }
  }

  /** Time passes, with all that it sets off; nothing arrives meanwhile. */
  async pass(ms: number): Promise<void> {
    const end = this.clock.monotonic() + ms;
    for (let left = ms; left > 0; left = end - this.clock.monotonic()) {
      this.clock.advance(Math.min(left, this.clock.untilNext ?? left));
      await turn();
    }
  }

  /** What is looked at between steps. */
  check(): void {
    const { broker } = this.process ?? {};
    if (broker === undefined || !broker.running) return;
    const held = [...this.network.cables].filter(({ terminal }) => terminal !== undefined).length;
    i14Bounded(broker, held, this.report);
    i10SameState(this.ledger, broker.state, this.report);
    this.signs.lapsed(this.ledger, broker, this.report);
  }
}
