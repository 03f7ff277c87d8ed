import { closeSync, fdatasyncSync, openSync, writeSync } from "node:fs";
import { join } from "node:path";
import { BrokerSide } from "../broker-side.js";
import { Cycles } from "../cycles.js";
import type { Side } from "../side.js";
import { median } from "../stats.js";
import { measured, using, type Figure, type Setting } from "./figure.js";

const WORKERS = 16;
const WARM_UP = 8_192;
const BLOCK = 10;
/** What the journal writes for one admission: entry, text and batch line. */
const APPEND_BYTES = 1_150;

/** Figure 4, its part over the disk: what the journal adds to a delivery, over a raw fdatasync of as many bytes. */
export function durable({ quick, dist, scratch, nodeOptions }: Setting): Promise<Figure[]> {
  const [rounds, blocks] = quick ? [7, 5] : [15, 10];
  return using(async (keep) => {
    const sides = { dist, workers: WORKERS, senders: 1 };
    const inMemory = await warm(keep(BrokerSide.start(sides, nodeOptions)));
    const directory = join(scratch, "durable", "log");
    const onDisk = await warm(keep(BrokerSide.start({ ...sides, directory }, nodeOptions)));
    const raw = new RawAppends(join(scratch, "raw"));
    try {
      const p50s: { memory: number; disk: number; raw: number }[] = [];
      for (let round = 0; round < rounds; round += 1) {
        for (const cycles of [inMemory, onDisk]) Object.assign(cycles.timings, { delivery: [], witness: [] });
        const syncs: number[] = [];
        for (let block = 0; block < blocks; block += 1) {
          await inMemory.run(BLOCK);
          await onDisk.run(BLOCK);
          for (let at = 0; at < BLOCK; at += 1) syncs.push(raw.append());
        }
        p50s.push({
          memory: median(inMemory.timings.delivery),
          disk: median(onDisk.timings.delivery),
          raw: median(syncs),
        });
      }
      const ms = (of: "memory" | "disk" | "raw"): string => median(p50s.map((p50) => p50[of])).toFixed(3);
      return [
        {
          figure: "4",
          what: "delivery p50 that the journal adds, over a raw fdatasync",
          gate: 2,
          ambition: 1.3,
          binding: false,
          ...measured(p50s.map(({ memory, disk, raw: sync }) => (disk - memory) / sync)),
          note: `${ms("disk")} - ${ms("memory")} against ${ms("raw")} ms`,
        },
      ];
    } finally {
      raw.close();
    }
  });
}

async function warm(starting: Promise<Side>): Promise<Cycles> {
  const side = await starting;
  await new Cycles(side, WORKERS).run(WARM_UP);
  return new Cycles(side, 1);
}

/** One file that grows by as much as the journal's, with nothing round the calls. */
class RawAppends {
  readonly #fd: number;
  readonly #data = Buffer.alloc(APPEND_BYTES, ".");
  #at = 0;

  constructor(path: string) {
    this.#fd = openSync(path, "w", 0o600);
  }

  /** Milliseconds of one write and its fdatasync. */
  append(): number {
    const start = performance.now();
    writeSync(this.#fd, this.#data, 0, this.#data.length, this.#at);
    fdatasyncSync(this.#fd);
    this.#at += this.#data.length;
    return performance.now() - start;
  }

  close(): void {
    closeSync(this.#fd);
  }
}
