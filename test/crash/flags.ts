import { randomInt } from "node:crypto";
import { parseArgs } from "node:util";

/** Whole numbers from the command line, by name: `--seed 7`; what is not given has its default. */
export function numberFlags<T extends Record<string, number>>(defaults: T): T {
  const options = Object.fromEntries(Object.keys(defaults).map((name) => [name, { type: "string" as const }]));
  const { values } = parseArgs({ options });
  return Object.fromEntries(
    Object.entries(defaults).map(([name, usual]) => {
      const value = values[name] === undefined ? usual : Number(values[name]);
      if (!Number.isSafeInteger(value) || value < 0) throw new RangeError(`--${name} takes a whole number`);
      return [name, value];
    }),
  ) as T;
}

/** A seed for a run that names none; printed, so that the run can be had again. */
export function freshSeed(): number {
  return randomInt(0x1_0000_0000);
}
