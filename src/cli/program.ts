import { Command } from "commander";
import { completionCommand } from "./completion.js";
import { correctCommand } from "./correct.js";
import { demoCommand } from "./demo.js";
import { getCommand } from "./get.js";
import { logCommand } from "./log.js";
import { serveCommand } from "./serve.js";
import { stageCommand } from "./stage.js";
import { statusCommand } from "./status.js";
import { withoutColours } from "./terminal/paint.js";
import { tokenCommand } from "./token.js";
import { VERSION } from "./version.js";
import { withdrawCommand } from "./withdraw.js";
import { workersCommand } from "./workers.js";

/** The whole command line, not yet told what to do. */
export function a2achanProgram(): Command {
  const program = new Command("a2achan")
    .description("A live correction channel: orchestrators steer running agents, and know what took.")
    .version(VERSION)
    .option("--no-color", "no colours, even on a terminal (also: NO_COLOR)")
    .hook("preAction", (_, command) => {
      if (command.optsWithGlobals()["color"] === false) withoutColours();
    })
    .exitOverride()
    .configureHelp({ showGlobalOptions: true });

  serveCommand(program);
  statusCommand(program);
  tokenCommand(program);
  workersCommand(program);
  getCommand(program);
  correctCommand(program);
  stageCommand(program);
  withdrawCommand(program);
  logCommand(program);
  demoCommand(program);
  completionCommand(program);
  return program;
}
