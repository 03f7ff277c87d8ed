import type { Redaction, RedactionRequest } from "../../src/broker/index.js";
import { readHead } from "../../src/storage/journal/head.js";
import { HEAD } from "../support/journal-scenes.js";
import type { Random } from "../support/random.js";
import { SimDisk, type Fault } from "../support/sim-files.js";
import { pick, rarely } from "./surroundings.js";
import type { World } from "./world.js";

const ERASURE_FAULTS: readonly Fault[] = ["power", "power", "kill", "kill", "EIO", "EIO", "short"];
/** Operations of an erasure: it reads its batch, writes and syncs the head, and then the text. */
const READS = 2;
const WRITES = 4;

/** Gives somebody another token, or takes one away. */
export function operator(world: World, random: Random): string {
  const { process, tokens } = world;
  if (process === undefined) return "the operator finds no broker";
  const subject = pick(random, [...tokens.keys()]);
  const before = tokens.get(subject)?.split("_")[1] ?? "";
  const expiresInMs = rarely(random, 25) ? { expiresInMs: pick(random, [2_000, 30_000]) } : {};
  const lane = rarely(random, 20) && subject.startsWith("o") ? { lane: "cmd/*" } : {};
  const how = random(3);
  if (how > 0) void world.grant(subject, { ...expiresInMs, ...lane });
  if (how < 2) process.broker.revokeToken(before).catch(() => {});
  world.count("operator moves");
  return `the operator ${["revokes", "replaces", "adds"][how]} a token of ${subject}`;
}

/** Redacts a text, whichever; now and then the process ends before, in the middle of it, or when it is answered. */
export function redact(world: World, random: Random): string {
  if (world.process === undefined) return "the operator finds no broker";
  const request = requestOf(world, random);
  const how = random(100);
  const at = 1 + (rarely(random, 20) ? random(READS) : READS + random(WRITES));
  if (how < 30) world.erasureFault = { fault: pick(random, ERASURE_FAULTS), at };
  const down = random(2) === 0 ? "killed" : "power";
  redacted(world, request, () => {
    if (how < 40 && how >= 30) world.kill(down);
  });
  if (how >= 95) world.kill(down);
  return `the operator redacts ${JSON.stringify(request)}${how < 40 || how >= 95 ? ", and the broker may not live on" : ""}`;
}

/** When all faults are over nothing stands in the way: a text that nobody needs goes when it is told to. */
export async function redactAtLast(world: World): Promise<void> {
  const ended = new Set([...world.ledger.book.corrections.values()].map(({ index }) => index));
  const text = world.redactions.left.findLast(({ index }) => ended.has(index));
  if (text === undefined || world.process === undefined) return;
  let gone = false;
  redacted(world, { index: text.index }, () => (gone = true));
  await world.settle();
  if (!gone) world.report("gone", `the message of entry ${text.index} has ended, and cannot be redacted`);
}

function redacted(world: World, request: RedactionRequest, answered: () => void): void {
  const { process, disk } = world;
  const gone = async ({ redacted: places }: Redaction): Promise<void> => {
    if (world.process !== process) return;
    world.count("texts redacted", places.length);
    const told = world.redactions.answered(places, disk);
    answered();
    told((await readHead(SimDisk.of(disk.contents()), HEAD))?.size ?? 0);
  };
  process?.broker.redact(request).then(gone, (error: unknown) => {
    const [, why = "failed"] = /(open|current row|no such text|stopped|none with index)/.exec(String(error)) ?? [];
    world.count(`not redacted: ${why}`);
  });
}

function requestOf({ ledger, redactions }: World, random: Random): RedactionRequest {
  const corrections = [...ledger.book.corrections.keys()];
  const { left } = redactions;
  const what = random(100);
  const correction_id = corrections.at(-1 - random(Math.max(1, corrections.length)));
  const everywhere = rarely(random, 15) && { everywhere: true };
  if (what < 45 && correction_id !== undefined) return { correction_id, ...everywhere };
  const text = left.length === 0 ? undefined : pick(random, what < 70 ? left.slice(-6) : left);
  if (what >= 95 || text === undefined) return { index: random(ledger.lines.length + 20) };
  return { index: text.index, ...(rarely(random, 50) && { field: text.field }), ...everywhere };
}
