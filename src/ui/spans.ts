import { columnsOf, graphemes, isPlain } from './graphemes.ts'
import type { Paint, Theme } from './theme.ts'

/** A piece of text that looks one way. Text is sanitized and has no tabs; `\n` breaks the line. */
export interface Span {
  text: string
  paint?: Paint | undefined
  /** A target that is safe to write, from `safeLink`. */
  link?: string | undefined
}

export interface Width {
  /** Columns of the terminal; Infinity: nothing is folded. */
  columns: number
  theme: Theme
  /** Lines of code may be longer: the terminal wraps them, so that they are copied whole. */
  soft?: boolean
}

export interface Fold {
  columns: number
  /** Before the first row, and before the others; they count. */
  first?: string
  rest?: string
  /** Break between any two characters and keep all blanks, as for code. */
  anywhere?: boolean
}

interface Cell {
  text: string
  width: number
  span: Span
}

/** Painted rows, none wider than `columns` (but one character is always on a row). */
export function fold(spans: readonly Span[], { columns, first = '', rest = first, anywhere = false }: Fold): string[] {
  const rows: string[] = []
  for (const line of linesOf(spans)) {
    const prefix = rows.length === 0 ? first : rest
    for (const row of foldLine(line, columns - columnsOf(prefix), columns - columnsOf(rest), anywhere)) rows.push((rows.length === 0 ? first : rest) + paintCells(row))
  }
  return rows
}

/** Spans as they are, without folding: for what the terminal may wrap by itself. */
export const joined = (spans: readonly Span[]): string => spans.map(({ text, paint, link }) => finish(text, paint, link)).join('')

/** The spans cut to `columns`, with a mark where something is left out. */
export function cutSpans(spans: readonly Span[], columns: number): Span[] {
  if (spans.reduce((sum, { text }) => sum + columnsOf(text), 0) <= columns) return [...spans]
  const kept: Span[] = []
  let left = columns - 1
  for (const span of spans) {
    let text = ''
    for (const each of graphemes(span.text)) {
      const width = columnsOf(each)
      if (width > left) return columns < 1 ? [] : [...kept, { ...span, text: `${text}…` }]
      text += each
      left -= width
    }
    kept.push(span)
  }
  return kept
}

export const widthOf = (spans: readonly Span[]): number => spans.reduce((most, { text }) => most + columnsOf(text), 0)

export const TAB = '    '

function linesOf(spans: readonly Span[]): Span[][] {
  const lines: Span[][] = [[]]
  for (const span of spans) {
    for (const [index, text] of span.text.split('\n').entries()) {
      if (index > 0) lines.push([])
      if (text !== '') lines.at(-1)?.push({ ...span, text })
    }
  }
  return lines
}

function foldLine(spans: readonly Span[], firstColumns: number, restColumns: number, anywhere: boolean): Cell[][] {
  const rows: Cell[][] = []
  let row: Cell[] = []
  let width = 0
  let breakAt = 0
  const room = (): number => Math.max(1, rows.length === 0 ? firstColumns : restColumns)
  for (const cell of cellsOf(spans)) {
    if (!anywhere && cell.text === ' ' && width >= room()) {
      breakAt = row.length
      continue
    }
    while (width + cell.width > room() && row.length > 0) {
      const cut = !anywhere && breakAt > 0 ? breakAt : row.length
      rows.push(anywhere ? row.slice(0, cut) : trimEnd(row.slice(0, cut)))
      row = row.slice(cut)
      width = row.reduce((sum, each) => sum + each.width, 0)
      breakAt = 0
    }
    if (row.length === 0 && cell.text === ' ' && rows.length > 0 && !anywhere) continue
    row.push(cell)
    width += cell.width
    // A line may break after a blank, and after a wide character, which needs none.
    if (cell.text === ' ' || cell.width > 1) breakAt = row.length
  }
  return [...rows, row]
}

const cellsOf = (spans: readonly Span[]): Cell[] =>
  spans.flatMap((span) => (isPlain(span.text) ? span.text.split('').map((text) => ({ text, width: 1, span })) : graphemes(span.text).map((text) => ({ text, width: columnsOf(text), span }))))

function trimEnd(row: Cell[]): Cell[] {
  const last = row.findLastIndex((cell) => cell.text !== ' ')
  return last === -1 ? row : row.slice(0, last + 1)
}

function paintCells(cells: readonly Cell[]): string {
  let out = ''
  for (let from = 0; from < cells.length; ) {
    const span = cells[from]?.span
    let to = from
    while (to < cells.length && cells[to]?.span === span) to++
    out += finish(cells.slice(from, to).map((cell) => cell.text).join(''), span?.paint, span?.link)
    from = to
  }
  return out
}

const finish = (text: string, paint: Paint | undefined, link: string | undefined): string => {
  const painted = paint && text !== '' ? paint(text) : text
  return link === undefined ? painted : `\x1b]8;;${link}\x1b\\${painted}\x1b]8;;\x1b\\`
}

/** A link target that may be written into a terminal: http, https or file, percent-encoded. Undefined: it may not. */
export function safeLink(target: string): { href: string; host: string } | undefined {
  if (!URL.canParse(target)) return undefined
  const { protocol, href, host } = new URL(target)
  if (!['http:', 'https:', 'file:'].includes(protocol) || !/^[\x21-\x7e]+$/.test(href) || href.length > 2_000) return undefined
  return { href, host }
}
