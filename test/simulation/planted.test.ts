import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { projectRoot } from "../support/source-files.js";
import { hunt } from "./plant.js";
import { PLANTED, type Planted } from "./planted.js";

describe("the planted bugs", () => {
  it("are at least 20, each of a name of its own", () => {
    expect(PLANTED.length).toBeGreaterThanOrEqual(20);
    expect(new Set(PLANTED.map(({ name }) => name)).size).toBe(PLANTED.length);
  });

  it.each(PLANTED)("have one place in the sources: $name", ({ file, find, replace }) => {
    const parts = readFileSync(join(projectRoot, file), "utf8").split(find);
    expect(parts).toHaveLength(2);
    expect(replace).not.toBe(find);
  });

  it("are found, each in a copy of the project and a process of its own", { timeout: 120_000 }, async () => {
    const [first] = PLANTED as readonly [Planted, ...Planted[]];
    const { invariant } = await hunt(first, 7, 100);
    expect(invariant).toBe(first.invariant);
  });

  it("are what is found: the sources as they are show nothing", { timeout: 120_000 }, async () => {
    const [first] = PLANTED as readonly [Planted, ...Planted[]];
    expect(await hunt({ ...first, replace: `${first.find} // as it is\n` }, 7, 2)).toEqual({ schedules: 2 });
  });
});
