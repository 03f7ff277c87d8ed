import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { LogTime, systemClock } from "../../../src/broker/clock.js";
import { FakeClock } from "../../support/fake-clock.js";

const WALL = 1_800_000_000_000;

describe("log time [A2C-LIVE-15]", () => {
  it("is the wall clock where that runs like the monotonic one", () => {
    const clock = new FakeClock(WALL);
    const time = new LogTime(clock, 0);
    expect(time.now()).toBe(WALL);
    clock.advance(1_234);
    expect(time.now()).toBe(WALL + 1_234);
  });

  it("goes on from the last entry of the log where the wall clock is behind it", () => {
    const clock = new FakeClock(WALL);
    const time = new LogTime(clock, WALL + 60_000);
    expect(time.now()).toBe(WALL + 60_000);
    clock.advance(500);
    expect(time.now()).toBe(WALL + 60_500);
  });

  it("follows a jump forward, and after a jump back the time that passes", () => {
    const clock = new FakeClock(WALL);
    const time = new LogTime(clock, 0);
    clock.jump(86_400_000);
    expect(time.now()).toBe(WALL + 86_400_000);
    clock.jump(-2 * 86_400_000);
    expect(time.now()).toBe(WALL + 86_400_000);
    clock.advance(10);
    expect(time.now()).toBe(WALL + 86_400_010);
  });

  it("never decreases, is whole, not behind the wall clock nor behind the time that passed", () => {
    const move = fc.oneof(
      fc.record({ jump: fc.integer({ min: -1e9, max: 1e9 }) }),
      fc.record({ pass: fc.double({ min: 0, max: 1e6, noNaN: true }) }),
    );
    fc.assert(
      fc.property(fc.array(move), fc.nat({ max: 2 * WALL }), (moves, last) => {
        const clock = new FakeClock(WALL);
        const time = new LogTime(clock, last);
        let before = time.now();
        const [start, begun] = [before, clock.monotonic()];
        expect(before).toBe(Math.max(last, WALL));
        for (const next of moves) {
          if ("jump" in next) clock.jump(next.jump);
          else clock.advance(next.pass);
          const now = time.now();
          expect(Number.isSafeInteger(now)).toBe(true);
          expect(now).toBeGreaterThanOrEqual(before);
          expect(now).toBeGreaterThanOrEqual(Math.floor(clock.now()));
          expect(now).toBeGreaterThanOrEqual(start + Math.floor(clock.monotonic() - begun) - 1);
          before = now;
        }
      }),
    );
  });

  it("loses no fraction of a millisecond, however often it is asked", () => {
    const clock = new FakeClock(WALL);
    const time = new LogTime(clock, WALL + 60_000);
    for (let count = 0; count < 1_000; count += 1) {
      clock.advance(0.75);
      time.now();
    }
    expect(time.now()).toBe(WALL + 60_750);
  });
});

describe("the system's clock", () => {
  it("fires what is due at once in a later turn, and nothing that was disposed", async () => {
    const fired: string[] = [];
    const second = new Promise<void>((resolve) => {
      systemClock.at(-1, () => fired.push("first"));
      systemClock.at(0, () => fired.push("disposed"))[Symbol.dispose]();
      systemClock.at(1, resolve);
    });
    expect(fired).toEqual([]);
    await second;
    expect(fired).toEqual(["first"]);
  });

  it("takes times that setTimeout would not", () => {
    const far = systemClock.at(Number.MAX_SAFE_INTEGER, () => expect.unreachable());
    far[Symbol.dispose]();
    expect(systemClock.monotonic()).toBeLessThanOrEqual(systemClock.monotonic());
    expect(Number.isSafeInteger(systemClock.now())).toBe(true);
  });
});
