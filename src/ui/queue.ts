import { landing, type View, type Waiting } from '../core/view.ts'
import { fit } from './graphemes.ts'
import type { Theme } from './theme.ts'

/** The waiting texts above the editor, each with when it will land. At most `rows` rows. */
export function queueLines(view: View, chosen: string | null, columns: number, rows: number, theme: Theme): string[] {
  const { waiting } = view
  if (waiting.length === 0 || rows < 1) return []
  const hint = chosen === null ? [] : [theme.dim(fit('Enter: edit · n: next · a: after the run · !: now · Shift+Up/Down: order · Del: take back · Esc', columns))]
  const room = Math.max(1, rows - hint.length)
  const index = Math.max(0, waiting.findIndex(({ id }) => id === chosen))
  const first = waiting.length <= room ? 0 : Math.min(index, waiting.length - room + 1)
  const shown = waiting.length <= room ? waiting : waiting.slice(first, first + Math.max(1, room - 1))
  const lines = shown.map((each) => {
    const row = queueLine(view, each, columns)
    return each.id === chosen ? theme.accent(`› ${row}`) : theme.dim(`  ${row}`)
  })
  if (shown.length < waiting.length && room > 1) lines.push(theme.dim(`  … ${waiting.length} waiting`))
  return [...lines, ...hint].slice(0, rows)
}

function queueLine(view: View, waiting: Waiting, columns: number): string {
  const when = `(${landing(view, waiting)})`
  const images = waiting.images.length > 0 ? ` [${waiting.images.length} ${waiting.images.length === 1 ? 'image' : 'images'}]` : ''
  const text = waiting.text.replace(/\s+/g, ' ').trim() + images
  const room = columns - 3 - when.length
  // On a narrow screen the words of when are cut before the text is.
  return room >= 12 ? `${fit(text, room)} ${when}` : fit(`${fit(text, Math.max(6, columns - 16))} ${when}`, columns - 2)
}
