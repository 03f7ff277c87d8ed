import { isOpen, type Stage } from "../../src/protocol/index.js";
import { turn } from "../support/local.js";
import { randomFrom } from "../support/random.js";
import { SimDisk } from "../support/sim-files.js";
import { openJournal } from "./broker-process.js";
import type { Violation } from "./clauses.js";
import { i1Kept } from "./ledger.js";
import { redactAtLast } from "./operator.js";
import { ProcessClock } from "./process-clock.js";
import { movesOf, takeStep } from "./steps.js";
import { verified } from "./verified.js";
import { World } from "./world.js";

/** Twice the longest time to live of a correction of the actors, and what a slow network may take. */
const LONGEST_MS = 2 * 60_000 + 40_000;
const STRIDE_MS = 5_000;
/** Time that clients have at least to come back and to learn. */
const LEAST_MS = 45_000;
/** Steps from one look at the whole state to the next. */
const CHECK_EVERY = 12;

export interface Played {
  seed: number;
  /** The number of each step that was taken. */
  steps: number[];
  /** What each of them did. */
  story: string[];
  violation: Violation | undefined;
  /** Root of the log in the end, lower-case hex. */
  root: string;
  figures: ReadonlyMap<string, number>;
}

/** The steps of the schedule that a seed stands for: between 120 and 240 numbers. */
function stepsOf(seed: number): number[] {
  const random = randomFrom(seed ^ 0x5eed);
  return Array.from({ length: 120 + random(121) }, () => random(0x1_0000_0000));
}

/** Plays a schedule to its end, or to the first violation. */
export async function play(seed: number, steps: readonly number[] = stepsOf(seed)): Promise<Played> {
  const guard = i16Guard();
  const world = new World(seed);
  const story: string[] = [];
  let root = "";
  try {
    await world.begin();
    const moves = movesOf(world.random);
    world.slowDown(world.random(2) === 0);
    for (const number of steps) {
      if (world.violation !== undefined) break;
      story.push(await takeStep(world, moves, number));
      await turn();
      if (story.length % CHECK_EVERY === 0) world.check();
      world.count("steps");
    }
    if (world.violation === undefined) root = await end(world);
  } finally {
    world.kill("stopped");
    const impure = guard();
    if (impure !== undefined) world.report("I16", impure);
  }
  for (const event of world.ledger.events) {
    world.count(`entry ${event.kind}`);
    if (event.kind === "refused") world.count(`refused ${event.reason}/${event.detail ?? ""}`);
  }
  world.count("frames doubled", world.network.doubled);
  world.count("refusals folded", world.answers.refusals.folded);
  const { violation, figures } = world;
  return { seed, steps: steps.slice(0, story.length), story, violation, root, figures };
}

/** Faults stop and time passes: then everything has had its end, and everybody can know it. Gives the log's root. */
async function end(world: World): Promise<string> {
  world.network.split.clear();
  world.doubles = false;
  world.slowDown(false);
  world.disk.faultAt = 0;
  world.startFault = undefined;
  world.erasureFault = undefined;
  for (let tries = 0; world.process === undefined && tries < 3; tries += 1) await world.start();
  await world.settle();
  for (const worker of world.workers) worker.opens();
  for (let left = LONGEST_MS; left > 0 && world.violation === undefined; left -= STRIDE_MS) {
    await world.pass(STRIDE_MS);
    if (world.process === undefined) await world.start();
    await world.settle();
    for (const worker of world.workers)
      if (worker.processes.some(({ host }) => world.answers.stands(host))) worker.i7Received();
    if (left <= LONGEST_MS - LEAST_MS && !stillOpen(world)) break;
  }
  await world.settle();
  await i7Ended(world);
  await redactAtLast(world);
  world.check();
  return stopped(world);
}

function stillOpen({ ledger }: World): boolean {
  return [...ledger.book.corrections.values()].some(({ stage }) => isOpen(stage as Stage));
}

/** I7: every admitted correction has had exactly one end, and whoever waits for it or asks for it has it. */
async function i7Ended(world: World): Promise<void> {
  for (const { id, stage } of world.ledger.book.corrections.values())
    if (isOpen(stage as Stage)) world.report("I7", `${id} is still ${stage} when all time is over`);
  for (const orchestrator of world.orchestrators) orchestrator.i7Learned();
  for (const orchestrator of world.orchestrators) orchestrator.i7Asks();
  await world.settle();
  for (const orchestrator of world.orchestrators) orchestrator.watches();
  for (const worker of world.workers) worker.i7Live();
  world.auditor.i1Complete();
}

/** I9, I10, I14: the broker stops, leaves nothing behind, and its log is taken up again as it was. */
async function stopped(world: World): Promise<string> {
  const { process } = world;
  if (process === undefined) {
    world.report("I9", "no broker runs when all faults are over");
    return "";
  }
  world.stop();
  for (let tries = 0; world.process !== undefined && tries < 4; tries += 1) {
    await world.settle();
    await world.pass(STRIDE_MS);
  }
  if (world.process !== undefined) world.report("I14", "the broker does not stop");
  try {
    const journal = await openJournal(SimDisk.of(world.disk.contents()), new ProcessClock(world.clock));
    const { entries, texts } = await journal.read(0, journal.size());
    i1Kept(world.ledger, entries, world.report);
    world.redactions.found(texts);
    await verified(world);
    if (entries.length !== world.ledger.lines.length) world.report("I1", "the log holds more than was ever durable");
    return journal.head().root;
  } catch (error) {
    world.report("I9", `the log is not taken up after a stop: ${String(error)}`);
    return "";
  }
}

/** I16: while a schedule is played, hears of kernel code that looks at a clock or at chance. */
function i16Guard(): () => string | undefined {
  let impure: string | undefined;
  const places = [
    [Date, "now"],
    [Math, "random"],
    [performance, "now"],
    [globalThis, "setTimeout"],
  ] as const;
  const restore = places.map(([object, name]) => {
    const holder = object as unknown as Record<string, (...args: unknown[]) => unknown>;
    const original = holder[name] as (...args: unknown[]) => unknown;
    holder[name] = (...args) => {
      const { stack = "" } = new Error(name);
      if (stack.includes("/src/kernel/")) impure ??= `${name} is called: ${stack}`;
      return original.apply(object, args);
    };
    return () => void (holder[name] = original);
  });
  return () => {
    for (const back of restore) back();
    return impure;
  };
}
