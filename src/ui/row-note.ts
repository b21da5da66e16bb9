import type { OutcomeStatus, Reached } from '../core/record.ts'
import type { CallRow, InputRow, OutcomeRow, Row, TextRow } from '../core/view.ts'
import { count, money, took, tokens } from './figures.ts'
import { fold, type Span, type Width } from './spans.ts'
import type { Paint, Theme } from './theme.ts'

type Note = Exclude<Row, InputRow | TextRow | CallRow | OutcomeRow | { kind: 'check' | 'shell' }>

/** How the run ended and why, what it took and what it changed. */
export function renderOutcome(row: OutcomeRow, { columns, theme }: Width, before?: Row): string {
  const paint = outcomePaint(row.status, theme)
  const isSaid = row.reason === '' || (before?.kind === 'fault' && before.message.startsWith(row.reason))
  const head: Span[] = [{ text: row.status, paint: (text) => paint(theme.strong(text)) }, { text: isSaid ? '' : `: ${row.reason}` }]
  const figures = [
    row.ms === null ? '' : took(row.ms),
    row.steps > 0 ? count(row.steps, 'step') : '',
    row.calls > 0 ? count(row.calls, 'call') : '',
    row.tokens.input + row.tokens.output > 0 ? `${tokens(row.tokens.input)} tokens in, ${tokens(row.tokens.output)} out` : '',
    row.cost.usd > 0 || row.cost.unknown ? money(row.cost) : '',
  ].filter(Boolean)
  const lines = [figures.join(' · '), changed(row), row.tree === null || row.status !== 'verified' ? '' : `proved on the files as of ${row.tree.slice(0, 8)}`, row.alive.length > 0 ? `still running: ${count(row.alive.length, 'process', 'processes')} ${row.alive.join(', ')}` : ''].filter(Boolean)
  const mark = `${paint(theme.ascii ? '=' : '■')} `
  const [first = '', ...rest] = fold(head, { columns, first: '  ' })
  return [mark + first.slice(2), ...rest, ...lines.flatMap((text) => fold([{ text, paint: theme.dim }], { columns, first: '  ' }))].join('\n')
}

export function renderNote(row: Note, { columns, theme }: Width): string {
  const [text, paint] = noteOf(row, theme)
  return text === '' ? '' : fold([{ text, paint }], { columns }).join('\n')
}

const MOST_NAMES = 5

function changed({ files, added, removed }: OutcomeRow): string {
  if (files.length === 0) return ''
  const names = files.slice(0, MOST_NAMES).join(', ')
  const more = files.length > MOST_NAMES ? ` and ${files.length - MOST_NAMES} more` : ''
  return `${count(files.length, 'file')} changed${added + removed > 0 ? ` (+${added} -${removed})` : ''}: ${names}${more}`
}

function outcomePaint(status: OutcomeStatus, theme: Theme): Paint {
  switch (status) {
    case 'done':
    case 'verified':
      return theme.good
    case 'failed':
    case 'unverified':
      return theme.bad
    case 'interrupted':
    case 'limit':
    case 'needs-user':
    case 'lost':
      return theme.warn
  }
}

