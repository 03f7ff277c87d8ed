import { describe, expect, it } from "vitest";
import { everyKind } from "../support/every-kind.js";
import { randomFrom } from "../support/random.js";
import { byClient } from "./by-client.js";
import { byVerify } from "./by-verify.js";
import { pairs } from "./pairs.js";
import { singleEntries } from "./single-entry.js";
import { figuresOf, type Tally } from "./tally.js";

const SEED = 20_261_130;
const LOG = everyKind();
const LINES = LOG.map(({ line }) => line);

const every = (tried: number) => ({ tried, found: tried, placed: tried, missed: 0 });
const figures = (tallies: readonly Tally[]) =>
  Object.fromEntries(tallies.map((tally) => [tally.name, figuresOf(tally)]));

describe("what whoever holds a log can do to it is seen (the short form of npm run tamper)", () => {
  it("each change, deletion, swap and insertion of one entry, and each truncation", () => {
    const tallies = singleEntries(LOG);
    expect(tallies.flatMap(({ missed }) => missed)).toEqual([]);
    expect(figures(tallies)).toEqual({
      "one byte": every(LOG.length),
      "another time": every(LOG.length),
      "inserted twice": every(LOG.length),
      truncated: every(LOG.length),
      deleted: every(LOG.length),
      swapped: every(LOG.length - 1),
    });
  });

  it("each rollback and fork, by the functions that hold a log to what was seen, whatever it proves", () => {
    const tallies = pairs(LINES, 16);
    expect(tallies.flatMap(({ missed }) => missed)).toEqual([]);
    expect(figures(tallies)).toEqual({
      "rollback n -> k": every(136),
      "fork at k, at size n": every(136),
      "fork at k, grown past n": every(272),
      "honest growth, taken": every(34),
    });
  });

  it("rollbacks and forks, by verify with an older checkpoint", () => {
    const tallies = byVerify(0, [1, 2, 3, 8, 21, 40, LOG.length]);
    expect(tallies.flatMap(({ missed }) => missed)).toEqual([]);
    expect(figures(tallies)).toEqual({
      "rollback n -> k, verify": every(22),
      "fork at k, verify": every(13),
      "the same, also by replay": every(9),
    });
  });

  it("rollbacks and forks, by clients of every role that come back [A2C-PRV-11] [A2C-PRV-12] [A2C-PRV-13]", async () => {
    const tallies = await byClient(LINES, LINES.length - 1, 40, randomFrom(SEED));
    expect(tallies.flatMap(({ missed }) => missed)).toEqual([]);
    expect(figures(tallies)).toEqual({ "rollback n -> k, client": every(18), "fork at k, client": every(22) });
  });
});
