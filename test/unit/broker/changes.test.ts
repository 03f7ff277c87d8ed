import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { Changes } from "../../../src/broker/changes.js";
import type { View } from "../../../src/protocol/index.js";

function view(worker_id: string, seq: number): View {
  const row: View["row"] = {
    schema: "a2achan.worker-status.v1",
    worker_id,
    issue: "1",
    lane: "src",
    live: true,
    seq,
  };
  return { row, status_digest: `sha256:${seq}`, liveness: "live", inbox: "open", pending: 0, lease_ms: 60_000 };
}

/** Places and workers of all changes behind a place, as a reader meets them. */
function read(changes: Changes, from: number): [number, string][] {
  const met: [number, string][] = [];
  for (let change = changes.after(from); change !== undefined; change = changes.after(change.place))
    met.push([change.place, change.view.row.worker_id]);
  return met;
}

describe("changes", () => {
  it("show a reader the latest of each worker, in the order of the latest, from wherever it reads [A2C-FRM-21]", () => {
    const worker = fc.constantFrom("a", "b", "c", "d");
    fc.assert(
      fc.property(fc.array(worker, { maxLength: 300 }), fc.nat(300), fc.nat(300), (workers, from, forgotten) => {
        const changes = new Changes();
        const latest = new Map<string, number>();
        workers.forEach((id, at) => {
          changes.add(at + 1, 0, view(id, at + 1));
          latest.set(id, at + 1);
        });
        const expected = [...latest].map(([id, place]): [number, string] => [place, id]).sort(([a], [b]) => a - b);
        expect(read(changes, from)).toEqual(expected.filter(([place]) => place > from));
        expect(changes.size).toBe(latest.size);
        changes.forget(forgotten);
        expect(read(changes, 0)).toEqual(expected.filter(([place]) => place > forgotten));
        expect(changes.size).toBe(expected.filter(([place]) => place > forgotten).length);
      }),
    );
  });

  it("keep one push for each change, whoever is told of it", () => {
    const changes = new Changes();
    changes.add(1, 0, view("a", 1));
    expect(changes.after(0)?.row).toBe(changes.after(0)?.row);
    expect(changes.after(0)?.row.frame).toEqual({ type: "row", ...view("a", 1) });
  });
});
