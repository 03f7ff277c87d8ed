import { randomFrom, type Random } from "../support/random.js";
import type { Fault } from "../support/sim-files.js";
import { operator, redact } from "./operator.js";
import { pick, rarely } from "./surroundings.js";
import type { World } from "./world.js";

type Move = (world: World, random: Random) => Promise<string> | string;

const DISK_FAULTS: readonly Fault[] = ["EIO", "ENOSPC", "short", "power", "kill"];
const SHORT_MS = [1, 10, 50, 200, 1_000, 3_000];
const LONG_MS = [10_000, 31_000, 61_000, 95_000];
const JUMPS_MS = [-3_600_000, -5_000, 2_000, 60_000, 86_400_000];

/** What can happen next, and how often. */
const WORK: readonly [number, Move][] = [
  [80, act],
  [50, arrive],
  [20, disk],
  [50, settle],
  [12, time],
];
/** What can go wrong, and how often, in a schedule that has it. */
const FAULTS: readonly [number, Move][] = [
  [2, longTime],
  [2, jump],
  [6, connection],
  [3, host],
  [4, crash],
  [3, diskFault],
  [4, weather],
  [3, operator],
  [6, redact],
];

/** The moves of one schedule: all of the work, and the faults that its seed picks. Few faults make for long stories. */
export function movesOf(random: Random): readonly [number, Move][] {
  return [...WORK, ...FAULTS.filter(() => rarely(random, 45))];
}

/** One step of a schedule: everything in it follows from one number and the world as it is. Says what happened. */
export async function takeStep(world: World, moves: readonly [number, Move][], number: number): Promise<string> {
  const random = randomFrom(number);
  if (world.process === undefined && random(3) === 0) {
    await world.start();
    return world.process === undefined ? "the broker cannot start" : "the broker starts";
  }
  let at = random(moves.reduce((sum, [weight]) => sum + weight, 0));
  for (const [weight, move] of moves) {
    if (at < weight) return move(world, random);
    at -= weight;
  }
  return "nothing";
}

function act(world: World, random: Random): string {
  const { workers, orchestrators, auditor, hostiles } = world;
  const actor = pick(random, [
    ...workers,
    ...workers,
    ...workers,
    ...orchestrators,
    ...orchestrators,
    ...orchestrators,
    ...hostiles,
    ...hostiles.slice(0, 2),
    auditor,
  ]);
  return actor.act(random);
}

function arrive(world: World, random: Random): string {
  const busy = world.network.busy();
  if (busy.length === 0) return "nothing is on its way";
  const cable = pick(random, busy);
  world.network.segment(cable, 1 + random(5), random, world.doubles);
  return `a segment of ${cable.host} arrives`;
}

function disk(world: World, random: Random): string {
  const waiting = world.process?.files.waiting.length ?? 0;
  if (waiting === 0) return "the disk is idle";
  world.process?.files.release(random(waiting));
  return "the disk does one thing";
}

async function settle(world: World, random: Random): Promise<string> {
  await world.settle(random);
  return "everything arrives";
}

async function time(world: World, random: Random): Promise<string> {
  const ms = pick(random, SHORT_MS);
  await world.pass(ms);
  return `${ms} ms pass`;
}

async function longTime(world: World, random: Random): Promise<string> {
  const ms = pick(random, LONG_MS);
  const stalled = rarely(random, 30);
  for (let left = ms; left > 0; left -= 5_000) {
    await world.pass(Math.min(left, 5_000));
    if (!stalled) await world.settle(random);
  }
  return `${ms} ms pass${stalled ? ", and nothing arrives" : ""}`;
}

function jump(world: World, random: Random): string {
  const ms = pick(random, JUMPS_MS);
  world.clock.jump(ms);
  world.count("fault clock jump");
  return `the wall clock jumps by ${ms} ms`;
}

function connection(world: World, random: Random): string {
  const cables = [...world.network.cables].filter(({ dead, held }) => held && !dead);
  if (cables.length === 0) return "there is no connection to break";
  const cable = pick(random, cables);
  const [client, broker] = [random(2) === 0, random(2) === 0];
  cable.cut(client, broker);
  world.count(client && broker ? "fault connection lost" : "fault half-open");
  const who = [client ? "its client" : "", broker ? "the broker" : ""].filter((one) => one !== "");
  return `the connection of ${cable.host} breaks, noticed by ${who.join(" and ") || "nobody"}`;
}

function host(world: World, random: Random): string {
  const { split, cables } = world.network;
  if (split.size > 0) {
    split.clear();
    return "the network is whole again";
  }
  const hosts = [...new Set([...cables].map((cable) => cable.host))];
  if (hosts.length === 0) return "there is no host to split off";
  for (const name of hosts) if (rarely(random, 40)) split.add(name);
  world.count("fault network split");
  return `the network splits: ${[...split].join(", ")}`;
}

function crash(world: World, random: Random): string {
  if (world.process === undefined) return "the broker is down";
  const how = random(4);
  if (how === 0) {
    world.stop();
    world.count("fault broker stopped");
    return "the broker is told to stop";
  }
  world.count(how === 1 ? "fault kill -9" : "fault power cut");
  world.kill(how === 1 ? "killed" : "power");
  return how === 1 ? "the broker is killed" : "the broker's machine loses power";
}

function diskFault(world: World, random: Random): string {
  const fault = pick(random, DISK_FAULTS);
  world.count(`fault disk ${fault}`);
  if (rarely(random, 40)) {
    world.startFault = { fault, at: 1 + random(45) };
    return `the disk will fail under the next start: ${fault}`;
  }
  world.disk.fault = fault;
  world.disk.faultAt = world.disk.operations.length + 1 + random(12);
  return `the disk will fail: ${fault}`;
}

function weather(world: World, random: Random): string {
  if (random(2) === 0) {
    world.doubles = !world.doubles;
    return world.doubles ? "frames are doubled" : "frames are doubled no more";
  }
  world.slowDown(!world.slowDisk);
  return world.slowDisk ? "the disk is slow" : "the disk is fast";
}
