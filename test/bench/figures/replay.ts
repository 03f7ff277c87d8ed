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
  verify: number;
}

/** Figure 7: decoding and folding a log, and verifying it in full, over JSON.parse of its lines. */
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
    const size = `${Math.round(started.ready / 1_000)}k entries`;
    const over = (of: "fold" | "verify", what: string, gate: number, ambition: number): Figure => ({
      figure: "7",
      what: `${what} an entry (${size}), over JSON.parse a line`,
      gate,
      ambition,
      binding: false,
      ...measured(costs.map((cost) => cost[of] / cost.parse)),
      note: `${us(of)} against ${us("parse")} us`,
    });
    return [over("fold", "replay CPU", 1.4, 1.15), over("verify", "full verify CPU", 1.8, 1.5)];
  });
}
