import type { LoggedLine } from "../../src/storage/journal/index.js";
import { signedOver } from "../support/every-kind.js";
import { manglings } from "../support/mangled-log.js";
import { verified } from "../support/verified.js";
import { Tally } from "./tally.js";

/**
 * Changes, swaps, inserts, deletes and cuts off each entry of a log, and verifies what that leaves under a checkpoint of
 * the whole. Placed: at the entry where it must be seen without any checkpoint, or by the checkpoint where nothing else can.
 */
export function singleEntries(log: readonly LoggedLine[]): Tally[] {
  const yardsticks = { checkpoints: [{ name: "checkpoint", note: signedOver(log) }] };
  const tallies = new Map<string, Tally>();
  for (const at of log.keys()) {
    for (const { name, entries, index } of manglings(log, at)) {
      const { difference } = verified(entries, yardsticks);
      const tally = tallies.get(name) ?? new Tally(name);
      const found = difference !== undefined;
      tally.count(found, () => `${name} at ${at}`, found && (index === undefined || difference.index === index));
      tallies.set(name, tally);
    }
  }
  return [...tallies.values()];
}
