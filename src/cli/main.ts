#!/usr/bin/env node
import { Command, CommanderError } from "commander";
import { completionCommand } from "./completion.js";
import { correctCommand } from "./correct.js";
import { demoCommand } from "./demo.js";
import { CliError, EXIT } from "./exit.js";
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

// A closed pipe ends quietly: whoever read us has seen enough.
process.stdout.on("error", (error: NodeJS.ErrnoException) => {
  if (error.code === "EPIPE") process.exit(EXIT.OK);
  process.stderr.write(`a2achan: cannot write the output: ${error.message}\n`);
  process.exit(EXIT.FAILED);
});

// Nobody is there to be told.
process.stderr.on("error", () => {});

// What nobody waited for is told like all else: in a sentence, without a stack.
process.on("uncaughtException", (error) => process.exit(report(error)));

try {
  await program.parseAsync();
} catch (error) {
  process.exitCode = report(error);
}

function report(error: unknown): number {
  // commander has already said what is wrong with the words of the call.
  if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.OK : EXIT.USAGE;
  const sentence = error instanceof Error ? error.message : String(error);
  process.stderr.write(`a2achan: ${sentence}\n`);
  return error instanceof CliError ? error.exitCode : EXIT.FAILED;
}
