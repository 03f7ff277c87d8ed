/** When work goes on: `soon` is behind what runs now, `later` is the next turn of the event loop, behind what came in. */
export interface Turns {
  soon(fn: () => void): void;
  later(fn: () => void): void;
}

export const LOOP: Turns = { soon: (fn) => process.nextTick(fn), later: (fn) => void setImmediate(fn) };

/** Steps of one turn: few enough for a turn of a few milliseconds, where each is a write to a socket. */
export const STEPS_A_TURN = 256;

/** The next turn of the event loop: what is long and not urgent makes room there for everybody else. */
export function nextTurn(): Promise<void> {
  return new Promise((resolve) => LOOP.later(resolve));
}
