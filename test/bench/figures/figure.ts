import { median, quantile } from "../stats.js";

/** What every figure is told. */
export interface Setting {
  quick: boolean;
  /** Where the built broker lies, a file URL that ends in a slash. */
  dist: string;
  /** A directory for logs, on the file system that is measured. */
  scratch: string;
  /** Options of Node for every process that is measured. */
  nodeOptions: readonly string[];
}

/** One line of the table. */
export interface Figure {
  figure: string;
  what: string;
  /** At most; none where the figure stands beside another for comparison. */
  gate?: number;
  ambition?: number;
  /** Whether a miss fails the run. */
  binding: boolean;
  measured: number;
  /** First and third quartile of the rounds. */
  spread: readonly [number, number];
  rounds: number;
  /** Absolute values behind it, for a reader; they belong to one machine. */
  note?: string;
}

export function measured(values: readonly number[]): Pick<Figure, "measured" | "spread" | "rounds"> {
  return {
    measured: median(values),
    spread: [quantile(values, 0.25), quantile(values, 0.75)],
    rounds: values.length,
  };
}

/** Starts things one after the other, runs `work` with them, and stops all that was started whatever happens. */
export async function using<T>(
  work: (keep: <S extends { stop(): Promise<void> }>(starting: Promise<S>) => Promise<S>) => Promise<T>,
): Promise<T> {
  const started: { stop(): Promise<void> }[] = [];
  try {
    return await work(async (starting) => {
      const one = await starting;
      started.push(one);
      return one;
    });
  } finally {
    await Promise.allSettled(started.map((one) => one.stop()));
  }
}
