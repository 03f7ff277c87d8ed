import type { Command } from "commander";
import { isRefused, type Refused, type StageNotice } from "../client/index.js";
import { clientOptions, type ClientOptions } from "./client-options.js";
import { stageLine } from "./correction-story.js";
import { CliError, EXIT } from "./exit.js";
import { asOrchestrator, correctionIdOf } from "./orchestrator.js";
import { print, printJson } from "./output.js";
import { refusedError } from "./refusal.js";

export function stageCommand(program: Command): void {
  clientOptions(
    program
      .command("stage")
      .description("say where a correction of yours stands")
      .argument("<correction>", "id of the correction", correctionIdOf),
  ).action((id: string, options: ClientOptions) =>
    asOrchestrator(options, async (orchestrator) => void printStage(options, await orchestrator.stage(id), id)),
  );
}

/** Prints where a correction stands; throws for one that is not the caller's. */
export function printStage({ output }: ClientOptions, answer: StageNotice | Refused, id: string): StageNotice {
  if (isRefused(answer)) {
    if (answer.detail !== "NO_GRANT") throw refusedError(answer);
    throw new CliError(
      `this token has sent no correction ${id}; where the broker runs, see: a2achan log --correction ${id}`,
      EXIT.REFUSED,
    );
  }
  if (output === "table") print(stageLine(answer));
  else printJson(output, answer);
  return answer;
}
