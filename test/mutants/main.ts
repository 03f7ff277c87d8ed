/** Judges every mutant of the table, those of `--area NAME`, or those with `--only WORDS` in requirements or fault. */
import { parseArgs } from "node:util";
import { UnsoundBaseline, runMutants } from "./run.js";
import { TABLE } from "./table.js";

const { area, only = "" } = parseArgs({ options: { area: { type: "string" }, only: { type: "string" } } }).values;
const areas = area === undefined ? Object.keys(TABLE) : [area];
const mutants = areas
  .flatMap((name) => TABLE[name] ?? [])
  .filter(({ fault, requirements }) => `${requirements.join(" ")} ${fault}`.includes(only));

console.log(`mutants: ${mutants.length} in ${areas.join(", ")}`);
if (mutants.length === 0) console.error(`there is none of that; the areas are ${Object.keys(TABLE).join(", ")}`);
const begun = performance.now();
try {
  const verdicts = await runMutants(mutants, {
    onVerdict: ({ mutant, outcome, by }) => {
      console.log(`${outcome.padEnd(9)} ${mutant.requirements.join(" ")} ${mutant.fault}`);
      if (by !== undefined) console.log(`          by: ${by}`);
    },
  });
  const count = (outcome: string): number => verdicts.filter((verdict) => verdict.outcome === outcome).length;
  const [caught, survived, undecided] = ["caught", "survived", "undecided"].map(count);
  const seconds = Math.round((performance.now() - begun) / 1_000);
  console.log(JSON.stringify({ mutants: mutants.length, caught, survived, undecided, seconds }));
  process.exitCode = mutants.length > 0 && caught === mutants.length ? 0 : 1;
} catch (error) {
  if (!(error instanceof UnsoundBaseline)) throw error;
  console.error(error.message);
  process.exitCode = 1;
}
