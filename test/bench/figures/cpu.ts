import { BrokerSide } from "../broker-side.js";
import { Cycles } from "../cycles.js";
import { RelaySide } from "../relay-side.js";
import type { Side } from "../side.js";
import { median } from "../stats.js";
import { measured, using, type Figure, type Setting } from "./figure.js";

const WORKERS = 1_024;
const WARM_UP = 20_480;

/** CPU of each server for one cycle, in microseconds. */
interface Cost {
  broker: number;
  /** The relay that sends one frame for an ack, and the one that sends as many as the broker. */
  strict: number;
  same: number;
}

/**
 * Figure 2: CPU of the server for a witnessed cycle with 1,024 in flight, over the relay's. Each worker has a sender of
 * its own, since no principal may have more than 20 admissions a second; 16 senders stand beside it.
 */
export async function cpu(setting: Setting): Promise<Figure[]> {
  const pairs = await costs(setting, WORKERS);
  const crowded = setting.quick ? [] : await costs(setting, 16);
  const figures: Figure[] = [
    {
      figure: "2",
      what: "CPU a cycle, 1,024 in flight, over the relay's",
      gate: 3.5,
      ambition: 2,
      binding: true,
      ...over("strict", pairs),
    },
    {
      figure: "2",
      what: "  over a relay that sends all six frames of a cycle",
      binding: false,
      ...over("same", pairs),
    },
  ];
  if (crowded.length > 0)
    figures.push({
      figure: "2",
      what: "  with 16 senders for all workers",
      binding: false,
      ...over("strict", crowded),
    });
  return figures;
}

function over(limit: "strict" | "same", all: readonly Cost[]): Pick<Figure, "measured" | "spread" | "rounds" | "note"> {
  const us = (of: keyof Cost): string => median(all.map((cost) => cost[of])).toFixed(1);
  return { ...measured(all.map((cost) => cost.broker / cost[limit])), note: `${us("broker")} against ${us(limit)} us` };
}

/** New processes for each set of rounds: how a process was compiled and laid out stays with it. */
async function costs({ quick, dist, nodeOptions }: Setting, senders: number): Promise<Cost[]> {
  const [sets, rounds, cycles] = quick ? [2, 4, 4_096] : [5, 4, 4_096];
  const all: Cost[] = [];
  for (let set = 0; set < sets; set += 1) {
    await using(async (keep) => {
      const sides = { workers: WORKERS, senders };
      const broker = await keep(BrokerSide.start({ dist, ...sides }, nodeOptions));
      const onBroker = await warm(broker);
      const { sizes } = broker;
      const onStrict = await warm(await keep(RelaySide.start({ ...sides, sizes, sameFrames: false }, nodeOptions)));
      const onSame = await warm(await keep(RelaySide.start({ ...sides, sizes, sameFrames: true }, nodeOptions)));
      for (let round = 0; round < rounds; round += 1)
        all.push({ strict: await onStrict(cycles), broker: await onBroker(cycles), same: await onSame(cycles) });
    });
  }
  return all;
}

async function warm(side: Side): Promise<(cycles: number) => Promise<number>> {
  const run = cpuACycle(side, WORKERS);
  await run(WARM_UP);
  return run;
}

/** Runs cycles in so many lanes and resolves with the server's CPU for one, in microseconds. */
export function cpuACycle(side: Side, lanes: number): (cycles: number) => Promise<number> {
  const running = new Cycles(side, lanes);
  return async (cycles) => {
    const before = await side.cpu();
    await running.run(cycles);
    return ((await side.cpu()) - before) / cycles;
  };
}
