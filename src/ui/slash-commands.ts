import { Effort, Mode } from '../core/record.ts'

/** What a line that begins with `/` does. The screen carries out the `act`s; the host answers the `text`s. */
export interface SlashCommand {
  name: string
  about: string
  /** `<needed>` or `[free]`. */
  argument?: string
  /** What can stand behind it, for completion. */
  values?: readonly string[]
  /** Makes sense only while no run is active. */
  idle?: boolean
}

export type SlashName = (typeof SLASH_COMMANDS)[number]['name']

export const SLASH_COMMANDS = [
  { name: 'help', about: 'commands and keys' },
  { name: 'model', argument: '[provider/model]', about: 'choose the model' },
  { name: 'effort', argument: '[level]', about: 'how hard the model thinks', values: Effort.options },
  { name: 'mode', argument: '[mode]', about: 'how much is allowed unasked', values: Mode.options },
  { name: 'compact', argument: '[what matters]', about: 'put a summary in place of the older part', idle: true },
  { name: 'context', about: 'what fills the model\'s window' },
  { name: 'cost', about: 'tokens and money so far' },
  { name: 'sessions', argument: '[search]', about: 'find a session, here and in other work trees' },
  { name: 'resume', argument: '[id or file]', about: 'go on with another session' },
  { name: 'new', about: 'begin a new session' },
  { name: 'fork', about: 'go on in a copy of this session' },
  { name: 'rewind', about: 'go back to an earlier input: conversation, files or both', idle: true },
  { name: 'undo', argument: '[show|all|redo]', about: 'put back the files that the last run changed', values: ['show', 'all', 'redo'], idle: true },
  { name: 'diff', argument: '[run]', about: 'what the session, or its last run, made of the files', values: ['run'] },
  { name: 'check', about: 'run the configured checks now', idle: true },
  { name: 'export', argument: '[file]', about: 'write the session as a page' },
  { name: 'title', argument: '<title>', about: 'name this session' },
  { name: 'queue', about: 'the waiting texts: edit, move, take back' },
  { name: 'now', argument: '<text>', about: 'send now: stop what runs' },
  { name: 'trust', argument: '[yes|no]', about: 'whether this folder\'s configuration is used', values: ['yes', 'no'] },
  { name: 'mcp', about: 'tool servers and their state' },
  { name: 'keys', about: 'every key' },
  { name: 'theme', argument: '[name]', about: 'colours' },
  { name: 'config', argument: '[key]', about: 'the settings and where each comes from' },
  { name: 'doctor', about: 'check this machine and the configuration' },
  { name: 'fullscreen', about: 'the whole transcript on a screen of its own' },
  { name: 'copy', about: 'the last answer to the clipboard' },
  { name: 'quit', about: 'leave' },
] as const satisfies readonly SlashCommand[]

export type Line =
  | { type: 'empty' }
  | { type: 'prompt'; text: string }
  | { type: 'slash'; name: string; argument: string }
  | { type: 'shell'; command: string; model: boolean }

/** What a sent text is. A path such as `/usr/bin` is no command. */
export function readLine(text: string): Line {
  const trimmed = text.trim()
  if (trimmed === '') return { type: 'empty' }
  const slash = /^\/([\p{L}\d][\p{L}\d:_.-]*)(?:\s+([\s\S]*))?$/u.exec(trimmed)
  if (slash) return { type: 'slash', name: slash[1] ?? '', argument: slash[2]?.trim() ?? '' }
  const shell = /^(!!?)([^!][\s\S]*)$/.exec(trimmed)
  if (shell) return { type: 'shell', command: shell[2]?.trim() ?? '', model: shell[1] === '!' }
  return { type: 'prompt', text }
}

export const isSlashName = (name: string): name is SlashName => SLASH_COMMANDS.some((command) => command.name === name)

/** For an unknown command: those that were perhaps meant. */
export function nearest(name: string, names: readonly string[]): string[] {
  const starts = names.filter((each) => each.startsWith(name) || name.startsWith(each))
  return (starts.length > 0 ? starts : names.filter((each) => distance(each, name) <= Math.max(1, Math.floor(name.length / 3)))).slice(0, 3)
}

function distance(one: string, other: string): number {
  let row = Array.from({ length: other.length + 1 }, (_, index) => index)
  for (let i = 1; i <= one.length; i++) {
    const next = [i]
    for (let j = 1; j <= other.length; j++) next.push(Math.min((row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1, (row[j - 1] ?? 0) + (one[i - 1] === other[j - 1] ? 0 : 1)))
    row = next
  }
  return row[other.length] ?? 0
}
