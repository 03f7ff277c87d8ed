import { mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { BrokerSide } from "../broker-side.js";
import { PlainProcess } from "../plain-process.js";
import { RelaySide } from "../relay-side.js";
import { growthExponent, median } from "../stats.js";
import { cpuACycle } from "./cpu.js";
import { measured, using, type Figure, type Setting } from "./figure.js";

const GOALS = { gate: 0.1, ambition: 0.03, binding: true } as const;
const IN_FLIGHT = 16;
const SENDERS = 16;

/** Figure 8: how the cost of a cycle grows with the workers, and the cost of an append with the log. */
export async function growth(setting: Setting): Promise<Figure[]> {
  return [await ofWorkers(setting), await ofLog(setting)];
}

async function ofWorkers({ quick, dist, nodeOptions }: Setting): Promise<Figure> {
  const fleets = quick ? [16, 256, 4_096] : [16, 64, 256, 1_024, 4_096];
  const [rounds, cycles] = quick ? [7, 2_048] : [9, 4_096];
  return using(async (keep) => {
    const sides = [];
    for (const workers of fleets) {
      const broker = await keep(BrokerSide.start({ dist, workers, senders: SENDERS }, nodeOptions));
      const onBroker = cpuACycle(broker, IN_FLIGHT);
      await onBroker(4_096);
      const options = { workers, senders: SENDERS, sizes: broker.sizes, sameFrames: false };
      const onRelay = cpuACycle(await keep(RelaySide.start(options, nodeOptions)), IN_FLIGHT);
      await onRelay(4_096);
      sides.push({ workers, onBroker, onRelay });
    }
    const costs: { x: number; y: number }[][] = [];
    for (let round = 0; round < rounds; round += 1) {
      const points = [];
      for (const { workers, onBroker, onRelay } of sides) {
        const relay = await onRelay(cycles);
        points.push({ x: workers, y: (await onBroker(cycles)) / relay });
      }
      costs.push(points);
    }
    const ratios = fleets.map(
      (workers, at) => `${workers}: ${median(costs.map((cost) => cost[at]?.y ?? 0)).toFixed(2)}`,
    );
    return {
      figure: "8",
      what: `growth exponent of CPU a cycle over the relay's, ${fleets[0]}..${fleets.at(-1)} workers`,
      ...GOALS,
      ...measured(costs.map(growthExponent)),
      note: ratios.join(", "),
    };
  });
}

export interface AppendOptions {
  dist: string;
  directory: string;
  /** Sizes of the log round which is measured. */
  sizes: readonly number[];
  /** Entries an append. */
  batch: number;
}

export interface AppendPoint {
  size: number;
  /** CPU of each append over that of a bare write of as many bytes. */
  ratios: readonly number[];
}

async function ofLog({ quick, dist, scratch, nodeOptions }: Setting): Promise<Figure> {
  const sizes = quick ? [10_000, 30_000, 100_000] : [10_000, 30_000, 100_000, 300_000, 1_000_000];
  const rounds = quick ? 3 : 7;
  const exponents: number[] = [];
  const medians: number[][] = sizes.map(() => []);
  for (let round = 0; round < rounds; round += 1) {
    const directory = join(scratch, `append-${round}`);
    mkdirSync(directory);
    const options: AppendOptions = { dist, directory, sizes, batch: 500 };
    const points = await using(async (keep) => {
      const started = await PlainProcess.start<number>("append-process", options, nodeOptions);
      return (await keep(Promise.resolve(started.process))).ask<AppendPoint[]>("measure");
    });
    rmSync(directory, { recursive: true });
    exponents.push(growthExponent(points.map(({ size, ratios }) => ({ x: size, y: median(ratios) }))));
    points.forEach(({ ratios }, at) => medians[at]?.push(median(ratios)));
  }
  return {
    figure: "8",
    what: `growth exponent of append cost, ${sizes[0]}..${sizes.at(-1)} entries in a journal`,
    ...GOALS,
    ...measured(exponents),
    note: sizes.map((size, at) => `${size}: ${median(medians[at] ?? []).toFixed(2)}`).join(", "),
  };
}
