import { parseArgs } from "node:util";
import { freshSeed } from "../crash/flags.js";
import { CLAUSES, type Invariant } from "./clauses.js";
import { hunt } from "./plant.js";
import { PLANTED } from "./planted.js";
import { campaign } from "./campaign.js";
import { play } from "./schedule.js";
import { described, shrink } from "./shrink.js";

const { values } = parseArgs({
  options: {
    seed: { type: "string" },
    schedules: { type: "string" },
    /** The steps of one schedule, as a violation prints them. */
    steps: { type: "string" },
    /** Stop at the first violation, and say only what it is. */
    first: { type: "boolean", default: false },
    planted: { type: "boolean", default: false },
    /** Of the planted bugs, those with this in their name. */
    only: { type: "string", default: "" },
  },
});
const seed = values.seed === undefined ? freshSeed() : Number(values.seed);
const schedules = Number(values.schedules ?? (values.planted ? 500 : 10_000));

if (values.planted) process.exitCode = await findPlanted();
else if (values.steps !== undefined) {
  const steps = values.steps.split(",").filter((step) => step !== "");
  const played = await play(seed, steps.map(Number));
  console.log(tell(played));
  process.exitCode = played.violation === undefined ? 0 : 1;
} else process.exitCode = await simulate();

function tell(played: Parameters<typeof described>[0]): string {
  return described(played, CLAUSES[played.violation?.invariant as Invariant]);
}

async function simulate(): Promise<number> {
  if (!values.first) console.log(`sim: ${schedules} schedules from seed ${seed}`);
  const begun = performance.now();
  const { found, figures, played, roots } = await campaign(seed, schedules, (done) => {
    if (!values.first && done % 500 === 0) console.log(`${done} schedules, 0 violations`);
  });
  if (values.first) {
    console.log(JSON.stringify({ schedules: played, invariant: found?.violation?.invariant }));
    return 0;
  }
  for (const [what, count] of [...figures].sort(([a], [b]) => (a < b ? -1 : 1))) console.log(`  ${what}: ${count}`);
  if (found !== undefined) console.error(tell(await shrink(found)));
  const seconds = Math.round((performance.now() - begun) / 1_000);
  console.log(JSON.stringify({ seed, schedules: played, violations: found === undefined ? 0 : 1, roots, seconds }));
  return found === undefined ? 0 : 1;
}

async function findPlanted(): Promise<number> {
  const bugs = PLANTED.filter(({ name }) => name.includes(values.only));
  console.log(`sim: ${bugs.length} planted bugs, up to ${schedules} schedules each, from seed ${seed}`);
  let missed = 0;
  for (const planted of bugs) {
    const { schedules: played, invariant } = await hunt(planted, seed, schedules);
    if (invariant === undefined) missed += 1;
    const other = invariant === planted.invariant ? "" : ` (and not ${planted.invariant})`;
    console.log(
      `${invariant === undefined ? "MISSED" : `${invariant}${other} at schedule ${played}`}: ${planted.name}`,
    );
  }
  console.log(JSON.stringify({ seed, planted: bugs.length, missed }));
  return missed === 0 ? 0 : 1;
}
