import { describe, expect, it } from "vitest";
import { tunedLimits } from "../../../src/broker/tuned-limits.js";
import { LIMITS } from "../../../src/protocol/index.js";

describe("tunedLimits", () => {
  it("are the protocol's but for what deviates", () => {
    expect(tunedLimits()).toEqual(LIMITS);
    expect(tunedLimits({ frames_burst: 7 })).toEqual({ ...LIMITS, frames_burst: 7 });
  });

  it.each([Number.POSITIVE_INFINITY, Number.NaN, -1, 0.5, "7" as unknown as number])(
    "refuses %s, which a log does not hold as it is",
    (frames_burst) => {
      expect(() => tunedLimits({ frames_burst })).toThrow("the limit frames_burst is");
    },
  );

  it("refuses the name of no limit", () => {
    expect(() => tunedLimits({ constructor: 1 } as object)).toThrow("there is no limit constructor");
  });
});
