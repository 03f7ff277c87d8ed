import { everyKind, signedOver } from "../support/every-kind.js";
import type { LoggedLine } from "../../src/storage/journal/index.js";
import { verified } from "../support/verified.js";
import { Tally } from "./tally.js";

/**
 * What `a2achan verify --checkpoint FILE` says of a log that had n entries when the checkpoint was signed, and has been
 * rolled back to k or forked at k since, for k in {0, 1, n/2, n-1}. The log signs what it says now. Placed: named by the
 * checkpoint wherever nothing else can tell; else by it, or at the entry that is not what the rules make of it.
 */
export function byVerify(more: number, sizes: Iterable<number>): Tally[] {
  const log = everyKind(more);
  const rollback = new Tally("rollback n -> k, verify");
  const fork = new Tally("fork at k, verify");
  const faulty = new Tally("the same, also by replay");
  const forks = new Map<number, Fork>();
  for (const n of sizes) {
    const seen = { name: "seen", note: signedOver(log, n) };
    for (const k of new Set([0, 1, Math.floor(n / 2), n - 1].filter((at) => at < n))) {
      const left = log.slice(0, k);
      const cut = verified(left, { checkpoints: [{ name: "shown", note: signedOver(left) }, seen] }).difference;
      const why = k === 0 ? "the log is empty" : `the log ends here, but seen signs ${n} entries`;
      rollback.count(cut !== undefined, () => `${n} -> ${k}`, cut?.index === k && cut.sentence === why);

      const lie = forks.get(k) ?? forkAt(log, k, more);
      forks.set(k, lie);
      const { difference } = verified(lie.entries, { checkpoints: [lie.shown, seen] });
      const found = difference !== undefined;
      const byCheckpoint = difference?.index === 0 && difference.sentence.endsWith(` seen signs (${n} entries)`);
      if (n <= lie.plausible) fork.count(found, () => `${k} of ${n}`, byCheckpoint);
      else faulty.count(found, () => `${k} of ${n}`, byCheckpoint || difference?.index === lie.plausible);
    }
  }
  return [rollback, fork, faulty];
}

/** Another log from entry k on, signed by the log's key. */
interface Fork {
  entries: LoggedLine[];
  shown: { name: string; note: string };
  /** The entry that is not what the rules make of it, where there is one: nothing but a checkpoint shows a fork before. */
  plausible: number;
}

/** The history in which all that begins at entry k or later came a millisecond later; an entry k inside a step says so itself. */
function forkAt(log: readonly LoggedLine[], k: number, more: number): Fork {
  const entries = everyKind(more, k);
  const [is, was] = [entries[k], log[k]] as [LoggedLine, LoggedLine];
  if (is.line === was.line) {
    const line = is.line.replace(/"at":(\d+)/, (_, at: string) => `"at":${Number(at) + 1}`);
    entries[k] = { ...is, line };
  }
  const shown = { name: "shown", note: signedOver(entries) };
  const { difference } = verified(entries, { checkpoints: [shown] });
  return { entries, shown, plausible: difference?.index ?? entries.length };
}