function noteOf(row: Note, theme: Theme): [string, Paint] {
  switch (row.kind) {
    case 'session':
      return [`session ${row.id}${row.fork ? `, a copy of ${row.fork.id} up to record ${row.fork.seq}` : ''}`, theme.dim]
    case 'resume':
      return [`going on with "${row.title}"${row.outcome === null ? '' : `; its last run ended as ${row.outcome}${row.reason ? `: ${row.reason}` : ''}`}`, row.outcome === 'lost' || row.outcome === 'interrupted' ? theme.warn : theme.dim]
    case 'older':
      return [`… ${count(row.count, row.of === 'rows' ? 'earlier row' : 'earlier record')} not shown here`, theme.dim]
    case 'instructions':
      return [row.paths.length === 0 ? 'instructions: none any more' : `instructions: ${row.paths.join(', ')}`, theme.dim]
    case 'reasoning':
      return [`thought: ${row.first.replace(/[*#`]/g, '').trim()}${row.lines > 1 ? ` (${count(row.lines, 'line')})` : ''}`, theme.dim]
    case 'stop':
      return [STOPS[row.stop], theme.warn]
    case 'grant':
      return [`allowed from now on for this ${row.scope}: ${row.rules.map((rule) => `${rule.kind} ${rule.match}`).join('; ')}`, theme.dim]
    case 'job':
      return [`background command ${row.id} ended (${[row.signal ?? (row.exit === null ? 'no exit code' : `exit ${row.exit}`), row.because ?? ''].filter(Boolean).join(', ')}): ${row.command}`, row.exit === 0 ? theme.dim : theme.warn]
    case 'compact':
      return [`compacted: about ${tokens(row.before)} tokens are now ${tokens(row.after)}. ${row.first}`, theme.dim]
    case 'omit':
      return ['left out of what the model is sent, with a note in its place', theme.dim]
    case 'rewind':
      return [`went back: what comes now follows ${row.follows}`, theme.warn]
    case 'pause':
      return [`paused: ${row.text}`, theme.warn]
    case 'choice':
      return [choiceText(row), theme.dim]
    case 'fault':
      return [`${row.message} (${row.fault}${row.status === null ? '' : ` ${row.status}`})${row.retry ? `; ${nextTry(row.retry, row.attempt)}` : ''}`, row.retry ? theme.warn : theme.bad]
    case 'retry':
      return [`attempt ${row.attempt}: the reply begins anew`, theme.dim]
    case 'differs':
      return ['the reply in the log is not what was streamed above. It is:', theme.warn]
    case 'checkpoint':
      return [`checkpoint: ${row.note}`, theme.dim]
    case 'undo':
      return [undoText(row), theme.warn]
    case 'set':
      return [SETTINGS.flatMap((key) => (row[key] === undefined ? [] : `${key}: ${row[key]}`)).join(', '), theme.dim]
    case 'damage':
      return [`the log is damaged: ${row.what}`, theme.warn]
    case 'error':
      return [`error: ${row.message}`, theme.bad]
  }
}

function undoText({ redo, files, more: left }: Extract<Row, { kind: 'undo' }>): string {
  const shown = files.slice(0, MOST_NAMES).map(({ path, gone }) => `${path}${gone ? ' (removed)' : ''}`)
  const rest = files.length - shown.length + left
  return `${redo ? 'took the undo back: ' : 'put back '}${count(files.length + left, 'file')}: ${shown.join(', ')}${rest > 0 ? ` and ${rest} more` : ''}`
}

const nextTry = ({ model, waitMs, of }: NonNullable<Extract<Row, { kind: 'fault' }>['retry']>, attempt: number): string =>
  model === null ? `tries again in ${took(waitMs)}, attempt ${attempt + 1} of ${of}` : `${model} takes over for the rest of this run`

function choiceText({ choice, by, reached }: Extract<Row, { kind: 'choice' }>): string {
  switch (choice) {
    case 'raise':
      return reached ? `goes on: ${reached.of === 'session' ? 'the session' : 'this run'} may use ${more(reached)} more` : 'goes on'
    case 'go-on':
      return by === 'input' ? 'goes on with what you wrote' : 'goes on'
    case 'summarise':
      return 'stops with a summary'
    case 'stop':
      return 'stops'
  }
}

/** `200 steps`, `$2.00` */
export const more = ({ limit, by }: Reached): string => (limit === 'cost' ? `$${by.toFixed(2)}` : count(by, limit === 'calls' ? 'tool call' : limit.slice(0, -1)))

const SETTINGS = ['mode', 'model', 'effort', 'title'] as const

const STOPS: Readonly<Record<Extract<Row, { kind: 'stop' }>['stop'], string>> = {
  length: 'the reply was cut off at the output limit',
  filter: 'the provider stopped the reply (content filter)',
  interrupted: 'the reply was interrupted',
  error: 'the reply broke off',
}
