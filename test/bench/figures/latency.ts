import { BrokerSide } from "../broker-side.js";
import { Cycles } from "../cycles.js";
import { RelaySide } from "../relay-side.js";
import { median } from "../stats.js";
import { measured, using, type Figure, type Setting } from "./figure.js";

const WORKERS = 16;
const SENDERS = 1;
const WARM_UP = 16_384;
/** Sides take turns in short blocks, so that both see the machine awake or both asleep. */
const BLOCK = 20;

/** Figure 1: delivery and witness at depth 1, over the relay's. */
export function latency({ quick, dist, nodeOptions }: Setting): Promise<Figure[]> {
  const [rounds, blocks] = quick ? [9, 10] : [21, 25];
  return using(async (keep) => {
    const broker = await keep(BrokerSide.start({ dist, workers: WORKERS, senders: SENDERS }, nodeOptions));
    await new Cycles(broker, WORKERS).run(WARM_UP);
    const onBroker = new Cycles(broker, 1);
    const { sizes } = broker;
    const relay = await keep(
      RelaySide.start({ workers: WORKERS, senders: SENDERS, sizes, sameFrames: false }, nodeOptions),
    );
    await new Cycles(relay, WORKERS).run(WARM_UP);
    const onRelay = new Cycles(relay, 1);
    const p50s: { delivery: [number, number][]; witness: [number, number][] } = { delivery: [], witness: [] };
    for (let round = 0; round < rounds; round += 1) {
      for (const cycles of [onBroker, onRelay]) Object.assign(cycles.timings, { delivery: [], witness: [] });
      for (let block = 0; block < blocks; block += 1) {
        await onRelay.run(BLOCK);
        await onBroker.run(BLOCK);
      }
      for (const of of ["delivery", "witness"] as const)
        p50s[of].push([median(onBroker.timings[of]), median(onRelay.timings[of])]);
    }
    return (["delivery", "witness"] as const).map((of) => ({
      figure: "1",
      what: `${of} p50 at depth 1, over the relay's`,
      gate: 2,
      ambition: 1.2,
      binding: true,
      ...measured(p50s[of].map(([ours, limit]) => ours / limit)),
      note: `${us(p50s[of].map(([ours]) => ours))} against ${us(p50s[of].map(([, limit]) => limit))} us`,
    }));
  });
}

function us(milliseconds: readonly number[]): string {
  return (median(milliseconds) * 1_000).toFixed(0);
}
