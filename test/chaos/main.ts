import { freshSeed, numberFlags } from "../crash/flags.js";
import { tellOrEnd } from "./hang.js";
import { runChaos } from "./run.js";

const { seed, rounds } = numberFlags({ seed: freshSeed(), rounds: 20 });
console.log(`chaos: ${rounds} rounds over lines that break, seed ${seed}`);
const begun = performance.now();
const { faults, ...figures } = await runChaos(seed, rounds, tellOrEnd(180_000));
console.log(
  JSON.stringify({ seed, seconds: Math.round((performance.now() - begun) / 1_000), ...figures, faults: faults.length }),
);
for (const fault of faults.slice(0, 20)) console.error(fault.slice(0, 400));
process.exitCode = faults.length === 0 ? 0 : 1;
