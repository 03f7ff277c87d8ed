/** What was done to a log one way, how often, and which of it went unseen. */
export class Tally {
  readonly name: string;
  tried = 0;
  /** How often it was seen just where, or by just what, it must be. */
  placed = 0;
  readonly missed: string[] = [];

  constructor(name: string) {
    this.name = name;
  }

  /** Counts one; `what` names it, should it have been missed. */
  count(found: boolean, what: () => string, placed = found): void {
    this.tried += 1;
    if (placed) this.placed += 1;
    if (!found) this.missed.push(what());
  }
}

const COLUMNS = ["tried", "found", "placed", "missed"] as const;

/** One line for each way. */
export function tableOf(tallies: readonly Tally[]): string[] {
  const width = Math.max(...tallies.map(({ name }) => name.length));
  const line = (name: string, cells: readonly (string | number)[]): string =>
    `${name.padEnd(width)}${cells.map((cell) => String(cell).padStart(9)).join("")}`;
  return [line("", COLUMNS), ...tallies.map((tally) => line(tally.name, Object.values(figuresOf(tally))))];
}

export function figuresOf({ tried, placed, missed }: Tally): Record<(typeof COLUMNS)[number], number> {
  return { tried, found: tried - missed.length, placed, missed: missed.length };
}
