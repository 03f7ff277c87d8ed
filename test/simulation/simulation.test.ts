import { describe, expect, it } from "vitest";
import { freshSeed } from "../crash/flags.js";
import { campaign } from "./campaign.js";
import { CLAUSES, type Invariant } from "./clauses.js";
import { play, type Played } from "./schedule.js";
import { described, shrink } from "./shrink.js";

/** What 500 schedules must have met, so that it is known that they try what they are to try. */
const MET = [
  ..."admitted delivered acked witnessed unreflected declined expired withdrawn superseded stale orphaned revoked"
    .split(" ")
    .map((kind) => `entry ${kind}`),
  ..."late_ack planned refused refusals_folded grant_revoked".split(" ").map((kind) => `entry ${kind}`),
  ..."EIO ENOSPC short power kill".split(" ").map((fault) => `fault disk ${fault}`),
  ..."half-open|connection lost|network split|kill -9|power cut|broker stopped|clock jump|bit rot|takeover|client crash"
    .split("|")
    .map((fault) => `fault ${fault}`),
  ..."DEFAULT_DENY/NO_GRANT DEFAULT_DENY/REVOKED LEASE_HELD/SESSION MALFORMED/SHAPE OVERSIZE/ RATE_LIMITED/INBOX_FULL"
    .split(" ")
    .map((refusal) => `refused ${refusal}`),
  ..."UNWITNESSED/DIGEST UNWITNESSED/NOT_LIVE TRUST_VIOLATION/CORRECTION TRUST_VIOLATION/SCOPE TRUST_VIOLATION/CITED"
    .split(" ")
    .map((refusal) => `refused ${refusal}`),
  "texts redacted",
  ...["open", "current row", "no such text"].map((why) => `not redacted: ${why}`),
  "fault in an erasure",
  "erasures finished by a start",
  "logs verified",
  "torn tails set aside",
  "batches found that were not acknowledged",
  "frames doubled",
  "redelivered",
  "outcomes learned",
  "entries followed",
];

describe("500 schedules with fresh seeds", () => {
  it("hold I1 to I16, whatever happens, and have tried what they are to try", { timeout: 300_000 }, async () => {
    const { found, figures } = await campaign(freshSeed(), 500, () => {});
    const shown = found && described(await shrink(found), CLAUSES[found.violation?.invariant as Invariant]);
    expect(shown).toBeUndefined();
    expect(MET.filter((what) => (figures.get(what) ?? 0) === 0)).toEqual([]);
  });
});

describe("a schedule", () => {
  it("gives the same log, byte for byte, for the same seed, and another for another", async () => {
    const roots: string[] = [];
    for (const seed of [1, 2, 3, 4, 5]) {
      const [once, again] = [await play(seed), await play(seed)];
      expect(again).toEqual(once);
      expect(once.root).toMatch(/^[0-9a-f]{64}$/);
      roots.push(once.root);
    }
    expect(new Set(roots).size).toBe(roots.length);
  });

  it("can be played again from its steps", async () => {
    const whole = await play(6);
    expect(await play(6, whole.steps)).toEqual(whole);
    expect((await play(6, whole.steps.slice(0, 40))).story).toEqual(whole.story.slice(0, 40));
  });
});

describe("shrinking", () => {
  const played = (steps: readonly number[]): Played => ({
    seed: 1,
    steps: [...steps],
    story: steps.map((step) => `step ${step}`),
    violation: steps.includes(7) && steps.includes(41) ? { invariant: "I3", what: "it broke" } : undefined,
    root: "",
    figures: new Map(),
  });

  it("leaves the steps that the violation needs, and says how to play them again", async () => {
    const found = played(Array.from({ length: 60 }, (_, at) => at));
    const shrunk = await shrink(found, (_seed, steps = []) => Promise.resolve(played(steps)));
    expect(shrunk.steps).toEqual([7, 41]);
    expect(described(shrunk, "Rows are cited.")).toBe(
      "seed 1 breaks I3: it broke\n  I3: Rows are cited.\n  1. step 7\n  2. step 41\n  again: npm run sim -- --seed 1 --steps 7,41",
    );
  });
});
