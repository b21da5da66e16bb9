import { activityLine, statusLine } from './status-line.ts'
import { askLines, askState, pendingAsk } from './ask.ts'
import type { Completion } from './completion.ts'
import { editorView } from './editor-view.ts'
import { fit, pad, wrap } from './graphemes.ts'
import { pickerLines } from './picker.ts'
import { queueLines } from './queue.ts'
import type { Overlay, Screen } from './screen.ts'
import type { Stage } from './stage.ts'
import type { Theme } from './theme.ts'

/** The live part of the screen, as rows of text: what Ink draws, and never more than fits. */
export interface Frame {
  /** What is under way, and the question or list that lies over the editor. */
  above: string[]
  queue: string[]
  editor: string[]
  below: string[]
  /** From the first row of the frame on; null: hidden. */
  cursor: { x: number; y: number } | null
}

/** Every part says how much it needs; the editor and the status come first, what is under way gets the rest. */
export function frame(stage: Stage): Frame {
  const screen = stage.store.get()
  const { size, theme, view, overlay, completion } = screen
  const columns = Math.max(4, size.columns)
  // A frame as tall as the window would leave copies of itself in the scrollback.
  let left = Math.max(2, size.rows - 1)
  const take = (lines: string[]): string[] => {
    const kept = lines.slice(0, Math.max(0, left))
    left -= kept.length
    return kept
  }
  const status = take(noticeLines(screen, columns).slice(0, Math.max(1, left - 2)) || [])
  const below = status.length > 0 ? status : take([statusLine(screen, stage.host, stage.clock(), theme)])
  const editor = editorPart(screen, columns, Math.max(1, Math.min(left, Math.floor(size.rows / 3))), theme)
  left -= editor.lines.length
  const activity = activityLine(screen, stage.clock(), theme)
  const busy = activity === null ? [] : take([activity])
  const gap = size.rows >= 8 ? take(['']) : []
  const asked = pendingAsk(screen)
  const over = overlay ? take(overlayLines(screen, overlay, columns, left)) : asked ? take(askLines(screen, asked, columns, left, theme)) : []
  const queue = take(queueLines(view, overlay?.kind === 'queue' ? overlay.id : null, columns, Math.min(6, left), theme))
  const offers = completion ? take(completionLines(completion, columns, Math.min(6, left), theme)) : []
  const todo = screen.todo.open ? take(todoLines(screen.todo.text, columns, Math.min(10, left))) : []
  const live = left > 0 ? stage.draw.live(view, columns, left, stage.clock()).slice(-left) : []
  const above = [...live, ...todo, ...over, ...busy, ...gap]
  return {
    above, queue, editor: editor.lines, below: [...offers, ...below],
    cursor: editor.cursor && { x: editor.cursor.x, y: above.length + queue.length + editor.cursor.y },
  }
  function editorPart(from: Screen, width: number, most: number, paint: Theme): { lines: string[]; cursor: Frame['cursor'] } {
    if (overlay?.kind === 'picker' && overlay.picker.search) return { lines: [], cursor: null }
    if (overlay?.kind === 'reason') return editorView(overlay.editor, width, 1, paint)
    const { lines, cursor } = editorView(from.editor, width, most, paint)
    const asking = askState(from, stage.now()) === 'asking'
    return { lines, cursor: asking ? null : cursor }
  }
}

function overlayLines(screen: Screen, overlay: Overlay, columns: number, rows: number): string[] {
  const { theme } = screen
  switch (overlay.kind) {
    case 'picker':
      return pickerLines(overlay.picker, columns, Math.min(rows, 24), theme)
    case 'panel': {
      const room = Math.max(1, Math.min(rows, 24) - 2)
      const shown = overlay.lines.slice(overlay.offset, overlay.offset + room)
      const more = overlay.lines.length > room ? ` · ${overlay.offset + 1} to ${overlay.offset + shown.length} of ${overlay.lines.length}, Up and Down` : ''
      return [theme.strong(overlay.title), ...shown.map((line) => fit(line, columns)), theme.dim(fit(`Esc: close${more}`, columns))]
    }
    case 'reason':
      return [theme.strong(fit('No. Why? The model is told.', columns)), theme.dim(fit('Enter: deny · Esc: back to the question', columns))]
    case 'queue':
      return []
  }
}

function noticeLines({ notice, theme }: Screen, columns: number): string[] {
  if (!notice) return []
  const lines = wrap(notice.text, columns - 1).slice(0, 4)
  return lines.map((line) => (notice.tone === 'error' ? theme.bad(line) : theme.warn(line)))
}

function completionLines({ offers, index }: Completion, columns: number, rows: number, theme: Theme): string[] {
  const first = Math.max(0, Math.min((index ?? 0) - Math.floor(rows / 2), offers.length - rows))
  const shown = offers.slice(first, first + rows)
  const width = Math.min(Math.max(...shown.map(({ text }) => text.length)), Math.floor(columns / 2))
  return shown.map(({ text, about }, offset) => {
    const chosen = first + offset === index
    const row = fit(`${chosen ? '› ' : '  '}${about === '' ? text : `${pad(text, width)}  ${about}`}`, columns)
    return chosen ? theme.accent(row) : theme.dim(row)
  })
}

const todoLines = (text: string, columns: number, rows: number): string[] => {
  const lines = text === '' ? ['The todo list is empty.'] : text.split('\n').map((line) => fit(line, columns))
  return lines.length > rows ? [...lines.slice(0, rows - 1), `… ${lines.length - rows + 1} more`] : lines
}

