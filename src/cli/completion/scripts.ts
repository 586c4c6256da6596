/*
  What makes a shell ask `heron complete` at each Tab. Where it has nothing to offer, the shell goes
  on to file names. The scripts hold no list of their own, so they never need to be made again.
*/

export const SHELLS = ['bash', 'zsh', 'fish'] as const;

export type Shell = (typeof SHELLS)[number];

const BASH = `# Completion of heron for bash: source <(heron completion bash)
_heron() {
  local IFS=$'\\n'
  COMPREPLY=($(heron complete -- "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null))
}
complete -o bashdefault -o default -F _heron heron
`;

const ZSH = `#compdef heron
# Completion of heron for zsh: source <(heron completion zsh)
_heron() {
  local -a found
  found=("\${(@f)$(heron complete -- "\${(@)words[2,CURRENT]}" 2>/dev/null)}")
  if [[ -n "\${found[1]}" ]]; then
    compadd -a found
  else
    _files
  fi
}
compdef _heron heron
`;

const FISH = `# Completion of heron for fish: heron completion fish | source
function __heron_complete
  set -l words (commandline -opc)
  set -l current (commandline -ct)
  heron complete -- $words[2..-1] "$current" 2>/dev/null
end
complete -c heron -f -n 'count (__heron_complete) >/dev/null' -a '(__heron_complete)'
complete -c heron -F -n 'not count (__heron_complete) >/dev/null'
`;

const SCRIPTS: Readonly<Record<Shell, string>> = { bash: BASH, zsh: ZSH, fish: FISH };

export function completionScript(shell: Shell): string {
  return SCRIPTS[shell];
}
