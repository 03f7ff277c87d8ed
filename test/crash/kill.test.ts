import { describe, expect, it } from "vitest";
import { runKills } from "./kills.js";

describe("a broker that is killed with -9 under load, 20 times", () => {
  it("has every answer that a client read in its log, lets every admitted correction reach its end, and never takes seq back [A2C-ANS-02] [A2C-ANS-01] [A2C-LIFE-02] [A2C-ROW-08]", async () => {
    const { faults, ...figures } = await runKills(7, 20, () => {});
    expect(faults).toEqual([]);
    expect(figures.kills).toBe(20);
    expect(figures.atStart).toBeGreaterThan(0);
    expect(figures.admitted).toBeGreaterThan(0);
    expect(figures.witnessed).toBeGreaterThan(0);
  }, 180_000);
});
