import { stepsOf, takingFlags, type Node, type OptionWords } from "./tree.js";

/** A script for bash 4 and later. */
export function bashScript(nodes: readonly Node[]): string {
  return `# bash completion of a2achan; to use it: source <(a2achan completion bash)
_a2achan() {
  local cur=\${COMP_WORDS[COMP_CWORD]} prev=\${COMP_WORDS[COMP_CWORD-1]} path= at word words= options=
  for ((at = 1; at < COMP_CWORD; at++)); do
    word=\${COMP_WORDS[at]}
    case $word in
      ${takingFlags(nodes).join("|")}) ((at++)); continue ;;
    esac
    case "$path/$word" in
      ${stepsOf(nodes)
        .map((step) => `"${step}"`)
        .join("|")}) path=\${path:+$path }$word ;;
    esac
  done
  COMPREPLY=()
  case "$path $prev" in
${nodes.flatMap((node) => node.options.flatMap((option) => valueCase(node.path, option))).join("\n")}
  esac
  case $path in
${nodes.map(nodeCase).join("\n")}
  esac
  if [[ $cur == -* || -z $words ]]; then words=$options; fi
  COMPREPLY=($(compgen -W "$words" -- "$cur"))
}
complete -F _a2achan a2achan
`;
}

function valueCase(path: string, { flags, takes, choices }: OptionWords): string[] {
  if (takes === "nothing") return [];
  const list =
    takes === "word"
      ? `compgen -W "${choices.join(" ")}" -- "$cur"`
      : `compgen ${takes === "directory" ? "-d" : "-f"} -- "$cur"`;
  const names = takes === "word" ? "" : "compopt -o filenames 2>/dev/null; ";
  const where = flags.map((flag) => `"${path} ${flag}"`).join("|");
  return [`    ${where}) ${names}mapfile -t COMPREPLY < <(${list}); return ;;`];
}

function nodeCase({ path, words, options }: Node): string {
  const flags = options.flatMap((option) => option.flags).join(" ");
  return `    "${path}") words="${words.map(({ word }) => word).join(" ")}" options="${flags}" ;;`;
}
