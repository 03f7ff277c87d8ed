import { expect } from "vitest";
import type { Journal } from "../../src/storage/journal/index.js";
import { batchAt, Hand, openJournal, segmentsOf } from "./journal-scenes.js";
import type { SimDisk } from "./sim-files.js";

/** What a scripted run had been told when it ended. */
export interface Told {
  /** Entries that an append, or a start, said were durable. */
  durable: number;
  /** Entries that it had asked for, the batch under way included. */
  asked: number;
  /** Where the head stood that was written last. */
  head: number;
  journal?: Journal | undefined;
  hand: Hand;
  error?: unknown;
}

/** Sizes of the batches that one process appends; a 0 lets the head follow. */
const SCRIPT = [
  [2, 0, 5, 1, 0, 6],
  [1, 4, 0, 3],
];
const SEGMENT_BYTES = 1_000;

export function openScripted(disk: SimDisk, hand = new Hand()): Promise<Journal> {
  return openJournal(disk, { segmentBytes: SEGMENT_BYTES, later: hand.later });
}

const NOTHING = { durable: 0, asked: 0, head: 0 };

/**
 * Two processes one after the other, from the first start on: the first closes its journal, the second does not.
 * Ends at the first thing that fails.
 */
export async function play(disk: SimDisk, script = SCRIPT, before: Omit<Told, "hand"> = NOTHING): Promise<Told> {
  const told: Told = { ...before, hand: new Hand(), journal: undefined, error: undefined };
  try {
    for (const [at, steps] of script.entries()) {
      told.hand = new Hand();
      told.journal = undefined;
      const journal = await openScripted(disk, told.hand);
      told.journal = journal;
      // Those of the last batch may have become durable without being acknowledged.
      told.durable = journal.size();
      told.head = told.durable;
      await steps.reduce(async (earlier, count) => {
        await earlier;
        if (count === 0) {
          await told.hand.run();
          // A head that cannot be written makes itself heard at once.
          const failed = await Promise.race([journal.failed, Promise.resolve()]);
          if (failed !== undefined) throw failed as Error;
          told.head = told.durable;
        } else {
          told.asked = journal.size() + count;
          await journal.append(batchAt(journal.size(), count));
          told.durable = told.asked;
        }
      }, Promise.resolve());
      if (at < script.length - 1) {
        await journal.close();
        told.head = told.durable;
      }
    }
  } catch (error) {
    told.error = error;
  }
  return told;
}

/** Asks of a journal that has failed all that it might still do; its answers. */
export async function insist({ journal, hand }: Told): Promise<unknown[]> {
  if (journal === undefined) return [];
  const appended = journal.append(batchAt(journal.size(), 1)).catch((error: unknown) => error);
  const answers = [await journal.failed, await appended];
  await hand.run();
  await journal.close();
  return answers;
}

/** Opens what a run left behind, and holds it against what the run was told: nothing of it is lost or altered. */
export async function expectKept(disk: SimDisk, { durable, asked }: Told): Promise<Journal> {
  const journal = await openScripted(disk);
  const size = journal.size();
  expect([durable, asked]).toContain(size);
  const { first: _, ...whole } = batchAt(0, size);
  expect(await journal.read(0, size)).toEqual(whole);
  return journal;
}

/** How many bytes of segments, and of what was set aside, a disk holds. */
export function bytesKept(disk: SimDisk): number {
  const torn = Object.entries(disk.contents()).filter(([path]) => path.endsWith(".torn"));
  return [...segmentsOf(disk), ...torn.map(([, bytes]) => bytes)].reduce((sum, { length }) => sum + length, 0);
}
