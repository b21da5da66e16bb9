/** What was said on the command line; configuration and environment come later and weigh less. */
export interface Options {
  prompt: string[]
  print?: boolean
  json?: boolean
  jsonIn?: boolean
  continue?: boolean
  resume?: string | true
  fork?: string
  session?: string
  model?: string
  effort?: string
  mode?: string
  trust?: boolean
  allow: string[]
  deny: string[]
  check: string[]
  tools?: string
  maxSteps?: number
  maxMinutes?: number
  maxCalls?: number
  maxTokens?: number
  maxCost?: number
  system?: string
  appendSystem?: string
  outputSchema?: string
  config?: string
  sessionDir?: string
  cd?: string
  color: boolean
  sandbox: boolean
  offline?: boolean
  fullscreen?: boolean
}

/** A wrong use of the command line: one line that names it and says what was expected. */
export class UsageError extends Error {}

export type Invocation =
  | { kind: 'main'; options: Options }
  | { kind: 'command'; name: string; args: string[]; flags: Record<string, unknown>; options: Options }
  | { kind: 'said'; text: string; code: number }

interface Subcommand { name: string; args: string; about: string; flags?: [string, string][]; operations?: readonly string[] }

export const SUBCOMMANDS: readonly Subcommand[] = [
  { name: 'demo', args: '', about: 'the whole agent on a sample repository with a scripted model: no key, no network' },
  { name: 'sessions', args: '[operation] [args...]', about: 'list, show <id>, search <text>, rename <id> <title>, export <id> [file], import <file>, remove <id...>, stats', flags: [['--format <format>', 'export as markdown, html or jsonl'], ['--json', 'list and search as JSON lines'], ['--yes', 'remove without asking']] },
  { name: 'trace', args: '<id>', about: 'what happened, how long it took, what it cost', flags: [['--html', 'as a page'], ['--request <n>', 'what the model was sent at step n']] },
  { name: 'undo', args: '[id]', about: 'put back the files that the last run changed', flags: [['--yes', 'without asking'], ['--dry-run', 'only say what it would do'], ['--diff', 'only show it as a diff'], ['--redo', 'take the last undo back']] },
  { name: 'replay', args: '<session>', about: 'play recorded replies with real tools in a copy, and compare' },
  { name: 'models', args: '[search]', about: 'the models that are known, and those that are ready' },
  { name: 'config', args: '[operation] [args...]', about: "show, explain '<command>'" },
  { name: 'doctor', args: '', about: 'what works here and what does not' },
  { name: 'completion', args: '<shell>', about: 'a completion script for bash, zsh or fish' },
]

/** What a start without a word means. */
export const NO_WORDS: Options = { prompt: [], allow: [], deny: [], check: [], color: true, sandbox: true }
