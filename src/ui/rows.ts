import type { InputRow, Row, TextRow } from '../core/view.ts'
import { renderCode } from './code.ts'
import { loadDiff } from './diff.ts'
import { loadLanguage } from './highlight.ts'
import { loadMarkdown, renderMarkdown } from './markdown.ts'
import { renderCall, renderCheck, renderShell } from './row-call.ts'
import { renderNote, renderOutcome } from './row-note.ts'
import { fold, TAB, type Width } from './spans.ts'

/** Settled rows as painted text to be written once, each line ended. `after`: the row that was printed last before them. */
export function renderRows(rows: readonly Row[], width: Width, after?: Row): string {
  let out = ''
  let before = after
  for (const row of rows) {
    const text = renderRow(row, width, before)
    if (text === '') continue
    out += `${gapBetween(before, row) ? '\n' : ''}${text}\n`
    before = row
  }
  return out
}

/** One row, without a line end after it; '' where there is nothing to show. What the row `before` has said is not said again. */
export function renderRow(row: Row, width: Width, before?: Row): string {
  switch (row.kind) {
    case 'input':
      return renderInput(row, width)
    case 'text':
      return renderText(row, width)
    case 'call':
      return renderCall(row, width)
    case 'check':
      return renderCheck(row, width)
    case 'shell':
      return renderShell(row, width)
    case 'outcome':
      return renderOutcome(row, width, before)
    default:
      return renderNote(row, width)
  }
}

/** A blank line stands between rows of different kinds, and around what people look for. */
export function gapBetween(before: Row | undefined, row: Row): boolean {
  if (!before || (row.kind === 'text' && row.joins)) return false
  if (row.kind === 'text' || row.kind === 'input' || row.kind === 'outcome') return true
  return GROUPS[before.kind] !== GROUPS[row.kind]
}

/** Loads what these rows need to be shown as they should be; null: nothing. Without it they are shown plainer. */
export function prepareRows(rows: readonly Row[]): Promise<unknown> | null {
  const needs = rows.flatMap((row): (Promise<void> | null)[] => {
    if (row.kind === 'call') return row.diff ? [loadDiff()] : []
    return row.kind === 'text' ? [row.fence ? null : loadMarkdown(), ...languagesOf(row).map(loadLanguage)] : []
  })
  const open = needs.filter((need) => need !== null)
  return open.length > 0 ? Promise.all(open) : null
}

const INPUT_LINES = 24
const INPUT_CHARACTERS = 4_000

const GROUPS: Readonly<Record<Row['kind'], string>> = {
  input: 'input', text: 'text', outcome: 'outcome', call: 'call', check: 'call', shell: 'call', job: 'call', grant: 'call', reasoning: 'reasoning',
  session: 'note', resume: 'note', older: 'note', instructions: 'note', stop: 'fault', fault: 'fault', pause: 'fault', choice: 'fault', retry: 'fault', differs: 'fault', error: 'fault', damage: 'fault',
  compact: 'note', omit: 'fault', rewind: 'note', checkpoint: 'call', undo: 'note', set: 'note',
}

function renderInput({ role, from, text, images, step }: InputRow, { columns, theme }: Width): string {
  const lines = text.replaceAll('\t', TAB).split('\n')
  const shown = (lines.length > INPUT_LINES ? lines.slice(0, INPUT_LINES - 1) : lines).join('\n').slice(0, INPUT_CHARACTERS)
  const paint = from === 'user' ? theme.strong : theme.dim
  const notes = [
    from === 'user' ? '' : `from ${from === 'tiller' ? 'Tiller' : `a ${from}`}`,
    role === 'steer' || role === 'now' ? `${role === 'now' ? 'cut in' : 'steering'}, delivered in step ${step}` : role === 'follow-up' ? 'follow-up' : '',
    images === 0 ? '' : images === 1 ? '1 image' : `${images} images`,
    lines.length > INPUT_LINES ? `… +${lines.length - INPUT_LINES + 1} lines` : shown.length === INPUT_CHARACTERS ? `… +${text.length - INPUT_CHARACTERS} characters` : '',
  ].filter(Boolean)
  const body = fold([{ text: shown, paint }], { columns, first: theme.accent('> '), rest: '  ' })
  return [...body, ...(notes.length === 0 ? [] : fold([{ text: notes.join(', '), paint: theme.dim }], { columns, first: '  ' }))].join('\n')
}

function renderText({ text, fence, table }: TextRow, width: Width): string {
  return fence ? renderCode(text, fence, width).join('\n') : renderMarkdown(text, width, table)
}

const languagesOf = (row: TextRow): string[] => (row.fence ? [row.fence.language] : [...row.text.matchAll(/^[ \t]*(?:[-*+]|\d+[.)])?[ \t]*(?:`{3,}|~{3,})[ \t]*([\w+#.-]+)/gm)].map(([, language]) => language ?? ''))
