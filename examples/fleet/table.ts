const COLUMNS = 4;
const WIDTH = 19;

/** What the table shows beside a worker's name. */
interface Cell {
  lane?: string;
  mark?: string;
}

/** Takes news of a worker and shows them: on a terminal one table, drawn anew; elsewhere a line for each change. */
export function liveTable(): (workerId: string, news: Cell) => void {
  const { stdout } = process;
  const cells = new Map<string, Cell>();
  let height = 0;
  return (workerId, news) => {
    const before = cells.get(workerId);
    const cell = { ...before, ...news };
    if (before?.lane === cell.lane && before?.mark === cell.mark) return;
    cells.set(workerId, cell);
    if (!stdout.isTTY) return console.log(textOf([workerId, cell]));

    const texts = [...cells].map((entry) => textOf(entry).padEnd(WIDTH));
    const lines = Array.from({ length: Math.ceil(texts.length / COLUMNS) }, (_, row) =>
      texts.slice(row * COLUMNS, (row + 1) * COLUMNS).join(" "),
    );
    if (height > 0) stdout.moveCursor(0, -height);
    stdout.write(`${lines.join("\n")}\n`);
    height = lines.length;
  };
}

function textOf([workerId, { lane = "", mark = "" }]: [string, Cell]): string {
  return `${workerId} ${lane} ${mark}`.trimEnd();
}
