import type { TextLine } from "../../kernel/index.js";
import { ENTRY_START, parseText, textLine, type LoggedLine } from "../../storage/journal/index.js";

/** What a file holds where an export has to go on; `index`: of the entry that should stand there. */
export class NoExport extends Error {
  readonly index: number;

  constructor(index: number, message: string) {
    super(message);
    this.index = index;
  }
}

/** An entry is at most 8 KiB, and a text, escaped, not much more. */
const MOST_LINE_BYTES = 65_536;
const NEWLINE = 0x0a;

/** One entry as an export holds it: its line, and behind it those of its texts. */
export function exportLines({ line, texts }: LoggedLine, withTexts: boolean): string {
  const lines = withTexts ? [line, ...texts.map(textLine)] : [line];
  return lines.map((one) => `${one}\n`).join("");
}

/**
 * The entries of an export, each once its texts have been read: nothing but one chunk and one entry is held. Each is given
 * the place at which it stands; whether it says the same of itself is for the reader to see. Throws NoExport.
 */
export async function* exportedLines(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<LoggedLine> {
  let index = -1;
  let line: string | undefined;
  let texts: TextLine[] = [];
  for await (const bytes of linesOf(chunks, () => index + 1)) {
    const text = decode(bytes, index + 1);
    if (text.startsWith(ENTRY_START)) {
      if (line !== undefined) yield { index, line, texts };
      index += 1;
      line = text;
      texts = [];
      continue;
    }
    const own = parseText(bytes);
    if (own === undefined) throw new NoExport(index + 1, "a line is neither an entry nor a text");
    if (own.index !== index) throw new NoExport(index + 1, `a text of entry ${own.index} stands behind entry ${index}`);
    texts.push(own);
  }
  if (line !== undefined) yield { index, line, texts };
}

async function* linesOf(chunks: AsyncIterable<Uint8Array>, next: () => number): AsyncGenerator<Buffer> {
  let rest: Buffer = Buffer.alloc(0);
  for await (const chunk of chunks) {
    const bytes = rest.length === 0 ? Buffer.from(chunk) : Buffer.concat([rest, chunk]);
    let start = 0;
    for (let end = bytes.indexOf(NEWLINE); end !== -1; end = bytes.indexOf(NEWLINE, start)) {
      yield bytes.subarray(start, end);
      start = end + 1;
    }
    rest = bytes.subarray(start);
    if (rest.length > MOST_LINE_BYTES) throw new NoExport(next(), `a line has more than ${MOST_LINE_BYTES} bytes`);
  }
  if (rest.length > 0) throw new NoExport(next(), "the last line does not end");
}

const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

function decode(bytes: Uint8Array, index: number): string {
  try {
    return utf8.decode(bytes);
  } catch {
    throw new NoExport(index, "a line is not UTF-8");
  }
}
