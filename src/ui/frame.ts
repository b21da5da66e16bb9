import { sanitize } from '../core/sanitize.ts'
import { askLines, askState, pendingAsk } from './ask.ts'
import { oneLine } from './choice-rows.ts'
import type { Completion } from './completion.ts'
import { editorView } from './editor-view.ts'
import { count } from './figures.ts'
import { columnsOf, fit, pad, wrap } from './graphemes.ts'
import { pickerLines } from './picker.ts'
import { queueLines } from './queue.ts'
import type { Overlay, Screen } from './screen.ts'
import type { Stage } from './stage.ts'
import { activityLine, statusLine } from './status-line.ts'
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

/** Every part says how much it needs; the status and the editor come first, what is under way gets the rest. */
export function frame(stage: Stage): Frame {
  const screen = stage.store.get()
  const { size, theme, view, overlay, completion } = screen
  if (screen.left) return { above: [], queue: [], editor: [], below: [], cursor: null }
  const columns = Math.max(4, size.columns)
  // A frame as tall as the window would leave copies of itself in the scrollback.
  const room = budget(Math.max(2, size.rows - 1))
  const airy = size.rows >= 20
  const status = room.take(screen.notice ? noticeLines(screen.notice, columns, theme) : [statusLine(screen, stage.host, stage.clock(), theme)], room.left() - 1)
  const attached = room.take(screen.images.length > 0 ? [theme.dim(fit(`[${count(screen.images.length, 'image')} with your text; Ctrl+C takes it away]`, columns))] : [], 1)
  const input = inputLines(stage, screen, columns, Math.max(1, Math.min(room.left(), Math.floor(size.rows / 3))))
  room.take(input.lines)
  const activity = activityLine(screen, stage.clock(), theme)
  const busy = room.take(activity === null ? [] : [activity])
  const over = overlayLines(screen, columns, room.left() - (airy ? 2 : 0))
  const asked = room.take(over.lines)
  const gap = room.take(size.rows >= (asked.length > 0 ? 16 : 8) ? [''] : [])
  const space = room.take(airy && asked.length > 0 ? [''] : [])
  const queue = [...room.take(queueLines(view, overlay?.kind === 'queue' ? overlay.id : null, columns, Math.min(6, room.left()), theme)), ...attached]
  const offers = room.take(completion ? completionLines(completion, columns, Math.min(6, room.left()), theme) : [])
  const todo = room.take(screen.todo.open ? todoLines(screen.todo.text, columns, Math.min(10, room.left())) : [])
  const live = room.left() > 0 ? stage.draw.live(view, columns, room.left(), stage.clock()).slice(-room.left()) : []
  const before = [...transcriptLines(screen, columns, room.left() - live.length), ...live, ...todo, ...space]
  const above = [...before, ...asked, ...busy, ...gap]
  const cursor = over.cursor ? { ...over.cursor, y: over.cursor.y + before.length } : input.cursor && { ...input.cursor, y: input.cursor.y + above.length + queue.length }
  return { above, queue, editor: input.lines, below: [...offers, ...status], cursor }
}

/** What was printed, and blank rows down to the rest of the frame: on a screen of its own it fills the window. */
function transcriptLines({ transcript, theme }: Screen, columns: number, rows: number): string[] {
  if (!transcript || rows < 1) return []
  const { lines, below } = transcript.window(columns, rows)
  const shown = below > 0 && rows > 1 ? [...lines.slice(0, -1), theme.dim(fit(`… ${below + 1} lines below: PageDown`, columns))] : lines
  return [...shown, ...Array.from({ length: rows - shown.length }, () => '')]
}

/** How many rows are left. */
function budget(rows: number): { left: () => number; take: (lines: string[], most?: number) => string[] } {
  let left = rows
  return {
    left: () => left,
    take: (lines, most = left) => {
      const kept = lines.slice(0, Math.max(0, Math.min(left, most)))
      left -= kept.length
      return kept
    },
  }
}

interface Input {
  lines: string[]
  cursor: Frame['cursor']
}

/** The editor, or what stands in its place. Its cursor is hidden while keys answer a question. */
function inputLines(stage: Stage, screen: Screen, columns: number, rows: number): Input {
  const { overlay, theme } = screen
  if (overlay?.kind === 'picker' && overlay.picker.line?.kind === 'edit') return editorView(overlay.picker.line.editor, columns, 1, theme)
  if (overlay?.kind === 'picker' && (overlay.picker.search || overlay.picker.line)) return { lines: [], cursor: null }
  if (overlay?.kind === 'reason') return editorView(overlay.editor, columns, 1, theme)
  const { lines, cursor } = editorView(screen.editor, columns, rows, theme)
  return { lines, cursor: askState(screen, stage.now()) === 'asking' ? null : cursor }
}

function overlayLines(screen: Screen, columns: number, rows: number): Input {
  const { overlay, theme } = screen
  const most = Math.max(1, Math.min(rows, 24))
  const ask = pendingAsk(screen)
  if (!overlay) return { lines: ask && rows > 0 ? askLines(screen, ask, columns, rows, theme) : [], cursor: null }
  switch (overlay.kind) {
    case 'picker': {
      const { lines, search } = pickerLines(overlay.picker, columns, most, theme)
      return { lines, cursor: search === null ? null : { x: Math.min(columns - 1, 'search: '.length + columnsOf(overlay.picker.query)), y: search } }
    }
    case 'panel':
      return { lines: panelLines(overlay, columns, most, theme), cursor: null }
    case 'reason':
      return { lines: [theme.strong(fit('No. Why? The model is told.', columns)), theme.dim(fit('Enter: deny · Esc: back to the question', columns))], cursor: null }
    case 'queue':
      return { lines: [], cursor: null }
  }
}

function panelLines({ title, lines, offset }: Extract<Overlay, { kind: 'panel' }>, columns: number, rows: number, theme: Theme): string[] {
  const room = Math.max(1, rows - 2)
  const shown = lines.slice(offset, offset + room)
  const more = lines.length > room ? ` · ${offset + 1} to ${offset + shown.length} of ${lines.length}, Up and Down` : ''
  return [theme.strong(fit(title, columns)), ...shown.map((line) => fit(line, columns)), theme.dim(fit(`Esc: close${more}`, columns))]
}

const noticeLines = ({ text, tone }: NonNullable<Screen['notice']>, columns: number, theme: Theme): string[] =>
  wrap(sanitize(text), columns - 1).slice(0, 4).map((line) => (tone === 'error' ? theme.bad(line) : theme.warn(line)))

function completionLines({ offers, index }: Completion, columns: number, rows: number, theme: Theme): string[] {
  if (rows < 1) return []
  const first = Math.max(0, Math.min((index ?? 0) - Math.floor(rows / 2), offers.length - rows))
  const shown = offers.slice(first, first + rows).map(({ text, about }) => ({ text: oneLine(text), about: oneLine(about) }))
  const width = Math.min(Math.max(...shown.map(({ text }) => columnsOf(text))), Math.floor(columns / 2))
  return shown.map(({ text, about }, offset) => {
    const chosen = first + offset === index
    const row = fit(`${chosen ? '› ' : '  '}${about === '' ? text : `${pad(text, width)}  ${about}`}`, columns)
    return chosen ? theme.accent(row) : theme.dim(row)
  })
}

function todoLines(text: string, columns: number, rows: number): string[] {
  const lines = text === '' ? [fit('The todo list is empty.', columns)] : text.split('\n').map((line) => fit(line, columns))
  return lines.length > rows ? [...lines.slice(0, Math.max(0, rows - 1)), fit(`… ${lines.length - rows + 1} more`, columns)] : lines
}
