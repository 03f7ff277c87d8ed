import { describe, expect, it } from "vitest";
import { runChaos } from "./run.js";

describe("clients whose lines split to single bytes, hold back, break and come twice", () => {
  it("are handed each correction once and in order, told each stage once and in order, and every correction ends [A2C-ADM-38] [A2C-LIFE-02]", async () => {
    const { faults, breaks, ...figures } = await runChaos(7, 1, () => {});
    expect(faults).toEqual([]);
    expect(figures.corrections).toBe(72);
    expect(figures.connections).toBeGreaterThan(10);
    expect(figures.twins).toBeGreaterThan(0);
    expect(figures.split).toBeGreaterThan(0);
    expect(figures.replayed).toBeGreaterThan(0);
    expect(Object.keys(breaks).length).toBeGreaterThan(2);
  }, 120_000);
});
