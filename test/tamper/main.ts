import { freshSeed, numberFlags } from "../crash/flags.js";
import { everyKind } from "../support/every-kind.js";
import { randomFrom } from "../support/random.js";
import { byClient } from "./by-client.js";
import { byVerify } from "./by-verify.js";
import { pairs } from "./pairs.js";
import { singleEntries } from "./single-entry.js";
import { figuresOf, tableOf } from "./tally.js";

/** Corrections beyond those that make every kind: six entries each, so that the log has 500 and a few more. */
const MORE = 71;
const MOST = 500;

const { seed, clients } = numberFlags({ seed: freshSeed(), clients: 200 });
const log = everyKind(MORE);
if (log.length <= MOST) throw new Error(`the log has ${log.length} entries only`);
const lines = log.map(({ line }) => line);
console.log(`tamper: a log of ${log.length} entries, every k < n <= ${MOST}, ${clients} clients, seed ${seed}`);
const begun = performance.now();
const sizes = Array.from({ length: MOST }, (_, at) => at + 1);
const tallies = [
  ...singleEntries(log),
  ...byVerify(MORE, sizes),
  ...(await byClient(lines, MOST, clients, randomFrom(seed))),
  ...pairs(lines, MOST),
];
for (const line of tableOf(tallies)) console.log(line);
const missed = tallies.flatMap((tally) => tally.missed.map((what) => `${tally.name}: ${what}`));
for (const what of missed.slice(0, 20)) console.error(`missed: ${what}`);
const whole = tallies.every(({ tried, placed }) => tried > 0 && placed === tried) && missed.length === 0;
const seconds = Math.round((performance.now() - begun) / 1_000);
const figures = Object.fromEntries(tallies.map((tally) => [tally.name, figuresOf(tally)]));
console.log(JSON.stringify({ seed, seconds, entries: log.length, ...figures, missed: missed.length, whole }));
process.exitCode = whole ? 0 : 1;
