import { beforeEach, describe, expect, it } from "vitest";
import { Outbox } from "../../../src/broker/outbox.js";
import { FakeTurns } from "../../support/fake-turns.js";

let left: string[];
let outbox: Outbox;

beforeEach(() => {
  left = [];
  outbox = new Outbox(10);
});

const post = (stamp: number, name: string, then: () => void = () => {}): void =>
  outbox.post(stamp, () => {
    left.push(name);
    then();
  });

describe("the outbox [A2C-ANS-01]", () => {
  it("lets go at once of what is durable already", () => {
    post(10, "a");
    expect(left).toEqual(["a"]);
    expect(outbox.waiting).toBe(0);
  });

  it("holds what is not, and what comes behind it, in order", () => {
    post(12, "a");
    post(12, "b");
    post(13, "c");
    post(11, "d");
    expect([left, outbox.waiting]).toEqual([[], 4]);
    outbox.durable(11);
    expect(left).toEqual([]);
    outbox.durable(12);
    expect(left).toEqual(["a", "b"]);
    post(5, "e");
    outbox.durable(20);
    expect(left).toEqual(["a", "b", "c", "d", "e"]);
  });

  it("puts what a release posts behind what already waits, durable or not", () => {
    post(11, "a", () => post(11, "late", () => post(11, "later")));
    post(11, "b");
    post(12, "c");
    outbox.durable(11);
    expect(left).toEqual(["a", "b"]);
    outbox.durable(12);
    expect(left).toEqual(["a", "b", "c", "late", "later"]);
  });

  it("lets go of nothing twice when a release throws", () => {
    post(11, "a", () => {
      throw new Error("broken");
    });
    post(11, "b");
    expect(() => outbox.durable(11)).toThrow("broken");
    outbox.durable(11);
    expect(left).toEqual(["a", "b"]);
  });

  it("lets go of nothing any more once it was dropped [A2C-ANS-06]", () => {
    post(11, "a", () => outbox.drop());
    post(11, "b");
    outbox.durable(11);
    post(0, "c");
    outbox.durable(99);
    post(0, "d");
    expect([left, outbox.waiting]).toEqual([["a"], 0]);
  });

  it("lets go of 256 in a turn, and keeps the order of all, whatever comes meanwhile", () => {
    const turns = new FakeTurns();
    outbox = new Outbox(0, turns);
    const names = Array.from({ length: 600 }, (_, at) => String(at));
    for (const name of names) post(1, name);
    outbox.durable(1);
    expect(left).toHaveLength(256);
    post(0, "late");
    outbox.durable(2);
    expect(left).toHaveLength(256);
    expect(turns.passAll(() => left.length)).toEqual([256, 89]);
    expect(left).toEqual([...names, "late"]);
    post(2, "at once");
    expect(left.at(-1)).toBe("at once");
  });

  it("lets go of nothing more in a later turn once it was dropped [A2C-ANS-06]", () => {
    const turns = new FakeTurns();
    outbox = new Outbox(0, turns);
    for (let count = 0; count < 600; count += 1) post(1, "a");
    outbox.durable(1);
    outbox.drop();
    turns.pass();
    expect(left).toHaveLength(256);
  });
});
