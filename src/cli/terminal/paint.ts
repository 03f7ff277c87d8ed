import { styleText } from "node:util";

export type Colour = "green" | "yellow" | "red" | "cyan" | "dim" | "bold";

/** A stream that is a terminal or is not. */
export type Output = NodeJS.WriteStream;

/**
 * Colours a text that is printable already, if the stream is a terminal that has colours: NO_COLOR, FORCE_COLOR and
 * TERM=dumb are heard.
 */
export function paint(text: string, colour: Colour | undefined, stream: Output = process.stdout): string {
  return colour === undefined ? text : styleText(colour, text, { stream });
}

/** No colours in this process, whatever the terminal can do. */
export function withoutColours(): void {
  delete process.env["FORCE_COLOR"];
  process.env["NO_COLOR"] = "1";
}

/** Cells of a line of the terminal; undefined where lines have no end: in a file or a pipe. */
export function lineCells(stream: Output = process.stdout): number | undefined {
  return stream.isTTY ? stream.columns || 80 : undefined;
}
