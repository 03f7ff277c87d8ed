import { createHook } from "node:async_hooks";
import type * as Heap from "../../src/cli/heap.js";
import type * as Server from "../../src/server.js";
import type * as JournalModule from "../../src/storage/journal/index.js";
import type { FleetServerOptions, FleetServerReady } from "./fleet.js";

/** The broker as it was built, with its journal, and a token for each of its fleet. */
const { dist, directory, workers, watchers, pingMs } = JSON.parse(process.argv[1] ?? "") as FleetServerOptions;
const load = async <T>(path: string): Promise<T> => (await import(new URL(path, dist).href)) as T;

const { createBroker } = await load<typeof Server>("server.js");
const { Journal } = await load<typeof JournalModule>("storage/journal/index.js");

// As the program does.
(await load<typeof Heap>("cli/heap.js")).allocateYoung();

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

/** Callbacks that run between two of I/O: they are part of the stretch in which nothing else is served. */
const INNER = new Set(["TickObject", "PROMISE", "Microtask", "Timeout", "Immediate"]);
const inner = new Set<number>();
let depth = 0;
let began = 0;
/**
 * Most CPU from one I/O callback, or one turn of the loop, to the next, in us: no callback has taken longer, whoever
 * shares the machine.
 */
let longest = 0;
let marking = false;

function mark(): void {
  const now = cpu();
  longest = Math.max(longest, now - began);
  began = now;
}

function markTurn(): void {
  mark();
  if (marking) setImmediate(markTurn);
}

const hook = createHook({
  init: (id, type) => {
    if (INNER.has(type)) inner.add(id);
  },
  before: (id) => {
    if (inner.has(id)) return;
    if (depth === 0) mark();
    depth += 1;
  },
  after: (id) => {
    if (depth > 0 && !inner.has(id)) depth -= 1;
  },
  destroy: (id) => inner.delete(id),
});

function cpu(): number {
  const { user, system } = process.cpuUsage();
  return user + system;
}

async function rss(): Promise<number> {
  for (let round = 0; round < 5; round += 1) {
    globalThis.gc?.();
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  return process.memoryUsage.rss();
}

const answers: Readonly<Record<string, () => number | Promise<number>>> = {
  cpu,
  rss,
  "begin blocks": () => {
    [depth, began, longest, marking] = [0, cpu(), 0, true];
    hook.enable();
    setImmediate(markTurn);
    return 0;
  },
  "end blocks": () => {
    marking = false;
    hook.disable();
    inner.clear();
    return longest;
  },
};
process.on("message", (question: string) => {
  void Promise.resolve(answers[question]?.()).then((answer) => process.send?.(answer));
});
process.on("disconnect", () => void running.stop().then(() => process.exit()));
process.send?.(ready);
