import { LOG_CHECKS } from "../../src/client/log-checks.js";
import { LogTrail } from "../../src/client/log-trail.js";
import { readCheckpoint, type ShownCheckpoint } from "../../src/client/shown-checkpoint.js";
import { A2achanError } from "../../src/client/errors.js";
import { formatVerifierKey, signCheckpoint, verifyConsistency } from "../../src/tlog/index.js";
import { LOG_SIGNER } from "../support/kernel.js";
import { leaf, RangeTree, rangesOf } from "../support/rfc6962.js";
import { Tally } from "./tally.js";

/** Of proofs so short, for logs so small, a liar tries every mix there is. */
const EVERY_MIX = { hashes: 6, size: 20 };

const logKey = formatVerifierKey(LOG_SIGNER);
const base64 = (hash: Uint8Array): string => Buffer.from(hash).toString("base64");

/** A log that can prove and sign whatever its lines make true, at any size. */
class Liar {
  readonly tree: RangeTree;
  readonly #shown = new Map<number, ShownCheckpoint>();

  constructor(leaves: readonly Uint8Array[]) {
    this.tree = new RangeTree(leaves);
  }

  shown(size: number): ShownCheckpoint {
    const known = this.#shown.get(size) ?? read(signCheckpoint(size, this.tree.root(size), LOG_SIGNER));
    this.#shown.set(size, known);
    return known;
  }
}

/**
 * Every rollback n -> k and every fork at k, k < n <= most, of a log of `lines` before the pure functions by which a client
 * holds a log to what it saw: `LogTrail`, `isConsistent` and `verifyConsistency`. The log's own key signs all of it.
 */
export function pairs(lines: readonly string[], most: number): Tally[] {
  const rollback = new Tally("rollback n -> k");
  const fork = new Tally("fork at k, at size n");
  const grown = new Tally("fork at k, grown past n");
  const honest = new Tally("honest growth, taken");
  const leaves = lines.map(leaf);
  const others = lines.map((line) => leaf(`${line} `));
  const log = new Liar(leaves);
  const sizes = (n: number): number[] => [...new Set([n + 1, lines.length])].filter((size) => size > n);
  const trails = Array.from(
    { length: most + 1 },
    (_, n) => [trailAt(log.shown(n), true), trailAt(log.shown(n))] as const,
  );

  for (let n = 0; n <= most; n += 1) {
    for (const size of sizes(n)) {
      const trail = trailAt(log.shown(n), true);
      const hashes = n === 0 ? [] : rangesOf(n, size).map((range) => base64(log.tree.hash(range)));
      const taken = !isForked(() => trail.grown(log.shown(n), proof(log.shown(size), hashes)));
      honest.count(taken && trail.kept?.size === size, () => `${n} to ${size}`);
    }
  }
  for (let k = 0; k < most; k += 1) {
    const lie = new Liar([...leaves.slice(0, k), ...others.slice(k)]);
    for (let n = k + 1; n <= most; n += 1) {
      const [pinned, trail] = trails[n] as (typeof trails)[number];
      const [kept, back, same] = [log.shown(n), log.shown(k), lie.shown(n)];
      const seen = isForked(() => pinned.welcomed(back.note)) && !isTaken(trail, kept, back, proofsBack(log, k, n));
      rollback.count(seen, () => `${n} -> ${k}`);
      fork.count(isForked(() => pinned.welcomed(same.note)) && !isTaken(trail, kept, same, [[]]), () => `${k} of ${n}`);
      for (const size of sizes(n)) {
        const caught = !isTaken(trail, kept, lie.shown(size), liesOf(log.tree, lie.tree, n, size));
        grown.count(caught, () => `${k} of ${n}, ${size} entries`);
      }
    }
  }
  return [rollback, fork, grown, honest];
}

/** A client that was shown this checkpoint; `pinned`: that knows the log's key. */
function trailAt(kept: ShownCheckpoint, pinned = false): LogTrail {
  const trail = new LogTrail(pinned ? { logKey } : {}, () => {});
  trail.keep(kept);
  return trail;
}

function read(note: string): ShownCheckpoint {
  const shown = readCheckpoint(note);
  if (shown === undefined) throw new Error(`no checkpoint: ${note}`);
  return shown;
}

const proof = (shown: ShownCheckpoint, hashes: string[]): Parameters<LogTrail["grown"]>[1] => ({
  type: "proof",
  id: "1",
  checkpoint: shown.note,
  hashes,
});

/** Whether any of the proofs makes any of the functions believe that the log grew from `kept` to `shown`. */
function isTaken(trail: LogTrail, kept: ShownCheckpoint, shown: ShownCheckpoint, proofs: Uint8Array[][]): boolean {
  const [from, to] = [kept, shown].map(({ root }) => Buffer.from(root, "base64")) as [Buffer, Buffer];
  return proofs.some((hashes) => {
    if (verifyConsistency(kept.size, shown.size, from, to, hashes)) return true;
    const said = hashes.map(base64);
    if (LOG_CHECKS?.isConsistent(kept, shown, said) !== false) return true;
    return !isForked(() => trail.grown(kept, proof(shown, said)));
  });
}

/** What there is to say for a log that has become smaller: nothing, or how it once grew. */
function proofsBack(log: Liar, k: number, n: number): Uint8Array[][] {
  return k === 0 ? [[]] : [[], rangesOf(k, n).map((range) => log.tree.hash(range))];
}

/**
 * The proofs that a liar can build for a log which leaves the one that was seen: of the log that was, of its own, nothing,
 * and mixed. The best mix is true to the old root up to n and to the new one behind it.
 */
function liesOf(log: RangeTree, lie: RangeTree, n: number, size: number): Uint8Array[][] {
  const ranges = rangesOf(n, size);
  const mixed = (isLie: (end: number, at: number) => boolean): Uint8Array[] =>
    ranges.map((range, at) => (isLie(range[1], at) ? lie : log).hash(range));
  const all = [[], mixed(() => true), mixed(() => false), mixed((end) => end > n), mixed((end) => end <= n)];
  if (n > EVERY_MIX.size || ranges.length > EVERY_MIX.hashes) return all;
  return [
    ...all,
    ...Array.from({ length: 2 ** ranges.length }, (_, mix) => mixed((_end, at) => (mix >> at) % 2 === 1)),
  ];
}

function isForked(act: () => unknown): boolean {
  try {
    act();
    return false;
  } catch (error) {
    return error instanceof A2achanError && error.code === "log_forked" && error.checkpoints?.kept !== undefined;
  }
}
