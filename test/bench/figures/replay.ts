import { PlainProcess } from "../plain-process.js";
import { median } from "../stats.js";
import { measured, using, type Figure, type Setting } from "./figure.js";

export interface ReplayOptions {
  dist: string;
  /** At least so many. */
  entries: number;
  workers: number;
}

/** Microseconds of CPU an entry. */
export interface ReplayRound {
  fold: number;
  parse: number;
  tree: number;
  verify: number;
}

/**
 * Figure 7: decoding and folding a log, and verifying it in full, over JSON.parse of its lines. A verification parses
 * each line and hashes a leaf and a node, which is twice the parse already; then it looks at the form of the entry, opens
 * its commitments, decides it again and writes its line again.
 */
export function replay({ quick, dist, nodeOptions }: Setting): Promise<Figure[]> {
  const [rounds, entries] = quick ? [7, 200_000] : [9, 300_000];
  return using(async (keep) => {
    const options: ReplayOptions = { dist, entries, workers: 256 };
    const started = await PlainProcess.start<number>("replay-process", options, nodeOptions);
    const process = await keep(Promise.resolve(started.process));
    await process.ask("round");
    const costs: ReplayRound[] = [];
    for (let round = 0; round < rounds; round += 1) costs.push(await process.ask<ReplayRound>("round"));
    const parse = median(costs.map((cost) => cost.parse)).toFixed(2);
    const size = `${Math.round(started.ready / 1_000)}k entries`;
    const over = (
      what: string,
      cost: (round: ReplayRound) => number,
      gates: Pick<Figure, "gate" | "ambition" | "binding">,
    ): Figure => ({
      figure: "7",
      what: `${what} an entry (${size}), over JSON.parse a line`,
      ...gates,
      ...measured(costs.map((round) => cost(round) / round.parse)),
      note: `${median(costs.map(cost)).toFixed(2)} against ${parse} us`,
    });
    return [
      over("replay CPU", ({ fold }) => fold, { gate: 1.4, ambition: 1.15, binding: true }),
      over("full verify CPU", ({ verify }) => verify, { gate: 10, ambition: 6, binding: true }),
      over("  parse and tree of it alone,", ({ parse, tree }) => parse + tree, { binding: false }),
    ];
  });
}
