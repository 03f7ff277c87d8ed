import { beforeEach, describe, expect, it } from "vitest";
import type { WebSocket } from "ws";
import { LIMITS } from "../../../src/protocol/index.js";
import { Pings, type Pinged } from "../../../src/transport/pings.js";
import { FakeClock } from "../../support/fake-clock.js";

const FLEET = 1_000;
/** A sixty-fourth of the fleet, and what the steps of the golden ratio may be off by. */
const A_TURN = 17;

let clock: FakeClock;
let pings: Pings;
let pinged: number[];
let cut: number[];
let perTurn: number[];

beforeEach(() => {
  clock = new FakeClock();
  [pinged, cut, perTurn] = [[], [], []];
  const counting = {
    now: () => clock.now(),
    monotonic: () => clock.monotonic(),
    at: (ms: number, fn: () => void) =>
      clock.at(ms, () => {
        const before = pinged.length;
        fn();
        perTurn.push(pinged.length - before);
      }),
  };
  pings = new Pings(counting, LIMITS);
});

/** A connection that notes when it is pinged and cut. */
function connection(name: number): Pinged {
  const socket = { OPEN: 1, readyState: 1, ping: () => pinged.push(name), terminate: () => cut.push(name) };
  return pings.add(socket as unknown as WebSocket);
}

describe("pings", () => {
  it("go to every connection once an interval, a small part of them in each turn [A2C-FRM-40]", () => {
    const all = Array.from({ length: FLEET }, (_, at) => connection(at));
    for (let interval = 1; interval <= 3; interval += 1) {
      clock.advance(15_000);
      expect(pinged).toHaveLength(interval * FLEET);
      expect(new Set(pinged.slice(-FLEET)).size).toBe(FLEET);
      for (const one of all) one.missed = 0;
    }
    expect(Math.max(...perTurn)).toBeLessThanOrEqual(A_TURN);
    expect(clock.pending).toBe(1);
    for (const one of all) pings.remove(one);
    expect([clock.pending, cut]).toEqual([0, []]);
  });

  it("cut a connection that has missed two of them, and no other [A2C-FRM-40]", () => {
    const [silent, heard] = [connection(1), connection(2)];
    for (let interval = 0; interval < 3; interval += 1) {
      clock.advance(15_000);
      heard.missed = 0;
    }
    expect([silent.missed, cut]).toEqual([2, [1]]);
    expect(pinged.filter((name) => name === 1)).toHaveLength(2);
    pings.remove(silent);
    pings.remove(silent);
    pings.remove(heard);
    expect(clock.pending).toBe(0);
  });
});
