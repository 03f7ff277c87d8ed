import { describe, expect, it } from "vitest";
import { workersFrame } from "../../../src/cli/watch.js";
import { cellsOf } from "../../../src/cli/terminal/width.js";
import type { View } from "../../../src/client/index.js";
import { viewFrame } from "../../support/client-frames.js";

const changed = new Date(2026, 0, 2, 3, 4, 5);
const url = "ws://127.0.0.1:7411/v1";

function view(worker_id: string, fields: Partial<View> = {}): View {
  const next_action = {
    summary: `what ${worker_id} does next, which is told at great length and in detail`,
    reflects: [],
  };
  return { ...(viewFrame({ worker_id, next_action }) as unknown as View), ...fields };
}

describe("workersFrame", () => {
  it("shows the workers that can be corrected first, and counts all", () => {
    const views = [view("b", { pending: 2 }), view("a", { liveness: "dead" }), view("c", { liveness: "suspect" })];
    const lines = workersFrame(views, { cells: 100, lines: 24, url, changed });
    expect(lines[0]).toBe(`3 workers, 1 live, 1 suspect, 1 dead; 2 open   changed 03:04:05   ${url}`);
    expect(lines.slice(3).map((line) => line.split(" ")[0])).toEqual(["b", "c", "a"]);
  });

  it.each([
    [80, 24],
    [80, 6],
    [40, 5],
    [200, 50],
  ])("keeps to a screen of %i x %i, and says how many are not shown", (cells, lines) => {
    const views = Array.from({ length: 60 }, (_, at) => view(`worker-${at}`));
    const shown = workersFrame(views, { cells, lines, url, changed });
    expect(shown.length).toBe(lines);
    for (const line of shown) expect(cellsOf(line)).toBeLessThanOrEqual(cells);
    expect(shown.at(-1)).toContain(`and ${60 - (lines - 4)} more`);
  });

  it("says since when the broker gives no answer", () => {
    const [head] = workersFrame([view("a")], { cells: 80, lines: 24, url, changed, silentSince: changed });
    expect(head).toContain("no answer from the broker since 03:04:05: this may be old");
  });

  it("says that nobody is there yet", () => {
    expect(workersFrame([], { cells: 80, lines: 24, url, changed }).at(-1)).toContain("no workers yet");
  });
});
