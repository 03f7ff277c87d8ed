import { LOOP, STEPS_A_TURN, type Turns } from "./turns.js";

export interface RoundsOptions<T> {
  /** Those to visit, in the order of a round; lets members be added and removed while it is walked. */
  members: () => Iterator<T>;
  /** Serves a member with at most `most` steps and gives the number taken, at least 1. */
  visit: (member: T, most: number) => number;
  /** Called when a round is over and no other is wanted. */
  idle: () => void;
  turns?: Turns;
}

/** Visits all members of something, however many, with a bounded number of steps in each turn of the event loop. */
export class Rounds<T> {
  readonly #options: RoundsOptions<T>;
  readonly #turns: Turns;
  #round: Iterator<T> | undefined;
  #running = false;
  #wanted = false;

  constructor(options: RoundsOptions<T>) {
    this.#options = options;
    this.#turns = options.turns ?? LOOP;
  }

  /** Has every member visited that is there now: by the round that runs, where it has not come yet, and one more. */
  wake(): void {
    this.#wanted = true;
    if (this.#running) return;
    this.#running = true;
    this.#turns.soon(() => this.#turn());
  }

  #turn(): void {
    const { members, visit, idle } = this.#options;
    let left = STEPS_A_TURN;
    while (left > 0) {
      const next = this.#round?.next();
      if (next !== undefined && next.done !== true) {
        left -= visit(next.value, left);
        continue;
      }
      this.#round = this.#wanted ? members() : undefined;
      if (this.#round === undefined) {
        this.#running = false;
        return idle();
      }
      this.#wanted = false;
    }
    this.#turns.later(() => this.#turn());
  }
}
