import type { Refused } from "../client/index.js";
import type { Detail, Reason, WorkerStatus } from "../protocol/index.js";
import { CliError, EXIT } from "./exit.js";
import { quoted } from "./quote.js";
import { tell } from "./output.js";
import { lineCells, paint } from "./terminal/paint.js";
import { tableLines } from "./terminal/table.js";

/** One field of a row, then and now; undefined where the row has none. */
export interface Moved {
  field: string;
  cited: WorkerStatus[keyof WorkerStatus];
  current: WorkerStatus[keyof WorkerStatus];
}

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
export function tellRefusal(refused: Told, worker: string, moved: readonly Moved[]): void {
  tell(`a2achan: ${paint(nameOf(refused), "red", process.stderr)}: ${refused.advice}`);
  if (moved.length > 0) {
    const columns = [
      { title: "MOVED", cell: ({ field }: Moved) => field },
      { title: "CITED", cell: ({ cited }: Moved) => shown(cited) },
      { title: "NOW", cell: ({ current }: Moved) => shown(current) },
    ];
    tell("");
    tableLines(columns, moved, lineCells(process.stderr)).forEach((line) => tell(`  ${line}`));
    tell("");
  }
  tell(`next: ${nextCommand(refused, worker)}`);
}

/** A value of a row on one line. */
export function shown(value: WorkerStatus[keyof WorkerStatus]): string {
  if (value === undefined) return "-";
  if (typeof value !== "object") return String(value);
  return [value.summary, ...value.reflects].join(" ");
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
  INBOX_FULL: (worker) =>
    `a2achan log --worker ${worker}   (then withdraw, or --supersedes, one of its open corrections)`,
  RATE: () => "the same command, in a second",
};

const READ_AGAIN: readonly Detail[] = ["DIGEST", "SCOPE", "SUPERSEDES"];

// Never the digest of the row as it is now: whoever cites it must have read it.
function nextCommand({ detail, reason }: Omit<Told, "advice">, worker: string): string {
  const name = quoted(worker);
  const look = detail === undefined ? undefined : LOOK[detail]?.(name);
  if (look !== undefined) return look;
  if (detail !== undefined && READ_AGAIN.includes(detail))
    return `a2achan get ${name}   (read it, decide again, then correct with the digest that it shows)`;
  return reason === "OVERSIZE" || reason === "MALFORMED"
    ? "the same command with what is wrong put right"
    : `a2achan get ${name}`;
}
