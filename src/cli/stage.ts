import type { Command } from "commander";
import { isRefused, type Refused, type StageNotice } from "../client/index.js";
import { targetOptions, type TargetOptions } from "./config.js";
import { stageLine } from "./correction-story.js";
import { CliError, EXIT } from "./exit.js";
import { asOrchestrator, correctionIdOf } from "./orchestrator.js";
import { formatOption, print, printJson, type Format } from "./output.js";
import { refusedError } from "./refusal.js";

export type StageOptions = TargetOptions & { output: Format };

export function stageCommand(program: Command): void {
  targetOptions(program.command("stage"))
    .description("say where a correction of yours stands")
    .argument("<correction>", "id of the correction", correctionIdOf)
    .addOption(formatOption())
    .action((id: string, options: StageOptions) =>
      asOrchestrator(options, async (orchestrator) => void printStage(options, await orchestrator.stage(id), id)),
    );
}

/** Prints where a correction stands; throws for one that is not the caller's. */
export function printStage({ output }: StageOptions, answer: StageNotice | Refused, id: string): StageNotice {
  if (isRefused(answer)) {
    if (answer.detail !== "NO_GRANT") throw refusedError(answer);
    throw new CliError(
      `this token has sent no correction ${JSON.stringify(id)}; where the broker runs, see: a2achan log --correction ${JSON.stringify(id)}`,
      EXIT.REFUSED,
    );
  }
  if (output === "table") print(stageLine(answer));
  else printJson(output, answer);
  return answer;
}
