import { optionNames } from '../command-line.ts'
import { SUBCOMMANDS, UsageError } from '../options.ts'

/** A completion script: subcommands, options, and session ids after -r and --fork. */
export function completion(shell: string): number {
  const script = SCRIPTS[shell]
  if (!script) throw new UsageError(`completion: "${shell}" is not known; expected ${Object.keys(SCRIPTS).join(', ')}`)
  process.stdout.write(script(SUBCOMMANDS.map(({ name }) => name), optionNames()))
  return 0
}

const SCRIPTS: Readonly<Record<string, (commands: readonly string[], options: readonly string[]) => string>> = {
  bash: (commands, options) => `_tiller() {
  local word="\${COMP_WORDS[COMP_CWORD]}" before="\${COMP_WORDS[COMP_CWORD-1]}"
  case "$before" in
    -r|--resume|--fork) COMPREPLY=($(compgen -W "$(tiller sessions ids 2>/dev/null)" -- "$word")); return;;
    --mode) COMPREPLY=($(compgen -W "plan ask edit auto full" -- "$word")); return;;
    --effort) COMPREPLY=($(compgen -W "none low medium high max" -- "$word")); return;;
    -C|--cd|--session-dir) COMPREPLY=($(compgen -d -- "$word")); return;;
  esac
  if [[ "$word" == -* ]]; then COMPREPLY=($(compgen -W "${options.join(' ')}" -- "$word"))
  elif [[ $COMP_CWORD == 1 ]]; then COMPREPLY=($(compgen -W "${commands.join(' ')}" -- "$word"))
  else COMPREPLY=($(compgen -f -- "$word")); fi
}
complete -o default -F _tiller tiller
`,
  zsh: (commands, options) => `#compdef tiller
_tiller() {
  case "\${words[CURRENT-1]}" in
    -r|--resume|--fork) compadd -- \${(f)"$(tiller sessions ids 2>/dev/null)"}; return;;
    --mode) compadd plan ask edit auto full; return;;
    --effort) compadd none low medium high max; return;;
  esac
  if [[ "\${words[CURRENT]}" == -* ]]; then compadd -- ${options.join(' ')}
  elif (( CURRENT == 2 )); then compadd ${commands.join(' ')}
  else _files; fi
}
compdef _tiller tiller
`,
  fish: (commands, options) => [
    `complete -c tiller -n __fish_use_subcommand -a '${commands.join(' ')}'`,
    ...options.map((option) => (option.startsWith('--') ? `complete -c tiller -l ${option.slice(2)}` : `complete -c tiller -s ${option.slice(1)}`)),
    `complete -c tiller -s r -l resume -xa '(tiller sessions ids 2>/dev/null)'`,
    `complete -c tiller -l mode -xa 'plan ask edit auto full'`,
    '',
  ].join('\n'),
}
