import type { Command } from "commander";
import { isOpen } from "../protocol/index.js";
import { clientOptions, type ClientOptions } from "./client-options.js";
import { EXIT } from "./exit.js";
import { asOrchestrator, correctionIdOf } from "./orchestrator.js";
import { tell } from "./output.js";
import { quoted } from "./quote.js";
import { printStage } from "./stage.js";

export function withdrawCommand(program: Command): void {
  clientOptions(
    program
      .command("withdraw")
      .description("take a correction of yours back, as long as its worker has not received it")
      .argument("<correction>", "id of the correction", correctionIdOf),
  ).action((id: string, options: ClientOptions) =>
    asOrchestrator(options, async (orchestrator) => {
      const notice = printStage(options, await orchestrator.withdraw(id), id);
      if (notice.stage === "WITHDRAWN") return;
      tell(`a2achan: not withdrawn: it is ${notice.stage} already`);
      if (isOpen(notice.stage))
        tell(`next: a2achan correct ${quoted(notice.worker_id)} MESSAGE --supersedes ${id}   (another in its place)`);
      process.exitCode = EXIT.REFUSED;
    }),
  );
}
