import { LIMITS, type Limits, type TunableLimits } from "../protocol/index.js";

/**
 * The protocol's limits with an operator's deviations. Throws RangeError for the name of no limit, and for a value that
 * is no whole number from 0: the log says them in JSON, which has no Infinity.
 */
export function tunedLimits(deviations: Partial<TunableLimits> = {}): Limits {
  for (const [name, value] of Object.entries(deviations)) {
    if (!Object.hasOwn(LIMITS, name)) throw new RangeError(`there is no limit ${name}`);
    if (!Number.isSafeInteger(value) || value < 0)
      throw new RangeError(`the limit ${name} is ${value}; give a whole number from 0`);
  }
  return { ...LIMITS, ...deviations };
}
