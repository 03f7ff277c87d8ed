import type { Output } from "./paint.js";

const BAR_CELLS = 24;
/** Drawn so often at most. */
const EVERY_MS = 100;

/** How far long work has come, on one line of a terminal that is gone when this is disposed; nothing elsewhere. */
export class Progress implements Disposable {
  readonly #stream: Output;
  readonly #what: string;
  readonly #now: () => number;
  #drawnAt = Number.NEGATIVE_INFINITY;
  #drawn = false;

  constructor(what: string, stream: Output = process.stderr, now: () => number = () => performance.now()) {
    this.#what = what;
    this.#stream = stream;
    this.#now = now;
  }

  /** `share` is 0 to 1; undefined where the end is not known. */
  at(share: number | undefined, entries: number): void {
    if (!this.#stream.isTTY) return;
    const now = this.#now();
    if (now - this.#drawnAt < EVERY_MS) return;
    this.#drawnAt = now;
    this.#drawn = true;
    const count = `${entries.toLocaleString("en-US")} entries`;
    this.#stream.write(`\r\u001b[K${this.#what}  ${share === undefined ? "" : `${bar(share)}  `}${count}`);
  }

  [Symbol.dispose](): void {
    if (this.#drawn) this.#stream.write("\r\u001b[K");
  }
}

function bar(share: number): string {
  const whole = Math.min(1, Math.max(0, share));
  const full = Math.round(whole * BAR_CELLS);
  return `[${"#".repeat(full)}${" ".repeat(BAR_CELLS - full)}] ${String(Math.floor(whole * 100)).padStart(3)} %`;
}
