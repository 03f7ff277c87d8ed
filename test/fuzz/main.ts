import { freshSeed, numberFlags } from "../crash/flags.js";
import { runFuzz, type Figures } from "./fuzz.js";

const ROUND = 100_000;

const { seed, count } = numberFlags({ seed: freshSeed(), count: 10_000_000 });
console.log(`fuzz: ${count} msgpack frames, seed ${seed}`);
const figures: Figures = { frames: 0, taken: 0, refused: 0, closed: 0 };
const begun = performance.now();
try {
  // Each round has a seed of its own, so that a failure late in a run can be had again at once.
  for (let round = 0; figures.frames < count; round += 1) {
    runFuzz(seed + round, Math.min(ROUND, count - figures.frames), figures);
    if (round % 10 === 9) console.log(JSON.stringify(figures));
  }
} catch (error) {
  console.error(error);
  process.exitCode = 1;
}
console.log(JSON.stringify({ seed, seconds: Math.round((performance.now() - begun) / 1_000), ...figures }));
