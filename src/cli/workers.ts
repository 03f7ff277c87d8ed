import type { Command } from "commander";
import type { WorkerFilter } from "../client/index.js";
import { clientOptions, type ClientOptions } from "./client-options.js";
import { CliError, EXIT } from "./exit.js";
import { allWorkers, asOrchestrator, idOf } from "./orchestrator.js";
import { printRecords } from "./output.js";
import { watchWorkers } from "./watch.js";
import { WORKER_COLUMNS } from "./worker-columns.js";

interface WorkersOptions extends ClientOptions {
  watch?: true;
  worker?: string;
  issue?: string;
  lane?: string;
  live?: true;
}

export function workersCommand(program: Command): void {
  clientOptions(
    program
      .command("workers")
      .description("list the workers: where each is, and what it plans next")
      .option("-w, --watch", "keep the list up to date; not on a terminal: one change a line, as jsonl")
      .option("--worker <pattern>", "only these workers ('*' stays within a segment, '**' does not)")
      .option("--issue <pattern>", "only those on these issues")
      .option("--lane <pattern>", "only those in these lanes")
      .option("--live", "only those whose row is live"),
  ).action((options: WorkersOptions, command: Command) =>
    options.watch === true
      ? watch(options, command.getOptionValueSource("output") === "cli")
      : asOrchestrator(options, async (orchestrator) => {
          printRecords(options.output, WORKER_COLUMNS, await allWorkers(orchestrator, filterOf(options)));
        }),
  );
}

function watch(options: WorkersOptions, chosen: boolean): Promise<void> {
  const live = options.output === "table" && process.stdout.isTTY && process.env["TERM"] !== "dumb";
  if (chosen && options.output !== "jsonl" && !live) {
    throw new CliError("--watch prints one change a line here; choose -o jsonl, or leave -o out", EXIT.USAGE);
  }
  return asOrchestrator(options, (orchestrator, { url }) =>
    watchWorkers(orchestrator, { filter: filterOf(options), url, live }),
  );
}

function filterOf({ worker, issue, lane, live }: WorkersOptions): WorkerFilter {
  return {
    ...(worker !== undefined && { worker_id: idOf(worker) }),
    ...(issue !== undefined && { issue: idOf(issue) }),
    ...(lane !== undefined && { lane: idOf(lane) }),
    ...(live && { live }),
  };
}
