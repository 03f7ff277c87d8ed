import type * as Heap from "../../src/cli/heap.js";
import type * as Server from "../../src/server.js";
import type * as JournalModule from "../../src/storage/journal/index.js";
import type { BrokerServerOptions, BrokerServerReady } from "./broker-side.js";

/** The broker as it was built, in memory or with its journal, with room for what the bench asks of it. */
const { dist, directory, workers, senders } = JSON.parse(process.argv[1] ?? "") as BrokerServerOptions;
const load = async <T>(path: string): Promise<T> => (await import(new URL(path, dist).href)) as T;

const { createBroker } = await load<typeof Server>("server.js");
const { Journal } = await load<typeof JournalModule>("storage/journal/index.js");

// As the program does.
(await load<typeof Heap>("cli/heap.js")).allocateYoung();

const plenty = 1_000_000_000;
const running = await createBroker({
  ...(directory !== undefined && { store: await Journal.open({ directory }) }),
  limits: {
    admitted_per_window: plenty,
    digests_per_window: plenty,
    frames_per_second: plenty,
    frames_burst: plenty,
    connections: 16_384,
    unauthenticated: 16_384,
    outgoing_bytes: 67_108_864,
    // So that the state is as large in a short run as it stays in a long one.
    ended_per_principal: Math.min(1_024, Math.ceil(16_384 / senders.length)),
    // The relay sends none.
    ping_ms: 3_600_000,
  },
  onFault: (error) => {
    console.error(error);
    process.exitCode = 1;
  },
});

const everywhere = { issue: "**", lane: "**" };
const grants = [
  ...workers.map((subject) => ({ role: "worker" as const, subject, ...everywhere })),
  ...senders.map((subject) => ({ role: "orchestrator" as const, subject, worker: "**", ...everywhere })),
];
const tokens = (await Promise.all(grants.map((grant) => running.addToken(grant)))).map(({ token }) => token);

process.on("message", () => {
  const { user, system } = process.cpuUsage();
  process.send?.(user + system);
});
process.on("disconnect", () => void running.stop().then(() => process.exit()));
process.send?.({
  url: running.url,
  workers: tokens.slice(0, workers.length),
  senders: tokens.slice(workers.length),
} satisfies BrokerServerReady);
