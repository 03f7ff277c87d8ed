import { DamagedLog } from "../../src/storage/journal/index.js";
import { readHead } from "../../src/storage/journal/head.js";
import { BLANK, parseText } from "../../src/storage/journal/lines.js";
import { FakeClock } from "../support/fake-clock.js";
import { HEAD, segmentsOf } from "../support/journal-scenes.js";
import type { Random } from "../support/random.js";
import { SimDisk } from "../support/sim-files.js";
import { DIRECTORY, openJournal } from "./broker-process.js";
import type { Report } from "./clauses.js";
import { ProcessClock } from "./process-clock.js";

const NEWLINE = 0x0a;
/** Every other bit is of the last bytes below the head, where nothing whole that follows would give the damage away. */
const LAST_BYTES = 512;

/**
 * I9: a log of which one bit below the durable head has turned is refused, unless the bit was of an erased text. Tried on
 * a copy; false where there is nothing yet that could turn.
 */
export async function i9Refused(disk: SimDisk, random: Random, report: Report): Promise<boolean> {
  const copy = SimDisk.of(disk.contents());
  const head = await readHead(copy, HEAD);
  const segments = segmentsOf(copy);
  const end = head === undefined ? 0 : endOf(segments, head.size);
  if (end === 0) return false;
  let at = random(2) === 0 ? random(end) : end - 1 - random(Math.min(end, LAST_BYTES));
  let ordinal = 0;
  for (; at >= (segments[ordinal]?.length ?? 0); ordinal += 1) at -= segments[ordinal]?.length ?? 0;
  const bytes = Buffer.from(segments[ordinal] ?? []);
  if (isErased(bytes, at)) return false;
  bytes[at] = (bytes[at] ?? 0) ^ (1 << random(8));
  copy.put(`${DIRECTORY}/${String(ordinal).padStart(8, "0")}.jsonl`, bytes);
  try {
    const journal = await openJournal(copy, new ProcessClock(new FakeClock()));
    report("I9", `byte ${at} of segment ${ordinal} turned, and the log of ${journal.size()} entries is taken up`);
  } catch (error) {
    if (!(error instanceof DamagedLog)) report("I9", `a turned bit gives ${String(error)}`);
  }
  return true;
}

/** Whether a byte is of a text that is erased, wholly or half, or the newline between two of them. */
function isErased(bytes: Buffer, at: number): boolean {
  const lineAt = (byte: number): Buffer =>
    bytes.subarray(bytes.lastIndexOf("\n", byte - 1) + 1, bytes.indexOf("\n", byte) + 1);
  return [at, at + (bytes[at] === NEWLINE ? 1 : 0)].every((byte) => {
    const line = lineAt(byte);
    return (
      line[0] === BLANK || (line.toString().startsWith('{"text":') && parseText(line.subarray(0, -1)) === undefined)
    );
  });
}

/** Where the batch that ends at `size` entries ends, in the bytes of all segments; 0 where there is none. */
function endOf(segments: readonly Buffer[], size: number): number {
  let at = 0;
  for (const line of Buffer.concat(segments).toString("latin1").split("\n")) {
    at += line.length + 1;
    if (Number(/^\{"batch":.*"size":(\d+)/.exec(line)?.[1]) === size) return at;
  }
  return 0;
}
