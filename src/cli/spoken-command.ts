import { Command, type HelpContext } from "commander";
import { CliError, EXIT } from "./exit.js";

/** A command that says what is wrong with the words of a call as all else is said: in one sentence, with what to do next. */
export class SpokenCommand extends Command {
  override createCommand(name?: string): SpokenCommand {
    return new SpokenCommand(name);
  }

  override error(message: string): never {
    throw new CliError(`${sentenceOf(message)}; see: ${helpOn(this)}`, EXIT.USAGE);
  }

  override help(context?: HelpContext): never;
  override help(callback: (text: string) => string): never;
  override help(context?: HelpContext | ((text: string) => string)): never {
    const [word, name] = this.args;
    // Of `help NAME` where there is no such command.
    if (typeof context === "object" && context.error && word === "help" && name !== undefined)
      this.error(`unknown command '${name}'`);
    return super.help(context as HelpContext);
  }
}

/** The call that tells of a command. */
function helpOn(command: Command): string {
  const { parent } = command;
  return parent === null ? `${command.name()} help` : `${pathOf(parent)} help ${command.name()}`;
}

function pathOf(command: Command): string {
  return command.parent === null ? command.name() : `${pathOf(command.parent)} ${command.name()}`;
}

/** commander's words as the rest of the program would say them. */
function sentenceOf(message: string): string {
  return message
    .replace(/^error: (command-argument )?/, "")
    .replace(/\n\(Did/, " (did")
    .replace(/( is invalid(?: for argument '[^']*')?)\. (\w)/, (_, found: string, next: string) => {
      return `${found}: ${next.toLowerCase()}`;
    })
    .replace(/\. Expected/, ": expected")
    .replace(/\.$/, "");
}
