import { freshSeed, numberFlags } from "../crash/flags.js";
import { play } from "./schedule.js";

const { seed, schedules } = numberFlags({ seed: freshSeed(), schedules: 10_000 });
console.log(`sim: ${schedules} schedules, seed ${seed}`);
const figures = new Map<string, number>();
const begun = process.cpuUsage();
let bad = 0;
for (let at = 0; at < schedules && bad < 5; at += 1) {
  const played = await play((seed + at) >>> 0);
  for (const [what, count] of played.figures) figures.set(what, (figures.get(what) ?? 0) + count);
  if (played.violation) {
    bad += 1;
    console.log(played.seed, played.violation, played.steps.length);
    console.log(played.story.slice(-12));
  }
}
console.log([...figures].sort().map(([a, b]) => `${a}: ${b}`).join("\n"));
console.log((process.cpuUsage(begun).user + process.cpuUsage(begun).system) / schedules / 1000, "ms a schedule");
