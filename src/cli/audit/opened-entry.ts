import { decodeEntry, textAt, wireRow, type KernelEvent, type Text, type TextLine } from "../../kernel/index.js";
import { statusDigest, workerStatus, type WorkerStatus } from "../../protocol/index.js";
import { commitmentOf } from "../../storage/texts.js";

type Row = Extract<KernelEvent, { kind: "status" }>["row"];

/** Whether a text is what is committed to. */
export function opens(text: TextLine, { bytes, commitment }: Text): boolean {
  return bytes === Buffer.byteLength(text.utf8) && commitmentOf(text) === commitment;
}

/** The event of a log line with those of the texts that it commits to: any other is nobody's. */
export function openedEntry(line: string, texts: readonly TextLine[]): KernelEvent {
  const bare = decodeEntry(line);
  const own = texts.filter((text) => {
    const held = textAt(bare, text.field);
    return typeof held === "object" && opens(text, held);
  });
  return own.length === 0 ? bare : decodeEntry(line, own);
}

/** The row with its texts, proven by its digest; undefined where a text is gone, or the digest is of another row. */
export function provenRow(row: Row, digest: string): WorkerStatus | undefined {
  const read = workerStatus.safeParse(wireRow(row));
  return read.success && statusDigest(read.data) === digest ? read.data : undefined;
}
