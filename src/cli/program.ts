import type { Command } from "commander";
import { completionCommand } from "./completion.js";
import { correctCommand } from "./correct.js";
import { demoCommand } from "./demo.js";
import { explainCommand } from "./explain.js";
import { exportCommand } from "./export.js";
import { getCommand } from "./get.js";
import { logCommand } from "./log.js";
import { receiptCommand } from "./receipt.js";
import { redactCommand } from "./redact.js";
import { serveCommand } from "./serve.js";
import { SpokenCommand } from "./spoken-command.js";
import { stageCommand } from "./stage.js";
import { statusCommand } from "./status.js";
import { withoutColours } from "./terminal/paint.js";
import { tokenCommand } from "./token.js";
import { VERSION } from "./version.js";
import { verifyCommand } from "./verify.js";
import { withdrawCommand } from "./withdraw.js";
import { workersCommand } from "./workers.js";

const AFTER_HELP = `
Which broker, and as whom: a flag (--url, --token-file, --data), else the
environment (A2ACHAN_URL, A2ACHAN_TOKEN), else the file a2achan.config.json
(url, tokenFile, data), else the broker that runs on ./.a2achan.

Exit codes: 0 ok, 1 failure, 2 usage, 3 refused, 4 auth, 5 not witnessed,
6 timeout, 7 proof failed, 73 directory in use, 78 bad configuration.`;

/** The whole command line, not yet told what to do. */
export function a2achanProgram(): Command {
  const program = new SpokenCommand("a2achan")
    .description("A live correction channel: orchestrators steer running agents, and know what took.")
    .version(VERSION)
    .option("--no-color", "no colours, even on a terminal (also: NO_COLOR)")
    .hook("preAction", (_, command) => {
      if (command.optsWithGlobals()["color"] === false) withoutColours();
    })
    .exitOverride()
    .configureHelp({ showGlobalOptions: true })
    .addHelpText("after", AFTER_HELP);

  serveCommand(program);
  statusCommand(program);
  tokenCommand(program);
  workersCommand(program);
  getCommand(program);
  correctCommand(program);
  stageCommand(program);
  withdrawCommand(program);
  logCommand(program);
  explainCommand(program);
  verifyCommand(program);
  exportCommand(program);
  receiptCommand(program);
  redactCommand(program);
  demoCommand(program);
  completionCommand(program);
  return program;
}
