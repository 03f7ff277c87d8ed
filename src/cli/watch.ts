import { isRefused, type Orchestrator, type View, type WorkerFilter } from "../client/index.js";
import { printJson, printTable } from "./output.js";
import { refusedError } from "./refusal.js";
import { paint } from "./terminal/paint.js";
import { Screen } from "./terminal/screen.js";
import { tableLines } from "./terminal/table.js";
import { cut } from "./terminal/width.js";
import { printable } from "./terminal/printable.js";
import { WORKER_COLUMNS, countOf, inOrder } from "./worker-columns.js";

/** Changes that come together are drawn together. */
const DRAW_MS = 50;
/** How often the broker is asked for a sign of life, and how long it has for it. */
const ASK_MS = 5_000;
const ANSWER_MS = 4_000;

/** Shows the workers until it is interrupted: on the screen of a terminal, or one change a line. */
export async function watchWorkers(
  orchestrator: Orchestrator,
  { filter, url, live }: { filter: WorkerFilter; url: string; live: boolean },
): Promise<void> {
  if (live) return watchOnScreen(orchestrator, filter, url);
  for await (const change of orchestrator.workers(filter)) {
    if (isRefused(change)) throw refusedError(change);
    printJson("jsonl", change);
  }
}

async function watchOnScreen(orchestrator: Orchestrator, filter: WorkerFilter, url: string): Promise<void> {
  const views = new Map<string, View>();
  const interrupted = new AbortController();
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.once(signal, () => interrupted.abort());
  let silentSince: Date | undefined;
  let changed = new Date();
  {
    using screen = new Screen(process.stdout);
    const draw = (): void => {
      const size = { cells: screen.cells, lines: screen.lines };
      screen.draw(workersFrame([...views.values()], { ...size, url, changed, ...(silentSince && { silentSince }) }));
    };
    let drawing: NodeJS.Timeout | undefined;
    const drawSoon = (): void => {
      drawing ??= setTimeout(() => {
        drawing = undefined;
        draw();
      }, DRAW_MS);
    };
    process.stdout.on("resize", drawSoon);
    // A broker that is gone must not look like workers that do nothing.
    const ask = async (): Promise<void> => {
      try {
        await orchestrator.list({}, { limit: 1, signal: AbortSignal.timeout(ANSWER_MS) });
        silentSince = undefined;
      } catch {
        silentSince ??= new Date();
      }
      drawSoon();
    };
    const asking = setInterval(() => void ask(), ASK_MS);
    try {
      draw();
      for await (const change of orchestrator.workers(filter, { signal: interrupted.signal })) {
        if (isRefused(change)) throw refusedError(change);
        if ("gone" in change) views.delete(change.worker_id);
        else views.set(change.row.worker_id, change);
        changed = new Date();
        drawSoon();
      }
    } catch (error) {
      if (!interrupted.signal.aborted) throw error;
    } finally {
      clearInterval(asking);
      clearTimeout(drawing);
      process.stdout.off("resize", drawSoon);
    }
  }
  // What was last on the screen stays.
  printTable(WORKER_COLUMNS, inOrder([...views.values()]));
}

interface FrameOptions {
  cells: number;
  lines: number;
  url: string;
  /** When something last changed. */
  changed: Date;
  /** Since when the broker gives no answer. */
  silentSince?: Date;
}

/** What the screen shows: at most `lines` lines of at most `cells` cells. */
export function workersFrame(
  views: readonly View[],
  { cells, lines, url, changed, silentSince }: FrameOptions,
): string[] {
  const open = views.reduce((sum, { pending }) => sum + pending, 0);
  const title = `${countOf(views)}; ${open} open   changed ${timeOf(changed)}   ${printable(url)}`;
  const head =
    silentSince === undefined
      ? paint(cut(title, cells), "bold")
      : paint(
          cut(`no answer from the broker since ${timeOf(silentSince)}: this may be old   ${printable(url)}`, cells),
          "red",
        );
  if (views.length === 0) return [head, "", cut("no workers yet; one shows here when it publishes its status", cells)];
  const room = Math.max(1, lines - 3);
  const ordered = inOrder(views);
  const shown = ordered.slice(0, ordered.length > room ? room - 1 : room);
  const rest = ordered.length - shown.length;
  const more = cut(`and ${rest} more; narrow with --worker, --issue, --lane or --live`, cells);
  return [head, "", ...tableLines(WORKER_COLUMNS, shown, { cells }), ...(rest === 0 ? [] : [paint(more, "dim")])].slice(
    0,
    lines,
  );
}

function timeOf(date: Date): string {
  return date.toTimeString().slice(0, 8);
}
