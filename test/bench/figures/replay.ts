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
}

/** Figure 7, its replay: decoding and folding a log, over JSON.parse of its lines. */
export function replay({ quick, dist, nodeOptions }: Setting): Promise<Figure[]> {
  const [rounds, entries] = quick ? [7, 200_000] : [9, 300_000];
  return using(async (keep) => {
    const options: ReplayOptions = { dist, entries, workers: 256 };
    const started = await PlainProcess.start<number>("replay-process", options, nodeOptions);
    const process = await keep(Promise.resolve(started.process));
    await process.ask("round");
    const costs: ReplayRound[] = [];
    for (let round = 0; round < rounds; round += 1) costs.push(await process.ask<ReplayRound>("round"));
    const us = (of: keyof ReplayRound): string => median(costs.map((cost) => cost[of])).toFixed(2);
    return [
      {
        figure: "7",
        what: `replay CPU an entry (${Math.round(started.ready / 1_000)}k entries), over JSON.parse a line`,
        gate: 1.4,
        ambition: 1.15,
        binding: false,
        ...measured(costs.map(({ fold, parse }) => fold / parse)),
        note: `${us("fold")} against ${us("parse")} us`,
      },
    ];
  });
}
