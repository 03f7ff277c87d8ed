import { stepsOf, takingFlags, type Node, type OptionWords } from "./tree.js";

/** A script for zsh with its completion system loaded. */
export function zshScript(nodes: readonly Node[]): string {
  return `#compdef a2achan
# zsh completion of a2achan; to use it: source <(a2achan completion zsh), after compinit
_a2achan() {
  local at=2 word place=
  local -a commands options
  while ((at < CURRENT)); do
    word=\${words[at]}
    ((at++))
    case $word in
      ${takingFlags(nodes).join("|")}) ((at++)); continue ;;
    esac
    case "$place/$word" in
      ${stepsOf(nodes)
        .map((step) => `"${step}"`)
        .join("|")}) place=\${place:+$place }$word ;;
    esac
  done
  case "$place \${words[CURRENT-1]}" in
${nodes.flatMap((node) => node.options.flatMap((option) => valueCase(node.path, option))).join("\n")}
  esac
  case $place in
${nodes.map(nodeCase).join("\n")}
  esac
  if [[ $PREFIX == -* || \${#commands} -eq 0 ]]; then
    _describe option options
  else
    _describe command commands
  fi
}
compdef _a2achan a2achan
`;
}

function valueCase(path: string, { flags, takes, choices }: OptionWords): string[] {
  if (takes === "nothing") return [];
  const list = { word: `compadd -- ${choices.join(" ")}`, file: "_files", directory: "_files -/" }[takes];
  return [`    ${flags.map((flag) => `"${path} ${flag}"`).join("|")}) ${list}; return ;;`];
}

function nodeCase({ path, words, options }: Node): string {
  const commands = words.map(({ word, description }) => described(word, description));
  const flags = options.flatMap((option) => option.flags.map((flag) => described(flag, option.description)));
  return `    "${path}") commands=(${commands.join(" ")}); options=(${flags.join(" ")}) ;;`;
}

function described(word: string, description: string): string {
  const text = description === "" ? word : `${word}:${description}`;
  return `'${text.replaceAll("'", "'\\''")}'`;
}
