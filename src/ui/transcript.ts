import { foldPainted } from './painted.ts'

/**
 * What was printed, for a screen of its own that has no scrollback (`--fullscreen`): kept as it came, folded to the window, and
 * looked at from wherever the person scrolled to.
 */
export interface Transcript {
  add: (text: string) => void
  /** At most `rows` lines, ending where the person looks, and how many there are below. */
  window: (columns: number, rows: number) => { lines: readonly string[]; below: number }
  /** Up by so many lines, or down if it is less than 0. */
  scroll: (by: number) => void
}

export function transcript(): Transcript {
  let texts: string[] = []
  let lines: string[] = []
  let width = 0
  /** Lines below the last one that is shown. */
  let below = 0
  return {
    add: (text) => {
      texts.push(text)
      const added = width === 0 ? [] : folded(text, width)
      for (const line of added) lines.push(line)
      // Who looks at something earlier goes on looking at it.
      if (below > 0) below += added.length
    },
    window: (columns, rows) => {
      if (columns !== width) {
        width = columns
        texts = [texts.join('')]
        lines = folded(texts[0] ?? '', columns)
      }
      below = Math.max(0, Math.min(below, lines.length - rows))
      const end = lines.length - below
      return { lines: lines.slice(Math.max(0, end - rows), end), below }
    },
    scroll: (by) => {
      below = Math.max(0, Math.min(below + by, lines.length))
    },
  }
}

/** Every text ends with the line end of its last row. */
const folded = (text: string, columns: number): string[] => (text === '' ? [] : foldPainted(text.replace(/\n$/, ''), columns))
