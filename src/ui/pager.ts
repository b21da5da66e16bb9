import { sanitize } from '../core/sanitize.ts'
import { fit } from './graphemes.ts'
import { foldPainted } from './painted.ts'
import type { Size } from './screen.ts'
import { ALTERNATE_OFF, ALTERNATE_ON, BEGIN_UPDATE, END_UPDATE } from './terminal.ts'

export interface PagerScreen {
  write: (text: string) => void
  size: () => Size
  /** Calls back for keys, and when the size or the notice changes; returns how to stop. */
  onKeys: (listener: (chunk: string) => void) => () => void
  onChange: (listener: () => void) => () => void
  /** Said in the last row: something waits for the person. */
  notice: () => string | null
}

const MOVES: Readonly<Record<string, (top: number, page: number, end: number) => number>> = {
  '\x1b[A': (top) => top - 1, '\x1bOA': (top) => top - 1, k: (top) => top - 1,
  '\x1b[B': (top) => top + 1, '\x1bOB': (top) => top + 1, j: (top) => top + 1, '\r': (top) => top + 1,
  '\x1b[5~': (top, page) => top - page, b: (top, page) => top - page,
  '\x1b[6~': (top, page) => top + page, ' ': (top, page) => top + page,
  '\x1b[H': () => 0, '\x1b[1~': () => 0, g: () => 0,
  '\x1b[F': (_top, _page, end) => end, '\x1b[4~': (_top, _page, end) => end, G: (_top, _page, end) => end,
}
/** q, Esc, Ctrl+C, Ctrl+D, and Ctrl+O that opened it. */
const CLOSE = ['q', 'Q', '\x1b', '\x03', '\x04', '\x0f', '\x1b[27u']

/** Shows a text on the alternate screen until it is closed: the scrollback and what is on the screen stay as they were. */
export async function page(screen: PagerScreen, title: string, text: string, from: 'start' | 'end' = 'start'): Promise<void> {
  const safe = sanitize(text, { sgr: true }).replaceAll('\t', '    ').trimEnd()
  let columns = 0
  let rows: string[] = []
  let top = from === 'start' ? 0 : Infinity

  const draw = (): void => {
    const size = screen.size()
    const height = Math.max(1, size.rows - 1)
    if (size.columns !== columns) rows = foldPainted(safe, size.columns)
    columns = size.columns
    top = Math.max(0, Math.min(top, rows.length - height))
    const shown = rows.slice(top, top + height)
    const where = `${title} · ${Math.min(rows.length, top + 1)}-${top + shown.length} of ${rows.length} · q closes`
    const foot = `\x1b[7m${fit(screen.notice() ?? where, columns - 1)}\x1b[27m`
    const lines = [...shown, ...Array.from({ length: height - shown.length }, () => ''), foot]
    screen.write(`${BEGIN_UPDATE}\x1b[H${lines.map((line) => `${line}\x1b[0m\x1b[K`).join('\r\n')}${END_UPDATE}`)
  }

  await new Promise<void>((resolve) => {
    const stopChange = screen.onChange(draw)
    const stopKeys = screen.onKeys((chunk) => {
      if (CLOSE.includes(chunk)) {
        stopChange()
        stopKeys()
        return resolve()
      }
      const height = Math.max(1, screen.size().rows - 1)
      const move = MOVES[chunk]
      if (!move) return
      top = move(top, height - 1, rows.length)
      draw()
    })
    screen.write(`${ALTERNATE_ON}\x1b[?25l`)
    draw()
  })
  screen.write(`${ALTERNATE_OFF}\x1b[?25h`)
}
