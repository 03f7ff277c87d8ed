import { connectOrchestrator, connectWorker, type Orchestrator, type Worker } from "../../../../src/client/index.js";
import { MemoryTokenHashes } from "../../../../src/broker/tokens.js";
import { MemoryStore } from "../../../../src/index.js";
import { TestBroker } from "../../../support/broker.js";
import { FakeClock } from "../../../support/fake-clock.js";
import type { Frame, Wire } from "../../../support/wire.js";

type BrokerOptions = NonNullable<Parameters<typeof TestBroker.start>[0]>;
type Session = Wire & { welcome: Frame };

/** Where the worker of every case stands. */
export const WHERE = { issue: "2162", task_id: "gh-2162", lane: "internal/a2achan" };

const EVERYWHERE = { worker: "**", issue: "**", lane: "**" };

export function statusOf(lastAction: string, fields: Record<string, unknown> = {}): Frame {
  return { type: "status", ...WHERE, last_action: lastAction, ...fields };
}

/** A correction for W1; the message makes it one of its kind. */
export function correctionOf(digest: unknown, message: string, fields: Record<string, unknown> = {}): Frame {
  return { type: "correct", worker_id: "W1", ...WHERE, status_digest: digest, message, ...fields };
}

/** What an ack or a decline cites, with what it adds. */
export function ackOf(id: unknown, digest: unknown, fields: Record<string, unknown> = {}): Frame {
  return { type: "ack", correction_id: id, status_digest: digest, ...fields };
}

export function digestIn(frame: Frame): string {
  const digest = frame["status_digest"];
  if (typeof digest !== "string") throw new Error(`no digest: ${JSON.stringify(frame)}`);
  return digest;
}

export const ids = (of: readonly Record<string, unknown>[]): unknown[] => of.map((one) => one["correction_id"]);

/** What outlives a broker: its log and keys; and the time that passes. */
export type Lasting = Required<Pick<BrokerOptions, "store" | "idKey" | "logKey" | "hashes" | "clock">>;

export function lasting(): Lasting {
  return {
    store: new MemoryStore(),
    idKey: new Uint8Array(32).fill(7),
    logKey: new Uint8Array(32).fill(8),
    hashes: new MemoryTokenHashes(),
    clock: new FakeClock(),
  };
}

/** No case is about how many frames a connection sends, and the clock stands still. */
const PATIENT = { frames_per_second: 100_000, frames_burst: 100_000 };

/** Where most cases begin: a broker, worker W1 with a live row, and orchestrator O1 who has read it. */
export class Scene {
  readonly broker: TestBroker;
  readonly worker: Session;
  readonly orchestrator: Session;
  /** Of the row that W1 published first. */
  readonly digest: string;
  readonly #clients: (Worker | Orchestrator)[] = [];

  private constructor(broker: TestBroker, worker: Session, orchestrator: Session, digest: string) {
    this.broker = broker;
    this.worker = worker;
    this.orchestrator = orchestrator;
    this.digest = digest;
  }

  static async open(hello: Record<string, unknown> = {}, options: BrokerOptions = {}): Promise<Scene> {
    const broker = await TestBroker.start({ limits: PATIENT, ...options });
    const worker = await broker.worker("W1", hello);
    const published = await worker.ask(statusOf("plan A"));
    return new Scene(broker, worker, await broker.orchestrator("O1"), digestIn(published));
  }

  /** The broker stops; another goes on with `lasting` after `downMs`, and W1 and O1 are back. W1 has not published yet. */
  async restarted(lasting: Lasting, downMs = 0): Promise<Scene> {
    await this.close();
    lasting.clock.advance(downMs);
    const broker = await TestBroker.start({ limits: PATIENT, ...lasting });
    return new Scene(broker, await broker.worker("W1"), await broker.orchestrator("O1"), this.digest);
  }

  async close(): Promise<void> {
    for (const client of this.#clients) await client.close();
    await this.broker.stop();
  }

  /** An SDK worker with a live row in the place of the raw one. */
  async sdkWorker(workerId = "W1"): Promise<Worker> {
    const issued = { role: "worker" as const, subject: workerId, issue: "**", lane: "**" };
    const { token } = await this.broker.running.addToken(issued);
    const worker = await connectWorker({ url: this.broker.url, token, workerId });
    this.#clients.push(worker);
    await worker.status({ ...WHERE, last_action: "plan A" });
    return worker;
  }

  async sdkOrchestrator(subject = "O1"): Promise<Orchestrator> {
    const { token } = await this.broker.running.addToken({ role: "orchestrator", subject, ...EVERYWHERE });
    const orchestrator = await connectOrchestrator({ url: this.broker.url, token });
    this.#clients.push(orchestrator);
    return orchestrator;
  }

  /** W1 publishes; the digest of its row. */
  async publish(lastAction: string, fields: Record<string, unknown> = {}): Promise<string> {
    return digestIn(await this.worker.ask(statusOf(lastAction, fields)));
  }

  /** O1 sends a correction that must be admitted; its id. */
  async admit(message: string, fields: Record<string, unknown> = {}, digest = this.digest): Promise<string> {
    const receipt = await this.orchestrator.ask(correctionOf(digest, message, fields));
    if (receipt["verdict"] !== "ALLOW") throw new Error(`not admitted: ${JSON.stringify(receipt)}`);
    return receipt["correction_id"] as string;
  }

  async stage(id: string): Promise<unknown> {
    return (await this.orchestrator.ask({ type: "stage", correction_id: id }))["stage"];
  }

  /** W1 as O1 sees it. */
  view(): Promise<Frame> {
    return this.orchestrator.ask({ type: "get", worker_id: "W1" });
  }

  /** The log's entries of one kind. */
  async logged(kind: string): Promise<Record<string, unknown>[]> {
    return (await this.broker.entries()).filter((entry) => entry["kind"] === kind);
  }
}

/** Everything of a type that was pushed to a client so far and not looked at yet. */
export async function pushed(wire: Wire, type: string): Promise<Frame[]> {
  await wire.barrier();
  const found = wire.pushes.filter((push) => push.type === type);
  for (const push of found) wire.pushes.splice(wire.pushes.indexOf(push), 1);
  return found;
}

/** The corrections that were pushed to a worker so far and not looked at yet, as they were sent. */
export async function delivered(wire: Wire): Promise<Record<string, unknown>[]> {
  return (await pushed(wire, "correction")).map((push) => push["correction"] as Record<string, unknown>);
}
