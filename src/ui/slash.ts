import { Effort, Mode } from '../core/record.ts'
import type { View } from '../core/view.ts'
import { keyLines } from './keys.ts'
import { leave } from './leave.ts'
import { openEfforts, openModels, openModes, openThemes, setModel, setTheme, switchTo } from './open-pickers.ts'
import { goOnWith, openSessions } from './open-sessions.ts'
import { openRewind } from './open-rewind.ts'
import type { TextCommand } from './port.ts'
import { openUndo } from './put-back.ts'
import { openQueue } from './queue-keys.ts'
import { say, showTranscript } from './say.ts'
import { isActive } from './screen.ts'
import { isSlashName, nearest, SLASH_COMMANDS, type SlashName } from './slash-commands.ts'
import { background, change, hint, type Stage } from './stage.ts'
import { submit } from './submit.ts'
import { commands } from './suggest.ts'

/** Carries out `/name argument`. What it answers is a sentence about why not, or null. */
export function slash(stage: Stage, name: string, argument: string): string | null {
  if (isSlashName(name)) {
    const idle = SLASH_COMMANDS.some((command) => command.name === name && 'idle' in command)
    if (idle && isActive(stage.store.get())) return `/${name} has to wait for the run: Esc interrupts it.`
    return CARRY_OUT[name](stage, argument) ?? null
  }
  if (stage.store.get().custom.some((command) => command.name === name)) {
    background(stage, stage.host.custom.expand(name, argument).then((text) => submit(stage, text, 'next')))
    return null
  }
  const near = nearest(name, commands(stage).map((command) => command.name))
  return `There is no command /${name}.${near.length > 0 ? ` Did you mean ${near.map((each) => `/${each}`).join(' or ')}?` : ''} /help lists them.`
}

type Act = (stage: Stage, argument: string) => string | void

const answer = (name: TextCommand): Act => (stage, argument) =>
  background(stage, stage.host.answer(name, argument, new AbortController().signal).then((said) => say(stage, said)))

const CARRY_OUT: Record<SlashName, Act> = {
  help: (stage) => background(stage, say(stage, { as: 'text', text: helpText(stage) })),
  keys: (stage) => background(stage, say(stage, { as: 'text', text: keyLines(stage.keys, stage.store.get().size.columns).join('\n') })),
  model: (stage, argument) => (argument === '' ? openModels(stage) : setModel(stage, argument)),
  effort: (stage, argument): string | void => {
    if (argument === '') return openEfforts(stage)
    const effort = Effort.options.find((each) => each === argument)
    if (!effort) return `"${argument}" is no effort: ${Effort.options.join(', ')}.`
    stage.store.get().connection.send({ type: 'set', effort })
  },
  mode: (stage, argument): string | void => {
    if (argument === '') return openModes(stage)
    const mode = Mode.options.find((each) => each === argument)
    if (!mode) return `"${argument}" is no mode: ${Mode.options.join(', ')}.`
    stage.store.get().connection.send({ type: 'set', mode })
  },
  compact: (stage, argument): string | void => {
    change(stage, { busy: 'compact' })
    stage.store.get().connection.send({ type: 'compact', ...(argument === '' ? {} : { about: argument }) })
  },
  check: (stage) => {
    change(stage, { busy: 'check' })
    stage.store.get().connection.send({ type: 'check' })
  },
  context: answer('context'),
  cost: answer('cost'),
  undo: (stage, argument) => (argument === '' ? openUndo(stage) : answer('undo')(stage, argument)),
  diff: answer('diff'),
  export: answer('export'),
  mcp: answer('mcp'),
  config: answer('config'),
  doctor: answer('doctor'),
  trust: answer('trust'),
  sessions: (stage, argument) => openSessions(stage, argument),
  resume: (stage, argument) => (argument === '' ? openSessions(stage, '') : background(stage, stage.host.sessions.find(argument).then((session) => goOnWith(stage, session)))),
  new: (stage) => switchTo(stage, () => stage.host.sessions.fresh()),
  fork: (stage) => switchTo(stage, () => stage.host.sessions.fork(stage.store.get().connection.session)),
  rewind: (stage) => openRewind(stage),
  title: (stage, argument): string | void => {
    if (argument === '') return 'Write the title behind /title.'
    stage.store.get().connection.send({ type: 'set', title: argument })
  },
  queue: (stage) => openQueue(stage),
  now: (stage, argument): string | void => {
    if (argument === '') return 'Write behind /now what is to be said now.'
    if (!submit(stage, argument, 'now')) return 'It could not be sent.'
  },
  theme: (stage, argument) => (argument === '' ? openThemes(stage) : setTheme(stage, argument)),
  fullscreen: (stage) => background(stage, showTranscript(stage)),
  copy: (stage): string | void => {
    const text = lastAnswer(stage.store.get().view)
    if (text === '') return 'There is no answer to copy yet.'
    background(stage, stage.host.copy(text).then((where) => hint(stage, `The last answer is in the ${where}.`)))
  },
  quit: (stage) => leave(stage, 'quit'),
}

function helpText(stage: Stage): string {
  const list = commands(stage).map(({ name, argument = '', about }) => `${`/${name} ${argument}`.trimEnd().padEnd(26)} ${about}`)
  return [
    'Write what is to be done, and Enter. While Tiller works, Enter steers it and Esc stops it.',
    '@ names a file. !command runs a command and shows it to the model, !!command keeps it from the model.',
    '',
    ...list,
    '',
    '? on an empty line or /keys: every key.',
  ].join('\n')
}

/** The text blocks of the newest reply that has any. */
function lastAnswer({ rows }: View): string {
  const pieces: string[] = []
  for (let index = rows.length - 1; index >= 0; index--) {
    const row = rows.at(index)
    if (row?.kind === 'text') pieces.unshift(row.text, row.joins ? '\n' : '\n\n')
    else if (pieces.length > 0) break
  }
  return pieces.slice(0, -1).join('').trim()
}
