import { type Cell, type Editor, lineAt, pasteLabel, type Position } from './editor-state.ts'
import { columnsOf } from './graphemes.ts'

/** One row of the screen: cells `from` up to `to` of a line. */
export interface Row {
  line: number
  from: number
  to: number
  /** The line ends here. */
  last: boolean
}

/** Where everything stands at this width. No row is wider than `width`, but for one blank that hangs at its end. */
export const layOut = (editor: Editor, width: number): Row[] => editor.lines.flatMap((_, line) => breakLine(editor, line, Math.max(2, width)))

export const rowText = (editor: Editor, row: Row): string => lineAt(editor, row.line).slice(row.from, row.to).map(shown).join('')

/** The row of the cursor, and its column there. At a break it stands at the beginning of the next row. */
export function cursorRow(rows: readonly Row[], editor: Editor): { index: number; x: number } {
  const index = rows.findIndex((row) => row.line === editor.row && (editor.col < row.to || (row.last && editor.col === row.to)))
  const row = rows[Math.max(0, index)]
  return { index: Math.max(0, index), x: row ? columns(editor, row.line, row.from, editor.col) : 0 }
}

/** The cell boundary of a row that is nearest to column `x`, never past it. */
export function positionAt(editor: Editor, row: Row, x: number): Position {
  const most = row.last ? row.to : row.to - 1
  let col = row.from
  for (let width = 0; col < most; col++) {
    width += cellWidth(lineAt(editor, row.line)[col] ?? '')
    if (width > x) break
  }
  return { row: row.line, col }
}

/** What stands on the screen for a cell: a control character as its picture, never as itself. */
export function shown(cell: Cell): string {
  if (typeof cell !== 'string') return pasteLabel(cell)
  if (cell.length === 1 && cell >= ' ' && cell <= '~') return cell
  if (cell === '\t') return '    '
  return cell.replace(CONTROLS, (each) => picture(each))
}

const CONTROLS = /[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\u2028\u2029\ufeff\u{e0000}-\u{e007f}]/gu

function picture(control: string): string {
  const code = control.codePointAt(0) ?? 0
  return code < 0x20 ? String.fromCodePoint(0x2400 + code) : code === 0x7f ? '␡' : '\uFFFD'
}

export const cellWidth = (cell: Cell): number => (typeof cell === 'string' && cell.length === 1 && cell >= ' ' && cell <= '~' ? 1 : columnsOf(shown(cell)))

function columns(editor: Editor, line: number, from: number, to: number): number {
  return lineAt(editor, line).slice(from, to).reduce<number>((sum, cell) => sum + cellWidth(cell), 0)
}

function breakLine(editor: Editor, line: number, width: number): Row[] {
  const cells = lineAt(editor, line)
  const rows: Row[] = []
  let from = 0
  let used = 0
  let afterBlank = 0
  for (let index = 0; index < cells.length; index++) {
    const cell = cells[index] ?? ''
    const size = cellWidth(cell)
    const hangs = cell === ' ' && used === width && index < cells.length - 1
    // A cell may be wider than what a break after a blank leaves room for: it takes another.
    if (!hangs) while (used + size > width && index > from) {
      const to = afterBlank > from ? afterBlank : index
      rows.push({ line, from, to, last: false })
      from = to
      used = columns(editor, line, from, index)
    }
    used += size
    if (cell === ' ') afterBlank = index + 1
  }
  return [...rows, { line, from, to: cells.length, last: true }]
}
