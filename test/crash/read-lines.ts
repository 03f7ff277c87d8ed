import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";

// What starting on a log is measured against: reading the same lines and parsing each, and nothing else.
const [directory = ""] = process.argv.slice(2);
const begun = performance.now();
let lines = 0;
for (const name of readdirSync(directory)) {
  if (!name.endsWith(".jsonl")) continue;
  for (const line of readFileSync(join(directory, name), "utf8").split("\n")) {
    if (line === "") continue;
    JSON.parse(line);
    lines += 1;
  }
}
console.log(JSON.stringify({ ms: performance.now() - begun, lines }));
