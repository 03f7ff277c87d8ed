import { freshSeed, numberFlags } from "./flags.js";
import { runKills } from "./kills.js";

const { seed, count } = numberFlags({ seed: freshSeed(), count: 200 });
console.log(`kill: ${count} kills -9 under load, seed ${seed}`);
const begun = performance.now();
const { faults, ...figures } = await runKills(seed, count, (line) => console.log(line));
console.log(
  JSON.stringify({ seed, seconds: Math.round((performance.now() - begun) / 1_000), ...figures, faults: faults.length }),
);
for (const fault of faults.slice(0, 20)) console.error(fault.slice(0, 400));
process.exitCode = faults.length === 0 ? 0 : 1;
