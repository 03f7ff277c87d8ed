import { describe, expect, it } from "vitest";
import { stageLine } from "../../../src/cli/correction-story.js";

const notice = { correction_id: `corr_${"1".repeat(32)}`, worker_id: "w-1", index: 24, at: 50 } as const;

describe("the line of a stage", () => {
  it("says where the reason of a decline is to be found", () => {
    expect(stageLine({ ...notice, stage: "DECLINED" })).toBe(
      `DECLINED     log entry 24    the worker will not, and said why; where the broker runs, see: a2achan explain ${notice.correction_id}`,
    );
  });

  it("says that a plan is in the words that it had before", () => {
    expect(stageLine({ ...notice, stage: "WITNESSED", echo: true })).toBe(
      "WITNESSED    log entry 24    acked, and named in its next planned action, in the words that it had before",
    );
  });
});
