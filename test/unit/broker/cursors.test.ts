import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { cursorAt, sizeOfCursor } from "../../../src/broker/cursors.js";

describe("a cursor", () => {
  it("names the size again in the log that it is of", () => {
    fc.assert(
      fc.property(fc.string(), fc.nat(), fc.nat(), (shard, size, more) => {
        expect(sizeOfCursor(cursorAt(shard, size), shard, size + more)).toBe(size);
      }),
    );
  });

  it.each([
    ["another shard", "other.3"],
    ["a size that the log has not reached", "shard.11"],
    ["no size", "shard."],
    ["a sign", "shard.-1"],
    ["a fraction", "shard.1.5"],
    ["an exponent", "shard.1e1"],
    ["blanks", "shard. 3"],
    ["too many digits", `shard.${"0".repeat(16)}`],
    ["no shard", "3"],
    ["no dot", "shard3"],
    ["nothing", ""],
  ])("that has %s names none [A2C-CUR-03]", (_what, cursor) => {
    expect(sizeOfCursor(cursor, "shard", 10)).toBeUndefined();
  });

  it("may be the start and the end of the log", () => {
    expect([sizeOfCursor("shard.0", "shard", 10), sizeOfCursor("shard.10", "shard", 10)]).toEqual([0, 10]);
  });
});
