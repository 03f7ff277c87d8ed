import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { runFuzz, type Figures } from "./fuzz.js";

const SEEDS = 1_000;
const FRAMES = 100;

describe("100,000 fuzzed msgpack frames", () => {
  it("throw nothing past the boundary, and scanner, decoder and reference agree on each [A2C-FRM-43] [A2C-FRM-44]", () => {
    const figures: Figures = { frames: 0, taken: 0, refused: 0, closed: 0 };
    fc.assert(
      fc.property(fc.nat({ max: 0x7fff_ffff }), (seed) => runFuzz(seed, FRAMES, figures)),
      { numRuns: SEEDS },
    );
    expect(figures.frames).toBe(SEEDS * FRAMES);
    // Frames of every outcome, none of them rare.
    for (const outcome of ["taken", "refused", "closed"] as const) {
      expect(figures[outcome], outcome).toBeGreaterThan(figures.frames / 20);
    }
  }, 180_000);
});
