import type { Command } from "commander";
import { CorrectionFinder } from "./audit/correction-file.js";
import { DurableLog } from "./audit/durable-log.js";
import { printExplanation } from "./audit/explanation.js";
import { DATA_HELP, dataPath } from "./config.js";
import { CliError } from "./exit.js";
import { correctionIdOf } from "./orchestrator.js";
import { formatOption, type Format } from "./output.js";
import { Progress } from "./terminal/progress.js";

interface ExplainOptions {
  data?: string;
  head?: string;
  output: Format;
}

export function explainCommand(program: Command): void {
  program
    .command("explain")
    .description("tell the whole story of one correction, with the row that it cited and how to check all of it")
    .argument("<correction>", "id of the correction", correctionIdOf)
    .option("--data <dir>", DATA_HELP)
    .option("--head <file>", "where the durable head is kept, if not in the data directory")
    .addOption(formatOption())
    .action((correction: string, options: ExplainOptions) => explain(correction, options));
}

async function explain(id: string, { data, head, output }: ExplainOptions): Promise<void> {
  const log = await DurableLog.open(dataPath(data), head);
  const finder = new CorrectionFinder(id);
  using progress = new Progress("explain");
  await log.read((entry) => {
    finder.take(entry);
    progress.at(entry.index / log.size, entry.index + 1);
  });
  progress[Symbol.dispose]();
  if (finder.file === undefined)
    throw new CliError(`no correction ${id} is in the log; see: a2achan log --kind admitted`);
  printExplanation(output, finder.file, { data: dataPath(data), log_key: log.logKey });
}
