import { describe, expect, it } from "vitest";
import { runCuts } from "./cuts.js";
import { whyNoPowerCuts } from "./disk.js";

const why = whyNoPowerCuts();
if (why !== undefined) console.warn(`power cuts are not tried: ${why}`);

describe.skipIf(why !== undefined)("a disk whose power is cut under a working broker", () => {
  it("holds every answer that a client had read by then", async () => {
    const { lost, refused, faults, ...figures } = await runCuts(7, 3, true, () => {});
    expect({ lost, refused, faults }).toEqual({ lost: [], refused: [], faults: [] });
    expect(figures.images).toBe(3);
    expect(figures.claims).toBeGreaterThan(0);
  }, 180_000);

  it("loses answers when the broker does not sync, so that this test can fail", async () => {
    const { lost, refused } = await runCuts(7, 1, false, () => {});
    expect(lost.length + refused.length).toBeGreaterThan(0);
  }, 180_000);
});
