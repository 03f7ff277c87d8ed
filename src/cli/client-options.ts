import type { Command } from "commander";
import { DEFAULT_URL, type TargetOptions } from "./config.js";
import { DEFAULT_DATA } from "./data-dir.js";
import { formatOption, type Format } from "./output.js";

/** What every command that speaks to a broker is told. */
export interface ClientOptions extends TargetOptions {
  output: Format;
}

/** Adds them, behind the command's own. */
export function clientOptions(command: Command): Command {
  return command
    .option("--url <url>", `the broker: ws://HOST:PORT/v1 or wss://...; also A2ACHAN_URL; default: ${DEFAULT_URL}`)
    .option("--token-file <file>", "file that holds the token; also A2ACHAN_TOKEN, which holds the token itself")
    .option("--data <dir>", `data directory of a broker that runs here, for its operator; default: ${DEFAULT_DATA}`)
    .addOption(formatOption());
}
