import { open } from "node:fs/promises";
import { join } from "node:path";
import { crc32 } from "node:zlib";
import type * as JournalModule from "../../src/storage/journal/index.js";
import type { AppendOptions, AppendPoint } from "./figures/growth.js";

/** Grows a journal, and beside each append writes as many bytes over the same place of another file. */
const { dist, directory, sizes, batch } = JSON.parse(process.argv[1] ?? "") as AppendOptions;
const load = async <T>(path: string): Promise<T> => (await import(new URL(path, dist).href)) as T;
const { Journal } = await load<typeof JournalModule>("storage/journal/index.js");

const hex = "0123456789abcdef".repeat(4);
const entries = Array.from(
  { length: batch },
  (_, at) =>
    `{"at":17500000${at},"by":{"role":"worker","subject":"w-${at}","token":"00000000"},"cause":"published",` +
    `"index":${at},"kind":"status","row":{"issue":"2162","lane":"src/net","live":true,"next_action":{"reflects":[],` +
    `"summary":{"bytes":60,"commitment":"${hex}"}},"schema":"a2achan.worker-status.v1","seq":${at},"worker_id":"w-${at}"},` +
    `"status_digest":"sha256:${hex}","worker_id":"w-${at}"}`,
);
const plain = Buffer.from(`${entries.join("\n")}\n`);
const journal = await Journal.open({ directory: join(directory, "log") });
const bare = await open(join(directory, "bare"), "w", 0o600);

async function cpuOf(work: () => Promise<void>): Promise<number> {
  const before = process.cpuUsage();
  await work();
  const { user, system } = process.cpuUsage(before);
  return user + system;
}

/** The least that an append has to do: checksum, write, sync. */
async function writeBare(): Promise<void> {
  crc32(plain);
  await bare.write(plain, 0, plain.length, 0);
  await bare.datasync();
}

/** Appends up to `to` entries; gives the cost of each append over the bare write beside it. */
async function grow(to: number): Promise<number[]> {
  const ratios: number[] = [];
  while (journal.size() + batch <= to) {
    const first = journal.size();
    const cost = await cpuOf(() => journal.append({ first, entries, texts: [] }));
    ratios.push(cost / (await cpuOf(writeBare)));
  }
  return ratios;
}

async function measure(): Promise<AppendPoint[]> {
  const points: AppendPoint[] = [];
  for (const size of sizes) {
    await grow(size * 0.75);
    points.push({ size, ratios: await grow(size * 1.25) });
  }
  return points;
}

process.on("message", () => void measure().then((points) => process.send?.(points)));
process.on("disconnect", () => void Promise.allSettled([journal.close(), bare.close()]).then(() => process.exit()));
process.send?.(0);
