import { describe, expect, it } from "vitest";
import { runStorm } from "./storm.js";

describe("a storm of 200 workers, the short form of 2,000, whose broker is killed with -9", () => {
  it("comes back complete by itself: every row is live, and every open correction delivered and witnessed [A2C-ANS-02] [A2C-LIFE-02]", async () => {
    const { faults, ...figures } = await runStorm(200, () => {});
    expect(faults).toEqual([]);
    expect(figures).toMatchObject({ workers: 200, orchestrators: 10, open: 200, taken: 100 });
  }, 120_000);
});
