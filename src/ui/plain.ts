import { openView } from '../core/view-open.ts'
import { emptyView, landing, reduce, type Row, type View, type ViewEvent } from '../core/view.ts'
import { loadMarkdown } from './markdown.ts'
import { gapBetween, prepareRows, renderRows } from './rows.ts'
import type { Width } from './spans.ts'
import { noAbilities, themeOf } from './theme.ts'

export interface Plain {
  /** Default: no colours, ASCII marks, nothing folded. */
  width?: Width
  /** The model's own words are left out: they go elsewhere (`-p` prints the answer on stdout). */
  silent?: boolean
}

/**
 * The same view as readable lines that are only ever appended: for a pipe, a screen reader and `tiller demo` without a
 * terminal. Gives the text to write for each event, often none. Long calls are announced when they start.
 */
export async function plainWriter({ width = plainWidth, silent = false }: Plain = {}): Promise<(event: ViewEvent) => string> {
  await loadMarkdown()
  let view = emptyView()
  let last: Row | undefined
  return (event) => {
    const before = view
    view = reduce(view, event)
    const said = announce(before, view, event)
    const gap = said !== '' && gapBetween(last, ANNOUNCED) ? '\n' : ''
    if (said !== '') last = ANNOUNCED
    const rows = view.rows.slice(before.rows.length).filter((row) => !silent || (row.kind !== 'text' && row.kind !== 'reasoning'))
    const text = renderRows(rows, width, last)
    last = rows.at(-1) ?? last
    return `${said === '' ? '' : `${gap}${said}\n`}${text}`
  }
}

/** A whole session as text, for `tiller sessions show`. */
export async function plainSession(records: readonly ViewEvent[], width: Width = plainWidth): Promise<string> {
  const { rows, waiting } = openView(records)
  await prepareRows(rows.slice())
  return renderRows(rows.slice(), width) + waiting.map(({ text }) => `\nnot delivered yet: ${text}\n`).join('')
}

const plainWidth: Width = { columns: Number.POSITIVE_INFINITY, theme: themeOf('none', noAbilities) }

const QUICK: ReadonlySet<string> = new Set(['read', 'ls', 'find', 'grep', 'edit', 'write', 'todo', 'git'])
/** Announcements stand with the calls. */
const ANNOUNCED: Row = { kind: 'checkpoint', note: '' }

/** What a screen shows in its live part and a list of settled rows does not say in time. */
function announce(before: View, after: View, event: ViewEvent): string {
  if (!('seq' in event) || 'unknown' in event) return ''
  switch (event.type) {
    case 'start': {
      const call = after.live.calls.find((each) => each.call === event.call)
      return call && !event.reads && !QUICK.has(call.name) ? `running ${call.name} ${call.summary}` : ''
    }
    case 'ask': {
      const ask = after.asks.find((each) => each.call === event.call)
      return ask ? `asks for permission: ${ask.name} ${ask.summary}${ask.because === null ? '' : ` (${ask.because})`}` : ''
    }
    case 'input': {
      const input = after.waiting.find((each) => each.id === event.id)
      return input && before.run ? `waiting ${landing(after, input)}: ${input.text}` : ''
    }
    case 'withdraw': {
      const input = before.waiting.find((each) => each.id === event.input)
      return input ? `taken back: ${input.text}` : ''
    }
    default:
      return ''
  }
}
