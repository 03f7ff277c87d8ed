import { CliError } from "../exit.js";
import { print } from "../output.js";

/** Tells the demo's story and checks it: what happens must be what is told. */
export class Narrator {
  #steps = 0;
  #chapters = 0;

  chapter(title: string): void {
    if (this.#chapters > 0) print("");
    this.#chapters += 1;
    print(title);
  }

  say(line: string): void {
    print(`  ${line}`);
  }

  /** A line of a table: what, and what it means. */
  row(what: string, meaning: string): void {
    print(`    ${what.padEnd(26)} ${meaning}`);
  }

  /** Goes on if `actual` is `expected`; otherwise the demo has failed. */
  check(what: string, actual: unknown, expected: unknown): void {
    const [is, wanted] = [JSON.stringify(actual), JSON.stringify(expected)];
    if (is !== wanted) throw new CliError(`the demo went wrong: ${what} was ${is}, not ${wanted}`);
    this.#steps += 1;
  }

  get steps(): number {
    return this.#steps;
  }
}
