import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { exportLines } from "../../src/cli/audit/exported-lines.js";
import { everyKind, signedOver } from "./every-kind.js";
import { projectRoot } from "./source-files.js";

// `tsx test/support/generate-log.ts 0002`: records a log of this release. A recorded log is never written again.
const name = process.argv[2];
if (name === undefined || !/^\d{4}$/.test(name)) throw new Error("name the log: four digits, the next number");
const folder = join(projectRoot, "spec", "logs");
const entries = everyKind();
mkdirSync(folder, { recursive: true });
const options = { flag: "wx" };
writeFileSync(join(folder, `${name}.jsonl`), entries.map((entry) => exportLines(entry, true)).join(""), options);
writeFileSync(join(folder, `${name}.jsonl.checkpoint`), signedOver(entries), options);
console.log(`${entries.length} entries in spec/logs/${name}.jsonl`);
