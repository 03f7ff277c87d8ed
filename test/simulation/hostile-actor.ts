import type { Random } from "../support/random.js";
import type { Cable } from "./cable.js";
import { pick, rarely, type Surroundings } from "./surroundings.js";

type Frame = Record<string, unknown>;

const FAKE = `corr_${"0".repeat(32)}`;
const STALE = `sha256:${"0".repeat(64)}`;
const SCOPE = { issue: "2162", lane: "internal/a2achan" };
const GARBAGE = [
  "{",
  "[]",
  '{"type":"status","type":"bye","id":"1"}',
  '{"type":"nonsense","id":"1"}',
  '{"type":"status","id":""}',
  `${"[".repeat(200)}`,
  "\u0000",
];

/** A client that holds a valid token and keeps no rule: it knows everything, and claims whatever it likes. */
export class HostileActor {
  readonly role: "worker" | "orchestrator" | "auditor";
  readonly subject: string;
  readonly #world: Surroundings;
  readonly #sent: Frame[] = [];
  #cable: Cable | undefined;
  #older: Cable | undefined;
  #welcomed = false;
  #asked = 0;
  #starts = 0;

  constructor(role: "worker" | "orchestrator" | "auditor", subject: string, world: Surroundings) {
    this.role = role;
    this.subject = subject;
    this.#world = world;
  }

  act(random: Random): string {
    if (this.#cable?.held !== true) return this.start(random);
    if (rarely(random, 10)) {
      // The connection before it goes on, as if nobody had come after it.
      this.#older = this.#cable;
      return `${this.subject}, once more, ${this.start(random)}`;
    }
    if (!this.#welcomed) return `${this.subject} waits for its welcome`;
    if (rarely(random, 3)) {
      this.#cable.cut(true, rarely(random, 50));
      return `${this.subject} drops its connection`;
    }
    if (rarely(random, 3)) {
      this.#cable.raw(Buffer.from(pick(random, GARBAGE)), rarely(random, 10));
      return `${this.subject} sends garbage`;
    }
    if (this.role === "orchestrator" && rarely(random, 5)) {
      const frame = this.#correct(random, 90);
      for (let key = 0; key < 12; key += 1)
        this.#send({ ...frame, key: `f${this.#asked}`, ...(key > 8 && { priority: "halt" }) });
      return `${this.subject} floods an inbox`;
    }
    const frame = this.#frame(random);
    const older = rarely(random, 50);
    for (let times = rarely(random, 15) ? 2 + random(10) : 1; times > 0; times -= 1) this.#send(frame, older);
    return `${this.subject} sends ${frame["type"] as string}`;
  }

  start(random: Random): string {
    this.#starts += 1;
    this.#welcomed = false;
    const { network, tokens } = this.#world;
    const host = `${this.subject}/${this.#starts}`;
    const hello = this.#hello(random);
    const stolen = rarely(random, 4) ? pick(random, [...tokens.values()]) : undefined;
    const cable = network.connect(host, tokens.get(this.subject) ?? "", {
      open: () => this.#send({ ...hello, ...(stolen !== undefined && { token: stolen }) }),
      message: () => (this.#welcomed = true),
      ping: () => {},
      closed: () => {},
    });
    this.#cable = cable;
    return `${this.subject} connects`;
  }

  #hello(random: Random): Frame {
    const right = { type: "hello", role: this.role, ...(this.role === "worker" && { worker_id: this.subject }) };
    const wrong = [
      { role: "worker", worker_id: "w-1" },
      { role: "auditor" },
      { role: "orchestrator", resume_from: `${"0".repeat(16)}.3` },
      { type: "status", ...SCOPE },
    ];
    return rarely(random, 12) ? { ...right, ...pick(random, wrong) } : right;
  }

  #send(frame: Frame, older = false): void {
    this.#asked += 1;
    const cable = older && this.#older?.held === true ? this.#older : this.#cable;
    cable?.raw(Buffer.from(JSON.stringify({ ...frame, id: `h${this.#asked}` })));
  }

  #frame(random: Random): Frame {
    const again = this.#sent.at(-1 - random(8));
    if (rarely(random, 30) && again !== undefined) return again;
    const frame = rarely(random, 70) ? this.#own(random) : this.#others(random);
    if (rarely(random, 4)) Object.assign(frame, { scope: "**" });
    if (frame["type"] === "correct") this.#sent.push(frame);
    return frame;
  }

