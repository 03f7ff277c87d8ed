import { getEventListeners } from "node:events";
import { describe, expect, it } from "vitest";
import { onAbort } from "../../../src/client/aborts.js";

describe("a signal that many share", () => {
  it("has one listener, and tells each who still listens", () => {
    const control = new AbortController();
    const told: number[] = [];
    const listening = Array.from({ length: 40 }, (_, at) => onAbort(control.signal, () => told.push(at)));
    expect(getEventListeners(control.signal, "abort")).toHaveLength(1);
    for (const each of listening.slice(2)) each?.[Symbol.dispose]();
    control.abort();
    expect(told).toEqual([0, 1]);
  });

  it("need not be there", () => {
    expect(onAbort(undefined, () => {})).toBeUndefined();
  });
});
