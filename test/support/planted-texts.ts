import type { TestBroker } from "./broker.js";
import { randomFrom } from "./random.js";
import { correctionOf, statusOf } from "./scenes.js";
import type { Frame, Wire } from "./wire.js";

const WORKERS = 8;
const ROUNDS = 8;
const HEX_8 = 0x1_0000_0000;

/** Texts of every field, of corrections that were refused, that have ended and that are open; each holds a needle of its own. */
export class PlantedTexts {
  static readonly NEEDLE = /needle-\d{4}-[0-9a-f]{8}/g;
  /** Needles of texts that the log keeps. */
  readonly kept = new Set<string>();
  /** Needles of texts that it does not: too long, or of requests whose texts no entry holds. */
  readonly gone = new Set<string>();
  /** Corrections, admitted or not. */
  readonly corrections = new Set<string>();
  readonly workers = Array.from({ length: WORKERS }, (_, at) => `w-${at}`);
  readonly #broker: TestBroker;
  readonly #random = randomFrom(7);

  constructor(broker: TestBroker) {
    this.#broker = broker;
  }

  /** Plants them all: 15 that are kept for each worker and round, and 5 for each worker in the end. */
  async plant(): Promise<void> {
    for (const name of this.workers) {
      const worker = await this.#broker.worker(name, { inbox: false });
      const sender = await this.#broker.orchestrator(`sender-of-${name}`);
      for (let round = 0; round < ROUNDS; round += 1) {
        // The limits are by time: rows, corrections and frames a second.
        await this.#broker.advance(5_000, worker, sender);
        await this.#round(name, worker, sender);
      }
      await this.#broker.advance(5_000, worker, sender);
      await this.#leaveOpen(name, worker, sender);
    }
  }

  async #round(name: string, worker: Wire, sender: Wire): Promise<void> {
    let digest = await this.#publish(worker);
    const taken = await this.#admit(sender, name, digest);
    const next_action = { summary: this.#text(), reflects: [taken] };
    const acked = await worker.ask({ type: "ack", correction_id: taken, status_digest: digest, next_action });
    digest = String(acked["status_digest"]);
    const declined = await this.#admit(sender, name, digest);
    const why = { status_digest: digest, reason: this.#text() };
    expectType(await worker.ask({ type: "decline", correction_id: declined, ...why }), "stage");
    const withdrawn = await this.#admit(sender, name, digest);
    expectType(await sender.ask({ type: "withdraw", correction_id: withdrawn }), "stage");

    const refused = (text: string, fields: Frame | object = {}): Promise<void> =>
      this.#denied(sender, correctionOf(name, digest, text, { ...fields }));
    await refused(this.#text(), { status_digest: "sha256:0" });
    await refused(this.#text(), { lane: "elsewhere" });
    await refused(this.#text(), { worker_id: "nobody" });
    await refused(this.#text(), { orchestrator_id: "somebody" });
    await refused(this.#text(), { supersedes: `corr_${"0".repeat(32)}` });
    await refused(`${this.#text()} \u202e`);
    const other = { next_action: { summary: this.#text() }, expect_seq: 1 };
    expectType(await worker.ask(statusOf(this.#text(), other)), "refusal");

    await refused(`${this.#text(this.gone)} ${"x".repeat(1_024)}`);
    const late = { ...why, reason: this.#text(this.gone) };
    await worker.ask({ type: "decline", correction_id: withdrawn, ...late });
    const summary = this.#text(this.gone);
    await worker.ask({ type: "ack", correction_id: taken, status_digest: digest, next_action: { summary } });
    await worker.ask(statusOf(`${this.#text(this.gone)} ${"x".repeat(512)}`));
    await worker.ask({ type: "progress", markdown: this.#text(this.gone) });
    await worker.ask(statusOf("went on", { note: this.#text(this.gone) }));
  }

  /** A row with texts, and corrections that were admitted, delivered and acked. */
  async #leaveOpen(name: string, worker: Wire, sender: Wire): Promise<void> {
    const digest = await this.#publish(worker);
    await this.#admit(sender, name, digest);
    const delivered = await this.#admit(sender, name, digest);
    expectType(await worker.ask({ type: "receive", correction_id: delivered }), "stage");
    const acked = await this.#admit(sender, name, digest);
    expectType(await worker.ask({ type: "ack", correction_id: acked, status_digest: digest }), "stage");
  }

  async #publish(worker: Wire): Promise<string> {
    const row = await worker.ask(statusOf(this.#text(), { next_action: { summary: this.#text() } }));
    return String(expectType(row, "row")["status_digest"]);
  }

  async #admit(sender: Wire, name: string, digest: string): Promise<string> {
    const receipt = await sender.ask(correctionOf(name, digest, this.#text(), { ttl_ms: 3_600_000 }));
    if (receipt["verdict"] !== "ALLOW") throw new Error(`not admitted: ${JSON.stringify(receipt)}`);
    this.corrections.add(String(receipt["correction_id"]));
    return String(receipt["correction_id"]);
  }

  async #denied(sender: Wire, correction: Frame): Promise<void> {
    const { verdict, folded, correction_id } = await sender.ask(correction);
    if (verdict !== "DENY" || folded === true) throw new Error("not refused, or not with an entry of its own");
    if (typeof correction_id === "string") this.corrections.add(correction_id);
  }

  #text(into = this.kept): string {
    const number = String(this.kept.size + this.gone.size).padStart(4, "0");
    const needle = `needle-${number}-${this.#random(HEX_8).toString(16).padStart(8, "0")}`;
    into.add(needle);
    return `Look at ${needle}.`;
  }
}

function expectType(frame: Frame, type: string): Frame {
  if (frame.type !== type) throw new Error(`no ${type}: ${JSON.stringify(frame)}`);
  return frame;
}
