#!/usr/bin/env node
import { Command, CommanderError } from "commander";
import { demoCommand } from "./demo.js";
import { CliError, EXIT } from "./exit.js";
import { logCommand } from "./log.js";
import { serveCommand } from "./serve.js";
import { tokenCommand } from "./token.js";
import { VERSION } from "./version.js";

const program = new Command("a2achan")
  .description("A live correction channel: orchestrators steer running agents, and know what took.")
  .version(VERSION)
  .exitOverride()
  .configureHelp({ showGlobalOptions: true });

serveCommand(program);
tokenCommand(program);
logCommand(program);
demoCommand(program);

// A closed pipe ends quietly: whoever read us has seen enough.
process.stdout.on("error", (error: NodeJS.ErrnoException) => {
  if (error.code === "EPIPE") process.exit(EXIT.OK);
  process.stderr.write(`a2achan: cannot write the output: ${error.message}\n`);
  process.exit(EXIT.FAILED);
});

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
