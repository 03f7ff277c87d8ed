import type { Command, Option } from "commander";

/** A command or an option with what it is for. */
export interface Word {
  word: string;
  description: string;
}

export interface OptionWords {
  /** As they are typed: `-o`, `--output`. */
  flags: string[];
  description: string;
  /** What has to follow. */
  takes: "nothing" | "word" | "file" | "directory";
  choices: readonly string[];
}

/** One command of the tree with all that can follow its words. */
export interface Node {
  /** The words that lead to it, blanks between, without the program's own; empty for the program. */
  path: string;
  /** Its commands, or what its argument can be. */
  words: Word[];
  options: OptionWords[];
}

/** Every command of the program, itself first, as its help shows them. */
export function nodesOf(command: Command, path: readonly string[] = []): Node[] {
  const help = command.createHelp();
  const commands = help.visibleCommands(command);
  const choices = command.registeredArguments[0]?.argChoices ?? [];
  const own: Node = {
    path: path.join(" "),
    words: [
      ...commands.map((sub) => ({ word: sub.name(), description: sub.summary() || sub.description() })),
      ...choices.map((word) => ({ word, description: "" })),
    ],
    options: [...help.visibleOptions(command), ...help.visibleGlobalOptions(command)].map(optionWords),
  };
  const below = commands.filter((sub) => command.commands.includes(sub));
  return [own, ...below.flatMap((sub) => nodesOf(sub, [...path, sub.name()]))];
}

/** Flags that take the next word, of all commands. */
export function takingFlags(nodes: readonly Node[]): string[] {
  const taking = nodes.flatMap(({ options }) => options.filter(({ takes }) => takes !== "nothing"));
  return [...new Set(taking.flatMap(({ flags }) => flags))];
}

/** The step that leads to each command but the program: `PARENT/WORD`. */
export function stepsOf(nodes: readonly Node[]): string[] {
  return nodes.flatMap(({ path }) => (path === "" ? [] : [path.replace(/^(?:(.*) )?([^ ]+)$/, "$1/$2")]));
}

function optionWords(option: Option): OptionWords {
  const { short, long, description, argChoices } = option;
  return {
    flags: [short, long].filter((flag) => flag !== undefined),
    description,
    takes: takesOf(option),
    choices: argChoices ?? [],
  };
}

function takesOf({ required, flags }: Option): OptionWords["takes"] {
  if (!required) return "nothing";
  if (flags.includes("<dir>")) return "directory";
  return flags.includes("<file>") ? "file" : "word";
}
