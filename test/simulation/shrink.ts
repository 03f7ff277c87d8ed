import { play, type Played } from "./schedule.js";

/** Schedules that one shrinking may play. */
const MOST_TRIES = 300;

/**
 * The shortest schedule found that breaks the same invariant: steps are left out, many at a time and then few. What each
 * step does follows from its own number, so those that stay do much the same.
 */
export async function shrink(found: Played, replay: typeof play = play): Promise<Played> {
  let best = found;
  let tries = 0;
  for (let size = best.steps.length >> 1; size > 0; size >>= 1) {
    for (let at = 0; at < best.steps.length && tries < MOST_TRIES;) {
      tries += 1;
      const fewer = [...best.steps.slice(0, at), ...best.steps.slice(at + size)];
      const played = await replay(found.seed, fewer);
      if (played.violation?.invariant === found.violation?.invariant) best = played;
      else at += size;
    }
  }
  return best;
}

/** A violation as a person wants it: what, the schedule that shows it, and how to play it again. */
export function described({ seed, steps, story, violation }: Played, clause: string | undefined): string {
  if (violation === undefined) return `seed ${seed}: no violation`;
  return [
    `seed ${seed} breaks ${violation.invariant}: ${violation.what}`,
    ...(clause === undefined ? [] : [`  ${violation.invariant}: ${clause}`]),
    ...story.map((line, at) => `  ${at + 1}. ${line}`),
    `  again: npm run sim -- --seed ${seed} --steps ${steps.join(",")}`,
  ].join("\n");
}
