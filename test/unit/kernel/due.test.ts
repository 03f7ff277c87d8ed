import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { DueQueue, type Due } from "../../../src/kernel/due.js";

const due: fc.Arbitrary<Due> = fc
  .record({ at: fc.nat({ max: 5 }), index: fc.nat({ max: 99 }) })
  .map(({ at, index }) => ({ at, index, kind: "correction", id: `${at}/${index}` }));
const order = (a: Due, b: Due): number => a.at - b.at || a.index - b.index;

describe("the queue of what is due", () => {
  it("gives the earliest, and of those the one of the lowest index, whatever comes in between [A2C-LIFE-52]", () => {
    fc.assert(
      fc.property(fc.array(fc.option(due, { freq: 3 }), { maxLength: 60 }), (moves) => {
        const queue = new DueQueue();
        const plain: Due[] = [];
        for (const move of moves) {
          if (move !== null) {
            queue.push(move);
            plain.push(move);
            plain.sort(order);
          }
          expect(queue.peek()).toEqual(plain[0]);
          const [taken, expected] = move === null ? [queue.pop(), plain.shift()] : [];
          expect(taken).toEqual(expected);
        }
        for (const left of plain) expect(queue.pop()).toEqual(left);
        expect(queue.pop()).toBeUndefined();
      }),
      { numRuns: 2_000, seed: 1 },
    );
  });
});
