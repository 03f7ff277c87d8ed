import { numberFlags } from "../crash/flags.js";
import { tellOrEnd } from "./hang.js";
import { runStorm } from "./storm.js";

const { workers } = numberFlags({ workers: 2_000 });
console.log(`storm: ${workers} workers come back to a broker that was killed`);
const { faults, ...figures } = await runStorm(workers, tellOrEnd(180_000));
console.log(JSON.stringify({ ...figures, faults: faults.length }));
for (const fault of faults.slice(0, 20)) console.error(fault.slice(0, 400));
process.exitCode = faults.length === 0 ? 0 : 1;
