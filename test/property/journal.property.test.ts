import fc from "fast-check";
import { expect, it } from "vitest";
import type { Journal } from "../../src/storage/journal/index.js";
import { batchAt, expectLog, Hand, openJournal } from "../support/journal-scenes.js";
import { SimDisk, type Fault } from "../support/sim-files.js";

type Move =
  | { do: "append"; count: number }
  | { do: "head" }
  | { do: "restart"; how: "close" | "kill" | "power"; seed: number }
  | { do: "fault"; after: number; fault: Fault };

const moves = fc.array(
  fc.oneof(
    { weight: 6, arbitrary: fc.record({ do: fc.constant("append" as const), count: fc.integer({ min: 1, max: 9 }) }) },
    { weight: 2, arbitrary: fc.constant({ do: "head" as const }) },
    {
      weight: 2,
      arbitrary: fc.record({
        do: fc.constant("restart" as const),
        how: fc.constantFrom("close" as const, "kill" as const, "power" as const),
        seed: fc.nat(),
      }),
    },
    {
      weight: 2,
      arbitrary: fc.record({
        do: fc.constant("fault" as const),
        after: fc.integer({ min: 1, max: 20 }),
        fault: fc.constantFrom<Fault>("EIO", "ENOSPC", "short", "power", "kill"),
      }),
    },
  ),
  { minLength: 1, maxLength: 25 },
);

/** One process after the other on one disk; every start is held against what was acknowledged before it. */
class Machine {
  disk = new SimDisk();
  hand = new Hand();
  journal: Journal | undefined;
  durable = 0;
  asked = 0;
  readonly #segmentBytes: number;

  constructor(segmentBytes: number) {
    this.#segmentBytes = segmentBytes;
  }

  async start(): Promise<void> {
    this.hand = new Hand();
    const options = { segmentBytes: this.#segmentBytes, later: this.hand.later };
    await this.#attempt(async () => {
      const journal = await openJournal(this.disk, options);
      const size = journal.size();
      if (size !== this.durable && size !== this.asked)
        throw new Error(`${size} entries came back, ${this.durable} were durable and ${this.asked} asked for`);
      this.durable = this.asked = size;
      this.journal = journal;
    });
  }

  async move(move: Move): Promise<void> {
    if (move.do === "fault") {
      Object.assign(this.disk, { faultAt: this.disk.operations.length + move.after, fault: move.fault });
      return;
    }
    if (this.journal === undefined) await this.start();
    const { journal } = this;
    if (journal === undefined) return;
    if (move.do === "head") await this.hand.run();
    else if (move.do === "restart") await this.restart(move.how, move.seed);
    else {
      this.asked = this.durable + move.count;
      await this.#attempt(async () => {
        await journal.append(batchAt(this.durable, move.count));
        this.durable = this.asked;
      });
    }
  }

  async restart(how: "close" | "kill" | "power", seed: number): Promise<void> {
    if (how === "close") await this.journal?.close().catch((error: unknown) => this.#own(error));
    const { faultAt, fault, operations } = this.disk;
    this.disk = how === "power" ? this.disk.crash(seed) : this.disk.survivor(seed);
    // A fault that has not come yet comes to the next process.
    Object.assign(this.disk, { faultAt: Math.max(0, faultAt - operations.length), fault });
    this.journal = undefined;
  }

  /** Does something that may meet the fault, and with it the end of the process. */
  async #attempt(what: () => Promise<void>): Promise<void> {
    try {
      await what();
    } catch (error) {
      this.#own(error);
      faults += 1;
      await this.restart(this.disk.fault === "power" ? "power" : "kill", this.asked);
    }
  }

  /** Passes on what no fault of the disk explains. */
  #own(error: unknown): void {
    if (!/ at operation \d|the process is gone/.test(String(error))) throw error;
  }
}

/** How often a fault was met; a run that meets none shows little. */
let faults = 0;

it("a journal keeps what it acknowledged through any run of appends, restarts, kills, power cuts and failing disks", async () => {
  await fc.assert(
    fc.asyncProperty(moves, fc.constantFrom(1, 700, 2_500, 1_000_000), async (script, segmentBytes) => {
      const machine = new Machine(segmentBytes);
      for (const move of script) await machine.move(move);
      machine.disk.faultAt = 0;
      await machine.restart("power", script.length);
      await machine.start();
      if (machine.journal === undefined) throw new Error("the last start failed");
      await expectLog(machine.journal, machine.durable);
    }),
    { numRuns: 1_500 },
  );
  expect(faults).toBeGreaterThan(500);
}, 120_000);
