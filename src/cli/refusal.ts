import type { MovedField, Refused } from "../client/index.js";
import type { Detail, NextAction, Reason } from "../protocol/index.js";
import { CliError, EXIT } from "./exit.js";
import { quoted } from "./quote.js";
import { tell, tellAtLength } from "./output.js";
import { paint } from "./terminal/paint.js";
import { tableLines, type Column } from "./terminal/table.js";

/** What a refusal is told by. */
interface Told {
  reason: Reason;
  detail?: Detail;
  advice: string;
}

/** A refusal as an end of the command, where nothing can have moved. */
export function refusedError(refused: Refused): CliError {
  return new CliError(`${nameOf(refused)}: ${refused.advice}`, EXIT.REFUSED);
}

/** Tells a person why a correction was refused, what moved, and which command comes next. */
export function tellRefusal(refused: Told, worker: string, moved: readonly MovedField[], note?: string): void {
  tell(`a2achan: ${paint(nameOf(refused), "red", process.stderr)}`);
  tellAtLength(refused.advice);
  if (note !== undefined) tellAtLength(note);
  if (moved.length > 0) {
    tell("");
    tableLines(MOVED_COLUMNS, moved.flatMap(movedTexts), { stream: process.stderr }).forEach(tell);
    tell("");
  }
  tell(`next: ${nextCommand(refused, worker)}`);
}

type MovedText = readonly [name: string, cited: string | undefined, current: string | undefined];

const MOVED_COLUMNS: readonly Column<MovedText>[] = [
  { title: "MOVED", cell: ([name]) => name },
  { title: "CITED", cell: ([, cited]) => cited },
  { title: "NOW", cell: ([, , current]) => current },
];

/** What moved, as texts; of a planned action each part that moved. */
function movedTexts({ field, cited, current }: MovedField): MovedText[] {
  if (field !== "next_action") return [[field, textOf(cited), textOf(current)]];
  const [was, is] = [cited, current] as (NextAction | undefined)[];
  const parts: MovedText[] = [
    ["next_action", was?.summary, is?.summary],
    ["reflects", was?.reflects.join(" "), is?.reflects.join(" ")],
  ];
  return parts.filter(([, before, after]) => before !== after);
}

function textOf(value: MovedField["cited"]): string | undefined {
  return value === undefined || typeof value === "object" ? undefined : String(value);
}

function nameOf({ reason, detail }: Omit<Told, "advice">): string {
  return `refused with ${reason}${detail === undefined ? "" : `/${detail}`}`;
}

const LOOK: Partial<Record<Detail, (worker: string) => string>> = {
  NO_ROW: () => "a2achan workers",
  NOT_LIVE: () => "a2achan workers --watch",
  ENDED: () => "a2achan workers",
  NO_GRANT: () => "a2achan token list   (where the broker runs)",
  REVOKED: () => "a2achan token add   (where the broker runs)",
  INBOX_FULL: () => "a2achan status   (where the broker runs; then withdraw, or --supersedes, what is open)",
  RATE: () => "the same command, in a second",
};

const READ_AGAIN: readonly Detail[] = ["DIGEST", "SCOPE", "SUPERSEDES"];

// Never the digest of the row as it is now: whoever cites it must have read it.
function nextCommand({ detail, reason }: Omit<Told, "advice">, worker: string): string {
  const name = quoted(worker);
  const look = detail === undefined ? undefined : LOOK[detail]?.(name);
  if (look !== undefined) return look;
  if (detail !== undefined && READ_AGAIN.includes(detail))
    return `a2achan get ${name}   (then decide again, and correct with its digest)`;
  return reason === "OVERSIZE" || reason === "MALFORMED"
    ? "the same command with what is wrong put right"
    : `a2achan get ${name}`;
}
