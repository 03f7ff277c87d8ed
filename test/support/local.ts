import { Broker, grantRequest, type Connection, type Peer, type TokenRequest } from "../../src/broker/index.js";
import type { BrokerOptions, Outgoing } from "../../src/broker/index.js";
import { parseRequest, type Close } from "../../src/protocol/index.js";
import { FakeClock } from "./fake-clock.js";
import type { Frame } from "./wire.js";

const ID_KEY = new Uint8Array(32).fill(7);
const LOG_KEY = new Uint8Array(32).fill(8);
const EVERYWHERE = { worker: "**", issue: "**", lane: "**" };

/** A turn of the event loop: everything that was ready has run. */
export function turn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

/** Turns until `condition` holds: for what happens by itself, soon, and is told to nobody. */
export async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await turn();
}

/** A client without a socket: a peer of the broker in this process, whose buffer the test fills and drains. */
export class LocalClient implements Peer {
  /** Every frame that the broker sent, in order. */
  readonly frames: Frame[] = [];
  /** How the broker closed it. */
  closedWith: Close | undefined;
  /** Bytes of sent frames that were not taken: `undefined` while everything is taken at once. */
  unread: number | undefined;
  /** Called with each frame as it comes. */
  onFrame: (frame: Frame) => void = () => {};
  readonly connection: Connection;
  readonly #broker: Broker;
  #ids = 0;
  #draining: (() => void)[] = [];

  constructor(broker: Broker, proven?: string) {
    this.#broker = broker;
    this.connection = broker.connect(this, proven);
  }

  get buffered(): number {
    return this.unread ?? 0;
  }

  send(out: Outgoing): void {
    const text = out.as(JSON.stringify);
    if (this.unread !== undefined) this.unread += Buffer.byteLength(text);
    const frame = JSON.parse(text) as Frame;
    this.frames.push(frame);
    this.onFrame(frame);
  }

  drained(): Promise<void> {
    return this.buffered === 0 ? Promise.resolve() : new Promise((resolve) => this.#draining.push(resolve));
  }

  close(close: Close): void {
    this.closedWith ??= close;
  }

  /** From now on nothing is taken. */
  stall(): void {
    this.unread ??= 0;
  }

  /** Takes what was left, and goes on taking everything, or stalls again. */
  drain(again = false): void {
    this.unread = again ? 0 : undefined;
    for (const resolve of this.#draining.splice(0)) resolve();
  }

  /** Sends one request and returns its id; the reply is found by it. */
  tell(frame: Frame): string {
    const id = `l${(this.#ids += 1)}`;
    this.connection.receive(parseRequest(JSON.parse(JSON.stringify({ ...frame, id })) as object));
    return id;
  }

  reply(id: string): Frame | undefined {
    return this.frames.find((frame) => frame["id"] === id);
  }

  /** Sends one request and gives its reply, turns later where the store takes its time. */
  async ask(frame: Frame): Promise<Frame> {
    const id = this.tell(frame);
    for (let turns = 0; turns < 1_000; turns += 1) {
      const reply = this.reply(id);
      if (reply !== undefined) return reply;
      await turn();
    }
    throw new Error(`no reply to ${frame.type}`);
  }

  pushes(type: string): Frame[] {
    return this.frames.filter((frame) => frame.type === type && frame["id"] === undefined);
  }

  /** The connection breaks. */
  drop(): void {
    this.#broker.disconnect(this.connection);
  }
}

/** A broker without an edge, on a fake clock, and clients that talk to it in this process. */
export class LocalBroker {
  readonly broker: Broker;
  readonly clock: FakeClock;

  constructor(broker: Broker, clock: FakeClock) {
    this.broker = broker;
    this.clock = clock;
  }

  static async open(
    options: Omit<BrokerOptions, "clock" | "idKey" | "logKey"> & { clock?: FakeClock },
  ): Promise<LocalBroker> {
    const clock = options.clock ?? new FakeClock();
    return new LocalBroker(await Broker.open({ idKey: ID_KEY, logKey: LOG_KEY, ...options, clock }), clock);
  }

  /** Stops the broker. Throws if a timer is left over. */
  async stop(): Promise<void> {
    await this.broker.stop();
    if (this.clock.pending > 0) throw new Error(`${this.clock.pending} timers are left over`);
  }

  async token(request: TokenRequest): Promise<string> {
    return (await this.broker.addToken(grantRequest(request))).token;
  }

  workerToken(workerId: string): Promise<string> {
    return this.token({ role: "worker", subject: workerId, issue: "**", lane: "**" });
  }

  orchestratorToken(subject: string): Promise<string> {
    return this.token({ role: "orchestrator", subject, ...EVERYWHERE });
  }

  client(): LocalClient {
    return new LocalClient(this.broker);
  }

  async hello(token: string, hello: Record<string, unknown>): Promise<LocalClient> {
    const client = this.client();
    await client.ask({ type: "hello", token, ...hello });
    return client;
  }

  async worker(workerId: string, hello: Record<string, unknown> = {}): Promise<LocalClient> {
    return this.hello(await this.workerToken(workerId), { role: "worker", worker_id: workerId, ...hello });
  }

  async orchestrator(subject: string, hello: Record<string, unknown> = {}): Promise<LocalClient> {
    return this.hello(await this.orchestratorToken(subject), { role: "orchestrator", ...hello });
  }

  async auditor(subject: string, text = false): Promise<LocalClient> {
    return this.hello(await this.token({ role: "auditor", subject, text }), { role: "auditor" });
  }
}
