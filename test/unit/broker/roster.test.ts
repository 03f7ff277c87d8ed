import { expect, it } from "vitest";
import { Roster } from "../../../src/broker/roster.js";
import { emptyState, evolve } from "../../../src/kernel/index.js";

it("gives the workers of a state in the order of their ids, newcomers included, from any id on", () => {
  const state = emptyState();
  const join = (worker_id: string): void => {
    evolve(state, {
      kind: "session_opened",
      at: 0,
      by: { role: "worker", subject: worker_id, token: "t" },
      worker_id,
      session: "s",
      lease_ms: 60_000,
    });
  };
  const roster = new Roster(state);
  const ids = (after?: string): string[] => [...roster.from(after)].map(({ id }) => id);
  expect(ids()).toEqual([]);
  for (const id of ["b", "a/1", "B", "a-1", "a10"]) join(id);
  expect(ids()).toEqual(["B", "a-1", "a/1", "a10", "b"]);
  join("a2");
  expect(ids("a-1")).toEqual(["a/1", "a10", "a2", "b"]);
  expect(ids("a1")).toEqual(["a10", "a2", "b"]);
  expect(ids("b")).toEqual([]);
});
