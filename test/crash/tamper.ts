import { Verifier } from "../../src/cli/audit/verifier.js";
import { everyKind, signedOver } from "../support/every-kind.js";
import { manglings } from "../support/mangled-log.js";

/** Corrections beyond those that make every kind: five entries each. */
const MORE = 85;

const log = everyKind(MORE);
const note = signedOver(log);
const tried = new Map<string, { tried: number; found: number; placed: number; open: number }>();
for (const at of log.keys()) {
  for (const { name, entries, index } of manglings(log, at)) {
    const verifier = new Verifier({ texts: "whole", checkpoints: [{ name: "checkpoint", note }] });
    for (const entry of entries) if (verifier.take(entry) !== undefined) break;
    const { difference } = verifier.end();
    const counts = tried.get(name) ?? { tried: 0, found: 0, placed: 0, open: 0 };
    counts.tried += 1;
    if (difference !== undefined) counts.found += 1;
    if (index === undefined) counts.open += 1;
    else if (difference?.index === index) counts.placed += 1;
    tried.set(name, counts);
  }
}
console.log(`a log of ${log.length} entries; each entry:`);
for (const [name, { tried: times, found, placed, open }] of tried) {
  const where = open === times ? "by the checkpoint alone" : `${placed} at the right place`;
  console.log(`${name.padEnd(14)} ${times} tried, ${found} found, ${where}`);
}
const whole = [...tried.values()].every(
  ({ tried: times, found, placed, open }) => found === times && placed + open === times,
);
console.log(JSON.stringify({ entries: log.length, ...Object.fromEntries(tried), whole }));
process.exitCode = whole ? 0 : 1;
