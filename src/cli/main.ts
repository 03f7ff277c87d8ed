#!/usr/bin/env node
import { CommanderError } from "commander";
import { CliError, EXIT } from "./exit.js";
import { allocateYoung } from "./heap.js";
import { a2achanProgram } from "./program.js";
import { printable } from "./terminal/printable.js";

allocateYoung();

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
  await a2achanProgram().parseAsync();
} catch (error) {
  process.exitCode = report(error);
}

function report(error: unknown): number {
  // Help was asked for and given, or given where no command was named.
  if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.OK : EXIT.USAGE;
  const sentence = error instanceof Error ? error.message : String(error);
  // A sentence can hold what a broker said.
  process.stderr.write(`a2achan: ${printable(sentence)}\n`);
  return error instanceof CliError ? error.exitCode : EXIT.FAILED;
}
