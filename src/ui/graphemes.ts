import stringWidth from 'string-width'
import { Segmenter } from './segmenter.ts'

const segmenter = new Segmenter(undefined, { granularity: 'grapheme' })
const PLAIN = /^[\x20-\x7e]*$/

/** Nothing but printable ASCII: every character is one grapheme of one column. */
export const isPlain = (text: string): boolean => PLAIN.test(text)

export const graphemes = (text: string): string[] => (isPlain(text) ? text.split('') : Array.from(segmenter.segment(text), (each) => each.segment))

/** Columns that a text takes. Control sequences in it take none. */
export const columnsOf = (text: string): number => (isPlain(text) ? text.length : stringWidth(text))

/** The beginning of a text that fits in `columns`; `more` says that something is left out. Never half of a wide character. */
export function fit(text: string, columns: number, more = '…'): string {
  if (columnsOf(text) <= columns) return text
  let used = columnsOf(more)
  let kept = ''
  for (const each of graphemes(text)) {
    used += columnsOf(each)
    if (used > columns) break
    kept += each
  }
  return columns < columnsOf(more) ? '' : kept + more
}

/** Filled with blanks to `columns`, or cut to them. */
export function pad(text: string, columns: number): string {
  const cut = fit(text, columns)
  return cut + ' '.repeat(Math.max(0, columns - columnsOf(cut)))
}

/** One row a line, broken after a blank where there is one. Control characters and tabs must be gone already. */
export function wrap(text: string, columns: number): string[] {
  return text.split('\n').flatMap((line) => wrapLine(line, Math.max(1, columns)))
}

function wrapLine(line: string, columns: number): string[] {
  if (columnsOf(line) <= columns) return [line]
  const rows: string[] = []
  let row = ''
  let width = 0
  let breakAt = 0
  for (const each of graphemes(line)) {
    const size = columnsOf(each)
    if (width + size > columns && row !== '') {
      const cut = breakAt > 0 ? breakAt : row.length
      rows.push(row.slice(0, cut).trimEnd())
      row = row.slice(cut)
      width = columnsOf(row)
      breakAt = 0
    }
    if (row === '' && each === ' ' && rows.length > 0) continue
    row += each
    width += size
    if (each === ' ') breakAt = row.length
  }
  return [...rows, row]
}
