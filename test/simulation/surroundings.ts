import type { Runtime } from "../../src/client/runtime.js";
import type { FakeClock } from "../support/fake-clock.js";
import type { Random } from "../support/random.js";
import type { Report } from "./clauses.js";
import type { Ledger } from "./ledger.js";
import type { Network } from "./network.js";
import { ProcessClock } from "./process-clock.js";

/** What the actors of a schedule share. */
export interface Surroundings {
  readonly clock: FakeClock;
  readonly network: Network;
  readonly ledger: Ledger;
  /** For what no step decides: ids, keys, jitter. */
  readonly random: Random;
  /** The token that each subject holds now. */
  readonly tokens: Map<string, string>;
  /** Ids that some process handed to its application, each with the attempt that it said it was. */
  readonly handed: Set<string>;
  readonly report: Report;
  readonly count: (what: string) => void;
}

export const URL = "ws://sim.example/v1";
/** Issues and lanes in which rows and corrections stand. */
export const ISSUES = ["2162", "ENG-12"];
export const LANES = ["internal/a2achan", "cmd/serve"];

export function pick<T>(random: Random, from: readonly T[]): T {
  return from[random(from.length)] as T;
}

export function rarely(random: Random, percent: number): boolean {
  return random(100) < percent;
}

/** Bytes from numbers. */
export function bytesFrom(random: Random, count: number): Buffer {
  return Buffer.from(Array.from({ length: count }, () => random(256)));
}

/** One process of a client: its host, its time, its chance. */
export class ClientProcess {
  readonly host: string;
  readonly clock: ProcessClock;
  readonly runtime: Runtime;
  readonly #network: Network;

  constructor({ clock, network, random }: Surroundings, name: string) {
    this.host = `${name}/${random(0x1_0000_0000).toString(16)}`;
    this.clock = new ProcessClock(clock);
    this.#network = network;
    let keys = 0;
    this.runtime = {
      clock: this.clock,
      random: () => random(1_000) / 1_000,
      freshKey: () => `${this.host.replaceAll("/", ".")}.${(keys += 1)}`,
      openSocket: network.opener(this.host),
    };
  }

  /** The process is killed; `silently`: with its machine. */
  kill(silently: boolean): void {
    this.clock.kill();
    this.#network.abandon(this.host, silently);
  }
}
