import { createHash } from "node:crypto";
import { play, type Played } from "./schedule.js";

export interface Campaign {
  /** Schedules that were played. */
  played: number;
  /** The first one with a violation, after which none was played. */
  found: Played | undefined;
  /** What happened in all of them, by what it is. */
  figures: Map<string, number>;
  /** SHA-256 over the roots of all logs: the same for the same seed and number. */
  roots: string;
}

/** Plays so many schedules, each of the next seed, until one shows a violation. */
export async function campaign(seed: number, schedules: number, tell: (done: number) => void): Promise<Campaign> {
  const figures = new Map<string, number>();
  const hash = createHash("sha256");
  for (let done = 0; done < schedules; done += 1) {
    const played = await named((seed + done) >>> 0);
    for (const [what, count] of played.figures) figures.set(what, (figures.get(what) ?? 0) + count);
    if (played.violation !== undefined) return { played: done + 1, found: played, figures, roots: hash.digest("hex") };
    hash.update(played.root);
    tell(done + 1);
  }
  return { played: schedules, found: undefined, figures, roots: hash.digest("hex") };
}

/** A schedule that cannot even be played names its seed. */
async function named(seed: number): Promise<Played> {
  try {
    return await play(seed);
  } catch (cause) {
    throw new Error(`the schedule of seed ${seed} cannot be played`, { cause });
  }
}
