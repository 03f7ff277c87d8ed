import type { Command } from "commander";
import { isOpen } from "../protocol/index.js";
import { targetOptions } from "./config.js";
import { EXIT } from "./exit.js";
import { asOrchestrator, correctionIdOf } from "./orchestrator.js";
import { formatOption, tell } from "./output.js";
import { printStage, type StageOptions } from "./stage.js";

export function withdrawCommand(program: Command): void {
  targetOptions(program.command("withdraw"))
    .description("take a correction of yours back, as long as its worker has not received it")
    .argument("<correction>", "id of the correction", correctionIdOf)
    .addOption(formatOption())
    .action((id: string, options: StageOptions) =>
      asOrchestrator(options, async (orchestrator) => {
        const notice = printStage(options, await orchestrator.withdraw(id), id);
        if (notice.stage === "WITHDRAWN") return;
        tell(`a2achan: not withdrawn: it is ${notice.stage} already`);
        if (isOpen(notice.stage))
          tell(`next: a2achan correct ${notice.worker_id} MESSAGE --supersedes ${id}   (another in its place)`);
        process.exitCode = EXIT.REFUSED;
      }),
    );
}
