import { beforeEach, describe, expect, it } from "vitest";
import { Leases } from "../../../src/broker/leases.js";
import { FakeClock } from "../../support/fake-clock.js";

let clock: FakeClock;
let lapsed: [string, number][];
let leases: Leases;

beforeEach(() => {
  clock = new FakeClock();
  lapsed = [];
  leases = new Leases(clock, (workerId) => lapsed.push([workerId, clock.monotonic()]));
});

describe("a lease", () => {
  it("lapses once, when its time has passed [A2C-LIVE-07]", () => {
    leases.hold("w-1", 60_000);
    clock.advance(59_999);
    expect(lapsed).toEqual([]);
    clock.advance(1);
    clock.advance(600_000);
    expect(lapsed).toEqual([["w-1", 60_000]]);
    expect(clock.pending).toBe(0);
  });

  it("runs its whole length again from the last sign of life [A2C-LIVE-03]", () => {
    leases.hold("w-1", 60_000);
    clock.advance(59_999);
    expect(leases.renew("w-1")).toBe(true);
    clock.advance(59_999);
    expect(lapsed).toEqual([]);
    clock.advance(1);
    expect(lapsed).toEqual([["w-1", 119_999]]);
  });

  it("that ran out while the process stood still waits for what came meanwhile, and no longer [A2C-LIVE-20]", () => {
    leases.hold("heard", 60_000);
    leases.hold("silent", 60_000);
    clock.freeze(3_600_000);
    clock.advance(14_999);
    leases.renew("heard");
    expect(lapsed).toEqual([]);
    clock.advance(1);
    expect(lapsed).toEqual([["silent", 3_615_000]]);
    clock.advance(59_998);
    expect(lapsed).toHaveLength(1);
    clock.advance(1);
    expect(lapsed).toEqual([
      ["silent", 3_615_000],
      ["heard", 3_674_999],
    ]);
  });

  it("is one timer, however often it is renewed", () => {
    leases.hold("w-1", 60_000);
    for (let count = 0; count < 1_000; count += 1) {
      clock.advance(59);
      leases.renew("w-1");
    }
    expect([clock.pending, lapsed]).toEqual([1, []]);
  });

  it("takes another length when it is held again, shorter or longer", () => {
    leases.hold("w-1", 900_000);
    leases.hold("w-1", 45_000);
    leases.hold("w-2", 45_000);
    leases.hold("w-2", 900_000);
    clock.advance(45_000);
    expect(lapsed).toEqual([["w-1", 45_000]]);
    clock.advance(855_000);
    expect(lapsed).toEqual([
      ["w-1", 45_000],
      ["w-2", 900_000],
    ]);
  });

  it("that is dropped, or was never held, does not lapse and cannot be renewed", () => {
    leases.hold("w-1", 60_000);
    leases.drop("w-1");
    leases.drop("w-2");
    expect([leases.renew("w-1"), leases.renew("w-2"), clock.pending]).toEqual([false, false, 0]);
  });

  it("does not care for the wall clock [A2C-LIVE-16]", () => {
    leases.hold("w-1", 60_000);
    clock.jump(86_400_000);
    clock.advance(59_999);
    clock.jump(-86_400_000);
    expect(lapsed).toEqual([]);
    clock.advance(1);
    expect(lapsed).toHaveLength(1);
  });

  it("may be taken up again while it lapses", () => {
    const again: Leases = new Leases(clock, (workerId) => {
      lapsed.push([workerId, clock.monotonic()]);
      again.hold(workerId, 10);
    });
    again.hold("w-1", 10);
    clock.advance(30);
    expect(lapsed.map(([, at]) => at)).toEqual([10, 20, 30]);
    again.clear();
    expect(clock.pending).toBe(0);
  });

  it("ends with those of a whole fleet at the same time, 256 a turn", () => {
    const ends: number[] = [];
    const counting = Object.assign(Object.create(clock) as FakeClock, {
      at: (ms: number, fn: () => void): Disposable =>
        clock.at(ms, () => {
          const before = lapsed.length;
          fn();
          ends.push(lapsed.length - before);
        }),
      monotonic: () => clock.monotonic(),
    });
    leases = new Leases(counting, (workerId) => lapsed.push([workerId, clock.monotonic()]));
    for (let at = 0; at < 600; at += 1) leases.hold(`w-${at}`, 60_000);
    expect(clock.pending).toBe(1);
    clock.advance(60_000);
    expect(ends).toEqual([256, 256, 88]);
    expect(new Set(lapsed.map(([id]) => id)).size).toBe(600);
    expect(clock.pending).toBe(0);
  });
});
