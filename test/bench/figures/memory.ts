import { join } from "node:path";
import { Fleet, type Sizes } from "../fleet.js";
import { measured, using, type Figure, type Setting } from "./figure.js";

const FLEET = 10_000;
/** What every server has before the fleet comes: the first clients bring code and buffers with them. */
const BASE = 500;

/**
 * Figure 5: memory of an idle worker, with its row, its session and an empty inbox, over that of a bare connection that
 * sent and was sent as much. Both servers are collected before they are asked.
 */
export async function memory({ quick, dist, scratch, nodeOptions }: Setting): Promise<Figure[]> {
  const rounds = quick ? 1 : 3;
  const ratios: number[] = [];
  let note = "";
  for (let round = 0; round < rounds; round += 1) {
    const directory = join(scratch, `memory-${round}`, "log");
    const broker = { dist, directory, workers: FLEET, watchers: 0, pingMs: 3_600_000 };
    const ours = await using(async (keep) => ofAClient(await keep(Fleet.ofBroker(broker, nodeOptions))));
    const bare = { answers: ours.sizes.answers, push: 0 };
    const limit = await using(async (keep) => ofAClient(await keep(Fleet.bare(bare, nodeOptions))));
    ratios.push(ours.bytes / limit.bytes);
    note = `${kib(ours.bytes)} against ${kib(limit.bytes)} KiB`;
  }
  return [
    {
      figure: "5",
      what: `RSS an idle worker of ${FLEET.toLocaleString("en")}, over a bare connection's`,
      gate: 1.6,
      ambition: 1.25,
      binding: true,
      ...measured(ratios),
      note,
    },
  ];
}

async function ofAClient(fleet: Fleet): Promise<{ bytes: number; sizes: Sizes }> {
  await fleet.open("worker", BASE);
  const before = await fleet.rss();
  const sizes = await fleet.open("worker", FLEET, { from: BASE });
  return { bytes: ((await fleet.rss()) - before) / (FLEET - BASE), sizes };
}

function kib(bytes: number): string {
  return (bytes / 1_024).toFixed(1);
}
