import { BROKER } from "./planted/broker.js";
import { CLIENT } from "./planted/client.js";
import { KERNEL } from "./planted/kernel.js";
import { STORAGE } from "./planted/storage.js";

/** A bug that is put into a copy of the sources: `find` stands there once. */
export interface Planted {
  name: string;
  file: string;
  find: string;
  replace: string;
  /** What finds it first: an invariant, or another rule of the log. */
  invariant: string;
}

/** Bugs of every part of the product that the simulator must find, each within 500 schedules. */
export const PLANTED: readonly Planted[] = [...KERNEL, ...BROKER, ...STORAGE, ...CLIENT];
