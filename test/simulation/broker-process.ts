import { Broker, type Chance, type TokenHashes } from "../../src/broker/index.js";
import type { TunableLimits } from "../../src/protocol/index.js";
import type { Batch, EventStore, Head, Page, TextPlace } from "../../src/storage/event-store.js";
import { Journal } from "../../src/storage/journal/index.js";
import type { FakeClock } from "../support/fake-clock.js";
import type { SimDisk } from "../support/sim-files.js";
import { GatedFiles } from "./disk.js";
import { Edge, type EdgeEvents } from "./edge.js";
import { ProcessClock } from "./process-clock.js";

export const DIRECTORY = "/data/log";
export const ORIGIN = "sim.example/log";
const SEGMENT_BYTES = 12_000;

export interface BrokerOptions {
  clock: FakeClock;
  chance: Chance;
  hashes: TokenHashes;
  idKey: Uint8Array;
  logKey: Uint8Array;
  limits: Partial<TunableLimits>;
}

export interface BrokerEvents extends EdgeEvents {
  /** The log was taken up: all its entries, before anything is decided on them. */
  recovered(page: Page): void;
  /** A batch is durable, and the broker has not been told so yet. */
  durable(batch: Batch): void;
  /** A text is about to be erased. */
  erasing(): void;
  /** The disk failed, or cut the process off in the middle of an operation. */
  diskFault(): void;
}

/** One life of a broker: the real one, over a simulated disk, until it is stopped, killed, or fails. */
export class BrokerProcess {
  readonly broker: Broker;
  readonly journal: Journal;
  readonly edge: Edge;
  readonly files: GatedFiles;
  readonly #clock: ProcessClock;
  readonly #edgeClock: ProcessClock;

  private constructor(
    broker: Broker,
    journal: Journal,
    edge: Edge,
    files: GatedFiles,
    clocks: readonly [ProcessClock, ProcessClock],
  ) {
    this.broker = broker;
    this.journal = journal;
    this.edge = edge;
    this.files = files;
    [this.#clock, this.#edgeClock] = clocks;
  }

  /** Timers of the broker and its journal that are set. */
  get timers(): number {
    return this.#clock.pending;
  }

  /** Nothing happens in this process any more. */
  kill(): void {
    this.#clock.kill();
    this.#edgeClock.kill();
  }

  /** Rejects where the log cannot be taken up. */
  static async start(disk: SimDisk, options: BrokerOptions, events: BrokerEvents): Promise<BrokerProcess> {
    const clock = new ProcessClock(options.clock);
    try {
      const files = new GatedFiles(disk, () => events.diskFault());
      const journal = await openJournal(files, clock);
      events.recovered(await journal.read(0, journal.size()));
      const store = new WatchedStore(journal, events);
      const broker = await Broker.open({ ...options, store, clock, version: "0", origin: ORIGIN });
      const edgeClock = new ProcessClock(options.clock);
      return new BrokerProcess(broker, journal, new Edge(broker, edgeClock, events), files, [clock, edgeClock]);
    } catch (error) {
      clock.kill();
      throw error;
    }
  }
}

export function openJournal(files: GatedFiles | SimDisk, clock: ProcessClock): Promise<Journal> {
  return Journal.open({
    directory: DIRECTORY,
    files,
    segmentBytes: SEGMENT_BYTES,
    later: (ms, fn) => clock.at(ms, fn),
  });
}

/** A store that tells of each batch when it is durable, before the broker hears of it, and of each erasure. */
class WatchedStore implements EventStore {
  readonly #inner: EventStore;
  readonly #events: Pick<BrokerEvents, "durable" | "erasing">;

  constructor(inner: EventStore, events: Pick<BrokerEvents, "durable" | "erasing">) {
    this.#inner = inner;
    this.#events = events;
  }

  get torn(): EventStore["torn"] {
    return this.#inner.torn;
  }

  get failed(): Promise<unknown> {
    return this.#inner.failed;
  }

  size(): number {
    return this.#inner.size();
  }

  head(): Head {
    return this.#inner.head();
  }

  async append(batch: Batch): Promise<void> {
    await this.#inner.append(batch);
    this.#events.durable(batch);
  }

  read(from: number, limit: number): Promise<Page> {
    return this.#inner.read(from, limit);
  }

  redact(place: TextPlace): Promise<void> {
    this.#events.erasing();
    return this.#inner.redact(place);
  }

  close(): Promise<void> {
    return this.#inner.close();
  }
}
