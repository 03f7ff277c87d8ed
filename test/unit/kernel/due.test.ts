import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { DueQueue, OUTSIDE, type Due } from "../../../src/kernel/due.js";

const SLOTS = 12;

const moves = fc.array(
  fc.oneof(
    { weight: 3, arbitrary: fc.record({ put: fc.nat({ max: SLOTS - 1 }), dueAt: fc.nat({ max: 5 }) }) },
    { weight: 1, arbitrary: fc.record({ remove: fc.nat({ max: SLOTS - 1 }) }) },
    { weight: 1, arbitrary: fc.constant("take") },
  ),
  { maxLength: 80 },
);

describe("the queue of what is due", () => {
  it("gives the earliest, and of those the one of the lowest index, whatever is put in, moved or taken out between [A2C-LIFE-52]", () => {
    fc.assert(
      fc.property(moves, (story) => {
        const queue = new DueQueue<Due>();
        const all = Array.from({ length: SLOTS }, (_, index): Due => ({ dueAt: 0, index, place: OUTSIDE }));
        const inside = new Set<Due>();
        const earliest = (): Due | undefined => [...inside].sort((a, b) => a.dueAt - b.dueAt || a.index - b.index)[0];
        for (const move of story) {
          const due = move === "take" ? queue.peek() : all["put" in move ? move.put : move.remove];
          if (move !== "take" && "put" in move && due !== undefined) {
            due.dueAt = move.dueAt;
            queue.put(due);
            inside.add(due);
          } else if (due !== undefined) {
            queue.remove(due);
            inside.delete(due);
          }
          expect(queue.peek()).toBe(earliest());
          expect(all.filter(({ place }) => place !== OUTSIDE)).toHaveLength(inside.size);
        }
        for (let next = earliest(); next !== undefined; next = earliest()) {
          expect(queue.peek()).toBe(next);
          queue.remove(next);
          inside.delete(next);
        }
        expect(queue.peek()).toBeUndefined();
      }),
      { numRuns: 2_000, seed: 1 },
    );
  });
});
