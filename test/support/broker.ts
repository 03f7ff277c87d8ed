import { createBroker, type CreateBrokerOptions, type RunningBroker } from "../../src/index.js";
import { FakeClock } from "./fake-clock.js";
import { Wire, type Frame } from "./wire.js";

/** A broker in this process on real sockets and a fake clock, with the clients that a test opens. */
export class TestBroker {
  readonly clock: FakeClock;
  readonly running: RunningBroker;
  /** Handlers that threw: always empty, and asserted so by `stop`. */
  readonly faults: unknown[];
  readonly #wires: Wire[] = [];

  private constructor(running: RunningBroker, clock: FakeClock, faults: unknown[]) {
    this.running = running;
    this.clock = clock;
    this.faults = faults;
  }

  static async start(options: CreateBrokerOptions & { clock?: FakeClock } = {}): Promise<TestBroker> {
    const clock = options.clock ?? new FakeClock();
    const faults: unknown[] = [];
    const running = await createBroker({ onFault: (error) => faults.push(error), ...options, clock });
    return new TestBroker(running, clock, faults);
  }

  get url(): string {
    return this.running.url;
  }

  /** A connection that has not said hello. */
  async open(token?: string, headers: Record<string, string> = {}): Promise<Wire> {
    return this.#keep(await Wire.open(this.url, token, headers));
  }

  /** A worker's session, with a token of its own. */
  async worker(
    workerId: string,
    hello: Record<string, unknown> = {},
    token?: string,
  ): Promise<Wire & { welcome: Frame }> {
    const given =
      token ?? (await this.running.addToken({ role: "worker", subject: workerId, issue: "**", lane: "**" })).token;
    return this.#keep(await Wire.hello(this.url, given, { role: "worker", worker_id: workerId, ...hello }));
  }

  /** An orchestrator's session that covers everything, with a token of its own. */
  async orchestrator(subject: string, hello: Record<string, unknown> = {}): Promise<Wire & { welcome: Frame }> {
    const everywhere = { worker: "**", issue: "**", lane: "**" };
    const { token } = await this.running.addToken({ role: "orchestrator", subject, ...everywhere });
    return this.#keep(await Wire.hello(this.url, token, { role: "orchestrator", ...hello }));
  }

  async auditor(subject: string, text = false): Promise<Wire & { welcome: Frame }> {
    const { token } = await this.running.addToken({ role: "auditor", subject, text });
    return this.#keep(await Wire.hello(this.url, token, { role: "auditor" }));
  }

  /** The entries of the whole log, parsed. */
  async entries(): Promise<Record<string, unknown>[]> {
    const auditor = await this.auditor("test-auditor");
    const entries: Record<string, unknown>[] = [];
    for (;;) {
      const page = await auditor.ask({ type: "log", after: entries.length });
      const lines = page["entries"] as string[];
      if (lines.length === 0) return entries;
      entries.push(...lines.map((line) => JSON.parse(line) as Record<string, unknown>));
    }
  }

  /**
   * Lets time pass in steps of at most 5 s, with a round trip of the named clients after each: their pongs arrive, as
   * they would if the time were real.
   */
  async advance(ms: number, ...wires: Wire[]): Promise<void> {
    for (let left = ms; left > 0; left -= 5_000) {
      this.clock.advance(Math.min(left, 5_000));
      await Promise.all(wires.map((wire) => wire.barrier()));
    }
  }

  /** Drops what is still connected and stops the broker. Throws if a handler threw, or a timer is left over. */
  async stop(): Promise<void> {
    for (const wire of this.#wires) wire.drop();
    await this.running.stop();
    if (this.faults.length > 0) throw this.faults[0];
    if (this.clock.pending > 0) throw new Error(`${this.clock.pending} timers are left over`);
  }

  #keep<T extends Wire>(wire: T): T {
    this.#wires.push(wire);
    return wire;
  }
}
