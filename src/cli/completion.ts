import { Argument, type Command } from "commander";
import { bashScript } from "./completion/bash.js";
import { fishScript } from "./completion/fish.js";
import { nodesOf } from "./completion/tree.js";
import { zshScript } from "./completion/zsh.js";

const SCRIPTS = { bash: bashScript, zsh: zshScript, fish: fishScript } as const;
type Shell = keyof typeof SCRIPTS;

export function completionCommand(program: Command): void {
  program
    .command("completion")
    .summary("print the script by which a shell completes all this")
    .description(
      "print a script by which a shell completes commands and options, such as: source <(a2achan completion bash)",
    )
    .addArgument(new Argument("<shell>", "whose script").choices(Object.keys(SCRIPTS)))
    .action((shell: Shell) => void process.stdout.write(SCRIPTS[shell](nodesOf(program))));
}
