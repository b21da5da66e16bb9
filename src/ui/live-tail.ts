import type { LiveCall, TextRow, View } from '../core/view.ts'
import { elapsed, count } from './figures.ts'
import { fit } from './graphemes.ts'
import { loadLanguage } from './highlight.ts'
import { loadMarkdown } from './markdown.ts'
import { paintOf, renderHead } from './row-call.ts'
import { gapBetween, renderRow } from './rows.ts'
import { TAB, type Width } from './spans.ts'

/**
 * What is under way, as painted rows: at most `rows`, none wider than `columns`. Cut from the data: of a long text only the
 * end is looked at, so that a frame costs the same whatever came before. `clock`: UTC milliseconds.
 */
export function liveRows(view: View, width: Width, rows: number, clock: number): string[] {
  if (rows < 1) return []
  const { live } = view
  const hard = { ...width, soft: false }
  const calls = callRows(view, hard, clock, Math.max(1, Math.floor(rows * (live.text ? 0.5 : 1))))
  const below = [...waitRows(view, hard, clock), ...calls]
  const text = live.text ? textRows(view, live.text, hard, rows - below.length) : []
  const gap = text.length === 0 && below.length > 0 && rows > below.length && view.rows.at(view.rows.length - 1)?.kind !== 'call' ? [''] : []
  return [...gap, ...text, ...below].slice(0, rows)
}

/** Loads on the side what the text being written will need: Markdown while the model is waited for, a language when its fence opens. */
export function prepareLive({ live }: View): Promise<unknown> | null {
  if (!live.request) return null
  const open = [loadMarkdown(), live.text?.fence ? loadLanguage(live.text.fence.language) : null].filter((need) => need !== null)
  return open.length > 0 ? Promise.all(open) : null
}

const OUTPUT_ROWS = 5

function textRows(view: View, text: NonNullable<View['live']['text']>, width: Width, rows: number): string[] {
  if (rows < 1 || text.text.trim() === '') return []
  const { source, cut } = tail(text.text, rows, width.columns)
  const fence = text.fence ? { ...text.fence, first: text.fence.first && !cut, last: false } : null
  const row: TextRow = { kind: 'text', text: source, joins: text.joins, fence, table: cut ? null : text.table }
  const shown = renderRow(row, width).split('\n')
  const gap = !cut && gapBetween(view.rows.at(view.rows.length - 1), row) ? [''] : []
  return [...gap, ...shown].slice(-rows)
}

/** The last lines of a text that can fill `rows`. */
function tail(text: string, rows: number, columns: number): { source: string; cut: boolean } {
  const most = (rows + 2) * (Math.min(columns, 400) + 1)
  const end = text.length > most ? text.slice(-most) : text
  const lines = end.split('\n')
  while (lines.at(-1)?.trim() === '') lines.pop()
  const cut = lines.length > rows + 2 || end.length < text.length
  return { source: (cut ? lines.slice(-(rows + 2)) : lines).join('\n'), cut }
}

/** What is waited for when nothing of a reply is to be seen yet. */
function waitRows({ live }: View, { columns, theme }: Width, clock: number): string[] {
  const rows: string[] = []
  const { request, retry } = live
  if (live.gap) rows.push('a piece of the reply was missed here; it follows whole')
  if (request && !request.begun) rows.push(`waiting for ${request.model}, ${elapsed(request.since, clock)}${request.attempt > 1 ? `, attempt ${request.attempt}` : ''}`)
  if (live.reasoning !== null) rows.push(`thinking: ${live.reasoning.replace(/[*#`]/g, '')}`)
  if (retry) rows.push(`tries again in ${elapsed(clock, Math.ceil((retry.at - clock) / 1_000) * 1_000 + clock)}, attempt ${retry.attempt} of ${retry.of}`)
  for (const call of live.writing) rows.push(`writing ${call.name || 'a call'}, ${count(call.characters, 'character')}`)
  return rows.map((row) => theme.dim(fit(row, columns)))
}

function callRows({ live }: View, width: Width, clock: number, rows: number): string[] {
  const { theme, columns } = width
  const heads = live.calls.map((call) => ({ call, rows: callHead(call, width, clock) }))
  const all: string[] = []
  for (const [index, { call, rows: head }] of heads.entries()) {
    const after = heads.slice(index + 1).length
    if (all.length + head.length + (after > 0 ? 1 : 0) > rows && all.length > 0) {
      all.push(theme.dim(fit(`… and ${count(heads.length - index, 'more call')}`, columns)))
      break
    }
    all.push(...head)
    if (call.state === 'running') all.push(...outputRows(call.output, width, Math.min(OUTPUT_ROWS, rows - all.length - after)))
  }
  for (const shell of live.shells) all.push(...renderHead({ name: '!', summary: shell.command }, ['running'], theme.accent, width), ...outputRows(shell.output, width, Math.min(OUTPUT_ROWS, rows - all.length - 1)))
  return all.slice(0, rows)
}

function callHead(call: LiveCall, width: Width, clock: number): string[] {
  const { theme } = width
  switch (call.state) {
    case 'waiting':
      return renderHead(call, ['waiting'], theme.dim, width)
    case 'asking':
      return renderHead(call, ['waits for your answer'], theme.warn, width)
    case 'running':
      return renderHead(call, [`running ${elapsed(call.since ?? clock, clock)}`], theme.accent, width)
    case 'ended':
      return renderHead(call, [call.status ?? 'ok'], paintOf(call.status ?? 'ok', theme), width)
  }
}

function outputRows(output: string, { columns, theme }: Width, rows: number): string[] {
  if (rows < 1 || output.trim() === '') return []
  const lines = output.replace(/\n+$/, '').split('\n').slice(-rows)
  return lines.map((line) => theme.dim(fit(`  ${line.replaceAll('\t', TAB)}`, columns)))
}

