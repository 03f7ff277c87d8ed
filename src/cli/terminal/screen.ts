import type { Output } from "./paint.js";

const ENTER = "\u001b[?1049h\u001b[?25l\u001b[?7l";
const LEAVE = "\u001b[?7h\u001b[?25h\u001b[?1049l";
const HOME = "\u001b[H";
const CLEAR_LINE = "\u001b[K";
const CLEAR_BELOW = "\u001b[J";

/** The whole screen of a terminal, drawn anew in place; what was on it before comes back when this is disposed. */
export class Screen implements Disposable {
  readonly #stream: Output;
  readonly #leave: () => void;

  constructor(stream: Output) {
    this.#stream = stream;
    this.#leave = () => void stream.write(LEAVE);
    // However the process ends, its terminal is left as it was.
    process.once("exit", this.#leave);
    stream.write(ENTER);
  }

  get cells(): number {
    return this.#stream.columns || 80;
  }

  get lines(): number {
    return this.#stream.rows || 24;
  }

  /**
   * Draws these lines, which fit the screen, and nothing else. A line is cleared before it is written: behind a full one
   * the cursor stands on its last cell.
   */
  draw(lines: readonly string[]): void {
    this.#stream.write(
      HOME +
        lines.map((line) => CLEAR_LINE + line).join("\r\n") +
        (lines.length < this.lines ? `\r\n${CLEAR_BELOW}` : ""),
    );
  }

  [Symbol.dispose](): void {
    process.off("exit", this.#leave);
    this.#leave();
  }
}
