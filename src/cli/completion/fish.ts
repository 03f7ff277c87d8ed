import { takingFlags, type Node, type OptionWords, type Word } from "./tree.js";

/** A script for fish 3 and later. */
export function fishScript(nodes: readonly Node[]): string {
  const paths = nodes.flatMap(({ path }) => (path === "" ? [] : [`'${path}'`]));
  return `# fish completion of a2achan; to use it: a2achan completion fish | source
function __a2achan_at
    set -l path
    set -l skip 0
    for word in (commandline -opc)[2..-1]
        if test $skip = 1
            set skip 0
        else if contains -- $word ${takingFlags(nodes).join(" ")}
            set skip 1
        else if contains -- (string join ' ' $path $word) ${paths.join(" ")}
            set path $path $word
        end
    end
    test "$path" = "$argv"
end
complete -c a2achan -e
complete -c a2achan -f
${nodes.flatMap((node) => [...node.words.map((word) => wordLine(node.path, word)), ...node.options.map((option) => optionLine(node.path, option))]).join("\n")}
`;
}

function wordLine(path: string, { word, description }: Word): string {
  return `complete -c a2achan -n '__a2achan_at ${path}' -a ${word} -d ${quoted(description)}`;
}

function optionLine(path: string, { flags, takes, choices, description }: OptionWords): string {
  const names = flags.map((flag) => (flag.startsWith("--") ? `-l ${flag.slice(2)}` : `-s ${flag.slice(1)}`));
  const value = {
    nothing: "",
    word: ` -x${choices.length === 0 ? "" : ` -a '${choices.join(" ")}'`}`,
    file: " -r -F",
    directory: " -x -a '(__fish_complete_directories)'",
  }[takes];
  return `complete -c a2achan -n '__a2achan_at ${path}' ${names.join(" ")}${value} -d ${quoted(description)}`;
}

function quoted(text: string): string {
  return `'${text.replaceAll("\\", "\\\\").replaceAll("'", "\\'")}'`;
}
