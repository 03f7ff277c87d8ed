import type { Turns } from "../../src/broker/turns.js";

/** Turns of an event loop that go on when a test says so. */
export class FakeTurns implements Turns {
  #next: (() => void)[] = [];

  soon(fn: () => void): void {
    this.#next.push(fn);
  }

  later(fn: () => void): void {
    this.#next.push(fn);
  }

  /** Whether something waits for a turn. */
  get waiting(): boolean {
    return this.#next.length > 0;
  }

  /** One turn: what waited for it, and nothing of what this asks for. */
  pass(): void {
    for (const fn of this.#next.splice(0)) fn();
  }

  /** Turns until nothing waits; gives what `count` counted in each. */
  passAll(count: () => number): number[] {
    const counts: number[] = [];
    for (let before = count(); this.waiting; before = count()) {
      this.pass();
      counts.push(count() - before);
    }
    return counts;
  }
}
