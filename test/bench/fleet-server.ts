import type * as Server from "../../src/server.js";
import type * as JournalModule from "../../src/storage/journal/index.js";
import type { FleetServerOptions, FleetServerReady } from "./fleet.js";

/** The broker as it was built, with its journal, and a token for each of its fleet. */
const { dist, directory, workers, watchers, pingMs } = JSON.parse(process.argv[1] ?? "") as FleetServerOptions;
const load = async <T>(path: string): Promise<T> => (await import(new URL(path, dist).href)) as T;

const { createBroker } = await load<typeof Server>("server.js");
const { Journal } = await load<typeof JournalModule>("storage/journal/index.js");

const plenty = 1_000_000_000;
const running = await createBroker({
  store: await Journal.open({ directory }),
  limits: {
    digests_per_window: plenty,
    frames_per_second: plenty,
    frames_burst: plenty,
    connections: 16_384,
    unauthenticated: 16_384,
    ping_ms: pingMs,
  },
  onFault: (error) => {
    console.error(error);
    process.exitCode = 1;
  },
});

const everywhere = { issue: "**", lane: "**" };
type Request = Parameters<typeof running.addToken>[0];
const tokens = async (count: number, request: (at: number) => Request): Promise<string[]> =>
  (await Promise.all(Array.from({ length: count }, (_, at) => running.addToken(request(at))))).map(
    ({ token }) => token,
  );
const ready: FleetServerReady = {
  url: running.url,
  workers: await tokens(workers, (at) => ({ role: "worker", subject: `w-${at}`, ...everywhere })),
  watchers: await tokens(watchers, (at) => ({
    role: "orchestrator",
    subject: `o-${at}`,
    worker: "**",
    watchOnly: true,
    ...everywhere,
  })),
};

/** Longest time between two turns of the event loop, in ms: no callback was longer. */
let longest = 0;
let turning = false;
let last = 0;
function onTurn(): void {
  const now = performance.now();
  longest = Math.max(longest, now - last);
  last = now;
  if (turning) setImmediate(onTurn);
}

async function rss(): Promise<number> {
  for (let round = 0; round < 5; round += 1) {
    globalThis.gc?.();
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  return process.memoryUsage.rss();
}

const answers: Readonly<Record<string, () => number | Promise<number>>> = {
  cpu: () => {
    const { user, system } = process.cpuUsage();
    return user + system;
  },
  rss,
  "begin turns": () => {
    longest = 0;
    turning = true;
    last = performance.now();
    setImmediate(onTurn);
    return 0;
  },
  "end turns": () => {
    turning = false;
    return longest;
  },
};
process.on("message", (question: string) => {
  void Promise.resolve(answers[question]?.()).then((answer) => process.send?.(answer));
});
process.on("disconnect", () => void running.stop().then(() => process.exit()));
process.send?.(ready);
