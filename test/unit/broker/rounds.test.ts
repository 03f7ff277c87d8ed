import { beforeEach, describe, expect, it } from "vitest";
import { Rounds } from "../../../src/broker/rounds.js";
import { FakeTurns } from "../../support/fake-turns.js";

const A_TURN = 256;

let turns: FakeTurns;
let members: Set<number>;
let visited: number[];
let idle: number;
let steps: (member: number, most: number) => number;
let rounds: Rounds<number>;

beforeEach(() => {
  turns = new FakeTurns();
  members = new Set(Array.from({ length: 1_000 }, (_, at) => at));
  visited = [];
  idle = 0;
  steps = () => 1;
  rounds = new Rounds<number>({
    members: () => members.values(),
    visit: (member, most) => {
      visited.push(member);
      return steps(member, most);
    },
    idle: () => {
      idle += 1;
    },
    turns,
  });
});

describe("rounds", () => {
  it("visit every member once, 256 a turn, and then nobody", () => {
    rounds.wake();
    expect(visited).toEqual([]);
    expect(turns.passAll(() => visited.length)).toEqual([256, 256, 256, 232]);
    expect(visited).toEqual([...members]);
    expect([idle, turns.waiting]).toEqual([1, false]);
  });

  it("take as many turns as the steps that visits need, and never allow more than are left", () => {
    const allowed: number[] = [];
    steps = (_, most) => {
      allowed.push(most);
      return Math.min(100, most);
    };
    rounds.wake();
    turns.pass();
    expect(allowed).toEqual([256, 156, 56]);
    turns.pass();
    expect(allowed).toEqual([256, 156, 56, 256, 156, 56]);
  });

  it("go once more round all of them when woken on the way, however often", () => {
    rounds.wake();
    turns.pass();
    for (let count = 0; count < 5; count += 1) rounds.wake();
    expect(Math.max(...turns.passAll(() => visited.length))).toBeLessThanOrEqual(A_TURN);
    expect(visited).toEqual([...members, ...members]);
    expect(idle).toBe(1);
  });

  it("visit whoever comes on the way, and nobody who has gone", () => {
    rounds.wake();
    turns.pass();
    members.delete(999);
    members.add(2_000);
    turns.passAll(() => visited.length);
    expect(visited).not.toContain(999);
    expect(visited.at(-1)).toBe(2_000);
  });

  it("of nobody end at once, and begin again when woken", () => {
    members.clear();
    rounds.wake();
    turns.pass();
    expect([idle, turns.waiting]).toEqual([1, false]);
    members.add(7);
    rounds.wake();
    turns.pass();
    expect([visited, idle]).toEqual([[7], 2]);
  });
});
