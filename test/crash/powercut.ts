import { runCuts, type CutFigures } from "./cuts.js";
import { whyNoPowerCuts } from "./disk.js";
import { freshSeed, numberFlags } from "./flags.js";

const { seed, count } = numberFlags({ seed: freshSeed(), count: 25 });
const why = whyNoPowerCuts();
if (why === undefined) await cutPower();
else console.log(`powercut: skipped, because ${why}`);

async function cutPower(): Promise<void> {
  // What is mounted is let go of at the end of the process, also at this one.
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => process.exit(130));
  console.log(`powercut: ${count} images of a live disk, seed ${seed}`);
  const synced = await run(true);
  console.log("the same without fsync: this has to lose something, or the harness could not tell");
  const unsynced = await run(false);
  const sound = [synced.lost, synced.refused, synced.faults].every((found) => found.length === 0);
  const telling = unsynced.lost.length + unsynced.refused.length > 0;
  for (const fault of [...synced.lost, ...synced.refused, ...synced.faults].slice(0, 20)) {
    console.error(fault.slice(0, 400));
  }
  if (!telling) console.error("without fsync nothing was lost: the harness does not look where it should");
  process.exitCode = sound && telling ? 0 : 1;
}

async function run(synced: boolean): Promise<CutFigures> {
  const begun = performance.now();
  const figures = await runCuts(seed, count, synced, (line) => console.log(line));
  const { lost, refused, faults, ...counts } = figures;
  const seconds = Math.round((performance.now() - begun) / 1_000);
  const found = { lost: lost.length, refused: refused.length, faults: faults.length };
  console.log(JSON.stringify({ seed, fsync: synced, seconds, ...counts, ...found }));
  return figures;
}
