import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { parseArgs } from "node:util";
import { cpu } from "./figures/cpu.js";
import { durable } from "./figures/durable.js";
import { fanOut } from "./figures/fan-out.js";
import type { Figure, Setting } from "./figures/figure.js";
import { growth } from "./figures/growth.js";
import { latency } from "./figures/latency.js";
import { memory } from "./figures/memory.js";
import { replay } from "./figures/replay.js";
import { machine, table, verdict } from "./report.js";

const USAGE = `npm run bench -- [options]

  --figure N      only this figure (1, 2, 4, 5, 6, 7 or 8); may be given more than once
  --quick         fewer and shorter rounds: under a minute
  --json [FILE]   the figures as JSON too: to FILE, or to standard output instead of the table
  --dist DIR      another build of the broker than dist/
  --scratch DIR   where logs are written: on the file system to measure
  --profile DIR   a CPU profile of every process that is measured
`;

const FIGURES: Readonly<Record<string, (setting: Setting) => Promise<Figure[]>>> = {
  "1": latency,
  "2": cpu,
  "4": durable,
  "5": memory,
  "6": fanOut,
  "7": replay,
  "8": growth,
};

const root = fileURLToPath(new URL("../..", import.meta.url));

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    figure: { type: "string", multiple: true },
    quick: { type: "boolean", default: false },
    json: { type: "boolean", default: false },
    dist: { type: "string", default: join(root, "dist") },
    scratch: { type: "string", default: join(root, "node_modules", ".cache") },
    profile: { type: "string" },
    help: { type: "boolean", default: false },
  },
});
const wanted = values.figure ?? Object.keys(FIGURES);
const [file, ...others] = positionals;
if (
  values.help ||
  others.length > 0 ||
  (file !== undefined && !values.json) ||
  wanted.some((name) => !(name in FIGURES))
) {
  process.stderr.write(USAGE);
  process.exit(values.help ? 0 : 2);
}

mkdirSync(values.scratch, { recursive: true });
const scratch = mkdtempSync(join(resolve(values.scratch), "a2achan-bench-"));
for (const signal of ["SIGINT", "SIGTERM"] as const) {
  // The servers end by themselves when this process is gone.
  process.once(signal, () => {
    rmSync(scratch, { recursive: true, force: true });
    process.exit(1);
  });
}
const profile = values.profile === undefined ? [] : ["--cpu-prof", `--cpu-prof-dir=${resolve(values.profile)}`];
const dist = `${pathToFileURL(resolve(values.dist)).href}/`;
const setting: Setting = { quick: values.quick, dist, scratch, nodeOptions: profile };

const figures: Figure[] = [];
try {
  for (const name of wanted) {
    process.stderr.write(`figure ${name} ...\n`);
    figures.push(...((await FIGURES[name]?.(setting)) ?? []));
  }
} finally {
  rmSync(scratch, { recursive: true, force: true });
}

const missed = figures.filter((figure) => figure.binding && verdict(figure) === "missed");
const json = `${JSON.stringify({ machine: machine(), quick: values.quick, figures: figures.map((figure) => ({ ...figure, reached: verdict(figure) })) }, null, 2)}\n`;
if (values.json && file === undefined) process.stdout.write(json);
else process.stdout.write(`${machine()}\n\n${table(figures)}\n`);
if (file !== undefined) writeFileSync(file, json);
process.exitCode = missed.length > 0 ? 1 : 0;
