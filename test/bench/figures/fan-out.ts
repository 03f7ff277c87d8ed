import { join } from "node:path";
import { Fleet, type Sizes } from "../fleet.js";
import { median } from "../stats.js";
import { measured, using, type Figure, type Setting } from "./figure.js";

const FLEET = 10_000;
const NEVER = 3_600_000;
/** Short enough to see a whole sweep soon; as many connections a turn as in an interval of 15 s. */
const SWEEP_MS = 2_000;
const FAN_OUTS = 4;
const BLOCK = { gate: 20, ambition: 5, binding: true } as const;

/**
 * Figure 6: one changed row to 10,000 watching sessions, over a loop of ws.send of one buffer; and the longest block of
 * the event loop while a large fleet is told, pinged, shown and changed: CPU from one I/O callback or turn to the next.
 */
export async function fanOut(setting: Setting): Promise<Figure[]> {
  return [...(await ofOneRow(setting)), ...(await ofAFleet(setting))];
}

async function ofOneRow({ quick, dist, scratch, nodeOptions }: Setting): Promise<Figure[]> {
  const rounds = quick ? 5 : 9;
  return using(async (keep) => {
    const directory = join(scratch, "fan-out", "log");
    const options = { dist, directory, workers: 1, watchers: FLEET, pingMs: NEVER };
    const broker = await keep(Fleet.ofBroker(options, nodeOptions));
    await broker.open("worker", 1);
    const { answers } = await broker.open("watcher", FLEET);
    await broker.publish(1, 1);
    const { push }: Sizes = await broker.open("watcher", 0);
    const bare = await keep(Fleet.bare({ answers, push }, nodeOptions));
    await bare.open("worker", FLEET);
    let sent = 0;
    const onBroker = async (): Promise<void> => void (await broker.publish(1));
    const onBare = async (): Promise<void> => {
      sent += await bare.toAll();
      await bare.pushes(sent);
    };
    const cost = async (fleet: Fleet, fan: () => Promise<void>): Promise<number> => {
      const before = await fleet.cpu();
      for (let count = 0; count < FAN_OUTS; count += 1) await fan();
      return ((await fleet.cpu()) - before) / FAN_OUTS / FLEET;
    };
    await cost(broker, onBroker);
    await cost(bare, onBare);
    const costs: { ours: number; limit: number }[] = [];
    const turns: number[] = [];
    for (let round = 0; round < rounds; round += 1) {
      costs.push({ limit: await cost(bare, onBare), ours: await cost(broker, onBroker) });
      turns.push(await broker.longestBlock(onBroker));
    }
    const us = (of: "ours" | "limit"): string => median(costs.map((one) => one[of])).toFixed(1);
    return [
      {
        figure: "6",
        what: "CPU of a row to 10,000 watchers, over a loop of ws.send",
        gate: 1.1,
        ambition: 0.75,
        binding: true,
        ...measured(costs.map(({ ours, limit }) => ours / limit)),
        note: `${us("ours")} against ${us("limit")} us a watcher`,
      },
      { figure: "6", what: "  its longest block, ms", ...BLOCK, ...measured(turns) },
    ];
  });
}

async function ofAFleet({ quick, dist, scratch, nodeOptions }: Setting): Promise<Figure[]> {
  const [rounds, steps] = quick ? [3, 2] : [7, 4];
  return using(async (keep) => {
    const directory = join(scratch, "fleet", "log");
    const options = { dist, directory, workers: FLEET, watchers: 1, pingMs: SWEEP_MS };
    const broker = await keep(Fleet.ofBroker(options, nodeOptions));
    await broker.open("worker", FLEET);
    const sweep = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, SWEEP_MS));
    const pinged: number[] = [];
    for (let round = 0; round < 3; round += 1) pinged.push(await broker.longestBlock(sweep));
    await broker.open("watcher", 1, { silent: true });
    const shown: number[] = [];
    const changed: number[] = [];
    const notes = { shown: "", changed: "" };
    for (let round = 0; round < rounds; round += 1) {
      shown.push(
        await broker.longestBlock(async () => {
          const { pages, longest, rows } = await broker.snapshot();
          notes.shown = `${rows} rows in ${pages} pages of at most ${longest} bytes`;
        }),
      );
      changed.push(
        await broker.longestBlock(async () => {
          const pushes = await broker.publish(FLEET, steps);
          notes.changed = `${FLEET * steps} changes in ${pushes} pushes`;
        }),
      );
    }
    return [
      { figure: "6", what: "longest block of a ping sweep of 10,000, ms", ...BLOCK, ...measured(pinged) },
      {
        figure: "6",
        what: "longest block of a snapshot of 10,000 workers, ms",
        ...BLOCK,
        ...measured(shown),
        note: notes.shown,
      },
      {
        figure: "6",
        what: "longest block while 10,000 rows change, ms",
        ...BLOCK,
        ...measured(changed),
        note: notes.changed,
      },
    ];
  });
}
