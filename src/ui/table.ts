import type { Tokens } from 'marked'
import { columnsOf } from './graphemes.ts'
import { inline } from './markdown-inline.ts'
import { fold, joined, widthOf, type Span, type Width } from './spans.ts'

const LEAST = 6

/** A table in columns, cells folded where it is too wide; too narrow for that, one line a cell. `like`: the piece that began it, whose head is shown and whose widths hold. */
export function renderTable(table: Tokens.Table, { columns, theme }: Width, like: Tokens.Table | null): string[] {
  const head = table.header.map((cell) => inline(cell.tokens, theme, theme.strong))
  const body = table.rows.map((row) => row.map((cell) => inline(cell.tokens, theme)))
  const measured = like ? like.rows.map((row) => row.map((cell) => inline(cell.tokens, theme))) : body
  const between = theme.ascii ? ' | ' : ' │ '
  const natural = head.map((cell, index) => Math.max(1, widthOf(cell), ...measured.map((row) => lineWidth(row[index] ?? []))))
  const widths = shrink(natural, columns - between.length * (head.length - 1))
  if (!widths) return pairs(head, body, columns)
  const rule = widths.map((width) => (theme.ascii ? '-' : '─').repeat(width)).join(theme.ascii ? '-+-' : '─┼─')
  const row = (cells: readonly Span[][]): string[] => renderRow(cells, widths, table.align, theme.dim(between))
  return [...(like ? [] : [...row(head), theme.dim(rule)]), ...body.flatMap(row)]
}

/** The widest columns give way first, none below `LEAST`. Null: it does not fit. */
function shrink(natural: readonly number[], room: number): number[] | null {
  const least = natural.map((width) => Math.min(width, LEAST))
  if (least.reduce((sum, width) => sum + width, 0) > room) return null
  let most = Math.max(...natural)
  const sum = (cap: number): number => natural.reduce((total, width) => total + Math.min(width, cap), 0)
  if (Number.isFinite(room)) while (most > LEAST && sum(most) > room) most--
  return natural.map((width) => Math.min(width, most))
}

function renderRow(cells: readonly Span[][], widths: readonly number[], align: readonly (string | null)[], between: string): string[] {
  const folded = widths.map((width, index) => fold(cells[index] ?? [], { columns: width }))
  const height = Math.max(1, ...folded.map((rows) => rows.length))
  return Array.from({ length: height }, (_, line) => widths.map((width, index) => padded(folded[index]?.[line] ?? '', width, align[index] ?? null, index === widths.length - 1)).join(between))
}

function padded(text: string, width: number, align: string | null, last: boolean): string {
  const blanks = Math.max(0, width - columnsOf(text))
  const left = align === 'right' ? blanks : align === 'center' ? Math.floor(blanks / 2) : 0
  return ' '.repeat(left) + text + (last ? '' : ' '.repeat(blanks - left))
}

function pairs(head: readonly Span[][], body: readonly Span[][][], columns: number): string[] {
  return body.flatMap((row, index) => [
    ...(index > 0 ? [''] : []),
    ...row.flatMap((cell, column) => fold([...(head[column] ?? []), { text: ': ' }, ...cell], { columns, first: '', rest: columns > 12 ? '  ' : '' })),
  ])
}

const lineWidth = (spans: readonly Span[]): number => Math.max(...joined(spans.map(({ text }) => ({ text }))).split('\n').map(columnsOf))
