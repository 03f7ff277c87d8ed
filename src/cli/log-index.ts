import { InvalidArgumentError } from "commander";

/** The index of a log entry, as an option of the command line. */
export function parseIndex(value: string): number {
  if (/^(?:0|[1-9]\d{0,14})$/.test(value)) return Number(value);
  throw new InvalidArgumentError("an index is a whole number from 0.");
}
