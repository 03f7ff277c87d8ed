import { describe, expect, it } from "vitest";
import type { Output } from "../../../src/cli/terminal/paint.js";
import { Progress } from "../../../src/cli/terminal/progress.js";

function stream(isTTY: boolean): { written: string[]; output: Output } {
  const written: string[] = [];
  return { written, output: { isTTY, write: (text: string) => written.push(text) > 0 } as unknown as Output };
}

describe("Progress", () => {
  it("draws one line on a terminal, ten times a second at most, and takes it away", () => {
    const { written, output } = stream(true);
    let now = 0;
    {
      using progress = new Progress("verify", output, () => now);
      progress.at(0, 0);
      now = 99;
      progress.at(0.25, 250);
      now = 100;
      progress.at(0.5, 1_234);
      now = 300;
      progress.at(undefined, 2_000);
    }
    expect(written).toEqual([
      "\r\u001b[Kverify  [                        ]   0 %  0 entries",
      "\r\u001b[Kverify  [############            ]  50 %  1,234 entries",
      "\r\u001b[Kverify  2,000 entries",
      "\r\u001b[K",
    ]);
  });

  it("writes nothing where no terminal is", () => {
    const { written, output } = stream(false);
    {
      using progress = new Progress("verify", output, () => 0);
      progress.at(0.5, 1);
    }
    expect(written).toEqual([]);
  });
});