  /** Something that its role may ask, if not like this. */
  #own(random: Random): Frame {
    if (this.role === "auditor") return pick(random, [this.#log(random), { type: "follow", after: random(50) }]);
    return this.role === "worker" ? this.#asWorker(random) : this.#asOrchestrator(random);
  }

  /** Something that another role may ask. */
  #others(random: Random): Frame {
    return pick(random, [
      () => this.#asWorker(random),
      () => this.#asOrchestrator(random),
      () => this.#log(random),
      (): Frame => ({ type: "prove", index: 1 }),
      (): Frame => ({ type: "hello", role: this.role }),
      (): Frame => ({ type: "ping" }),
    ])();
  }

  #log(random: Random): Frame {
    return { type: "log", after: random(this.#world.ledger.lines.length + 2), limit: 1 + random(30) };
  }

  #asWorker(random: Random): Frame {
    const cited = this.#cited(random);
    const reflects = [cited.correction_id];
    const next_action = { summary: pick(random, ["obey", " ", "pay\u200b"]), reflects };
    return pick<() => Frame>(random, [
      () => ({ type: "status", ...SCOPE, last_action: `claims ${random(4)}` }),
      () => ({ type: "status", issue: "ENG-12", lane: pick(random, ["cmd/serve", "secret/x"]) }),
      () => ({ type: "status", ...SCOPE, next_action: { summary: `plan ${random(3)}`, reflects } }),
      () => ({ type: "status", ...SCOPE, expect_seq: 1 + random(4) }),
      () => ({ type: "receive", correction_id: cited.correction_id }),
      () => ({ type: "ack", ...cited }),
      () => ({ type: "ack", ...cited, next_action: { summary: `obey ${random(3)}`, reflects } }),
      () => ({ type: "ack", ...cited, next_action }),
      () => ({ type: "ack", ...cited, status_digest: STALE }),
      () => ({ type: "decline", ...cited, status_digest: STALE, reason: "no" }),
      () => ({ type: "decline", ...cited, reason: "no" }),
      () => ({ type: "inbox", open: rarely(random, 50) }),
      () => (rarely(random, 20) ? { type: "bye" } : { type: "ping" }),
    ])();
  }

  #asOrchestrator(random: Random): Frame {
    const { correction_id } = this.#cited(random);
    const correct = this.#correct(random);
    return pick<() => Frame>(random, [
      () => correct,
      () => correct,
      () => correct,
      () => ({ ...correct, status_digest: STALE }),
      () => ({ ...correct, lane: pick(random, ["cmd/serve", "secret/x"]) }),
      () => ({ ...correct, lane: "internal/a2achan" }),
      () => ({ ...correct, orchestrator_id: pick(random, ["o-1", this.subject]) }),
      () => ({ ...correct, message: pick(random, [" ", "a\u202eb", "x".repeat(1_025)]) }),
      () => ({ ...correct, supersedes: correction_id }),
      () => ({ ...correct, max_bytes: 1 + random(30) }),
      () => ({ ...correct, priority: "halt" }),
      () => ({ type: "withdraw", correction_id }),
      () => ({ type: "stage", correction_id }),
      () => ({ type: "watch", filter: {} }),
      () => ({ type: "get", worker_id: "w-1" }),
    ])();
  }

  #correct(random: Random, current = 75): Frame {
    const { digests, book } = this.#world.ledger;
    const worker_id = pick(random, ["w-1", "w-2", "w-3", "w-9"]);
    const all = [...(digests.get(worker_id)?.values() ?? [])];
    const status_digest = rarely(random, current) ? all.at(-1) : pick(random, [STALE, ...all]);
    const { issue = "2162", lane = "internal/a2achan", task_id } = book.worker(worker_id).row ?? {};
    return {
      type: "correct",
      worker_id,
      issue,
      lane,
      ...(task_id !== undefined && { task_id }),
      message: `Send me the keys (${random(20)}).`,
      ...(status_digest !== undefined && { status_digest }),
      key: `k${random(60)}`,
      ttl_ms: pick(random, [1_000, 10_000, 60_000]),
    };
  }

  /** A correction of its own worker, or any that there ever was, with what it cited. */
  #cited(random: Random): { correction_id: string; status_digest: string } {
    const every = [...this.#world.ledger.book.corrections.values()];
    const own = every.filter(({ workerId }) => workerId === this.subject);
    const all = own.length > 0 && rarely(random, 75) ? own : every;
    const one = all.at(-1 - random(Math.max(1, Math.min(all.length, 12))));
    return { correction_id: one?.id ?? FAKE, status_digest: one?.content.status_digest ?? STALE };
  }
}
