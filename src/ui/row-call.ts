import type { ResultStatus } from '../core/record.ts'
import type { CallRow, Excerpt, Row } from '../core/view.ts'
import { renderDiff } from './diff.ts'
import { count, took } from './figures.ts'
import { columnsOf, fit } from './graphemes.ts'
import { cutSpans, fold, TAB, type Span, type Width } from './spans.ts'
import type { Paint, Theme } from './theme.ts'

type RowOf<K extends Row['kind']> = Extract<Row, { kind: K }>

const DIFF_LINES = 60
const asIs: Paint = (text) => text

/** What a call was, how it ended in words, and of its output what is worth a look. */
export function renderCall(row: CallRow, width: Width): string {
  const { theme } = width
  const head = renderHead(row, endOf(row), paintOf(row.status, theme), width)
  const why = reasonOf(row)
  const diff = row.diff && row.status !== 'denied' && row.status !== 'rejected' ? indented(renderDiff(row.diff.text, { ...width, columns: width.columns - 2 }, DIFF_LINES, row.diff.more)) : []
  const alive = row.alive.length > 0 ? noteLines(`still running: ${count(row.alive.length, 'process', 'processes')} ${row.alive.join(', ')}`, theme.warn, width) : []
  const output = why === null ? renderExcerpt(row.output, width, row.status === 'ok' ? theme.dim : asIs) : noteLines(why, asIs, width)
  return [...head, ...diff, ...output, ...alive].join('\n')
}

export function renderCheck({ command, exit, attempt, ms, output }: RowOf<'check'>, width: Width): string {
  const passed = exit === 0
  const end = [passed ? 'passed' : 'failed', passed || exit === null ? '' : `exit ${exit}`, attempt > 1 ? `attempt ${attempt}` : '', ms === null ? '' : took(ms)]
  const paint = passed ? width.theme.good : width.theme.bad
  return [...renderHead({ name: 'check', summary: command }, end, paint, width), ...renderExcerpt(output, width, passed ? width.theme.dim : asIs)].join('\n')
}

/** A command of the person's own. */
export function renderShell({ command, exit, model, output }: RowOf<'shell'>, width: Width): string {
  const end = [exit === null ? 'ended by a signal' : `exit ${exit}`, model ? '' : 'not shown to the model']
  return [...renderHead({ name: '!', summary: command }, end, exit === 0 ? width.theme.good : width.theme.bad, width), ...renderExcerpt(output, width)].join('\n')
}

/** `● name summary  state, figures`: the summary gives way first, then it is folded; the state is always whole. */
export function renderHead({ name, summary }: { name: string; summary: string }, end: readonly string[], paint: Paint, { columns, theme }: Width): string[] {
  const [state = '', ...figures] = end.filter(Boolean)
  const said = summary.replaceAll('\t', TAB)
  const tail: Span[] = [{ text: state, paint }, { text: figures.map((figure) => `, ${figure.replaceAll(' ', GLUE)}`).join(''), paint: theme.dim }]
  const tailWidth = columnsOf(tail.map(({ text }) => text).join(''))
  const what: Span[] = [{ text: name, paint: theme.strong }, ...(said === '' ? [] : [{ text: ` ${said}` }])]
  const mark = `${paint(theme.ascii ? '*' : '●')} `
  const room = columns - 2
  // Up to two rows for a long command; what is longer is in the pager.
  const cut = Number.isFinite(room) ? cutSpans(what, Math.max(8, room * 2 - tailWidth - 6)) : what
  const [first, ...rest] = fold([...cut, { text: '  ' }, ...tail], { columns, first: '  ', anywhere: false })
  return [mark + (first ?? '').slice(2), ...rest].map((line) => line.replaceAll(GLUE, ' '))
}

/** Keeps a figure and its unit in one row. */
const GLUE = '\u00a0'

function renderExcerpt({ text, more, end }: Excerpt, { columns, theme }: Width, paint: Paint = theme.dim): string[] {
  if (text === '' && more === 0) return []
  const cut = more > 0 ? [theme.dim(fit(`… ${end === 'tail' ? '' : '+'}${count(more, 'line')}${end === 'tail' ? ' before' : ''}`, columns - 2))] : []
  const lines = text === '' ? [] : text.split('\n').map((line) => paint(fit(line.replaceAll('\t', TAB), columns - 2)))
  return indented(text === '' ? [] : end === 'tail' ? [...cut, ...lines] : [...lines, ...cut])
}

export function paintOf(status: ResultStatus, theme: Theme): Paint {
  switch (status) {
    case 'ok':
      return theme.good
    case 'failed':
    case 'rejected':
      return theme.bad
    case 'denied':
    case 'skipped':
    case 'interrupted':
    case 'unknown':
      return theme.warn
  }
}

const indented = (rows: readonly string[]): string[] => rows.map((row) => (row === '' ? '' : `  ${row}`))

const noteLines = (text: string, paint: Paint, { columns }: Width): string[] => fold([{ text, paint }], { columns, first: '  ' })

/** The state first, then figures. */
function endOf(row: CallRow): string[] {
  const exit = row.exit === null || (row.exit === 0 && row.status === 'ok') ? '' : `exit ${row.exit}`
  const changed = row.diff ? `+${row.added} -${row.removed}` : ''
  const lines = COUNTED.has(row.name) && row.status === 'ok' ? count(row.lines, 'line') : ''
  return [row.status, exit, changed, lines, row.images > 0 ? count(row.images, 'image') : '', row.ms === null || row.ms < 1 ? '' : took(row.ms)]
}

const COUNTED: ReadonlySet<string> = new Set(['read', 'ls', 'find', 'grep'])

/** Who said no, and why: shorter than what the model is told. Null: its own text is shown. */
function reasonOf({ status, answer }: CallRow): string | null {
  if (status !== 'denied' || answer?.verdict !== 'deny') return null
  const why = answer.reason || answer.because
  switch (answer.by) {
    case 'user':
      return why ? `by you: ${why}` : 'by you'
    case 'nobody':
      return 'nobody could be asked'
    case 'rule':
    case 'mode':
      return why ? `by ${answer.by}: ${why}` : `by ${answer.by}`
  }
}

