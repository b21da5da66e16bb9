import { type Cell, type Editor, lineAt, type Position } from './editor-state.ts'
import { cursorRow, layOut, positionAt } from './editor-rows.ts'

/** Where a move leads. Moves along the text take no width; moves along the screen do. */
export const place = {
  left: (editor: Editor): Position => (editor.col > 0 ? at(editor.row, editor.col - 1) : editor.row > 0 ? lineEnd(editor, editor.row - 1) : editor),
  right: (editor: Editor): Position =>
    editor.col < lineAt(editor, editor.row).length ? at(editor.row, editor.col + 1) : editor.row < editor.lines.length - 1 ? at(editor.row + 1, 0) : editor,
  lineStart: (editor: Editor): Position => at(editor.row, 0),
  lineEnd: (editor: Editor): Position => lineEnd(editor, editor.row),
  start: (): Position => at(0, 0),
  end: (editor: Editor): Position => lineEnd(editor, editor.lines.length - 1),
  wordLeft: (editor: Editor): Position => word(editor, -1),
  wordRight: (editor: Editor): Position => word(editor, 1),
  /** Ctrl+K at the end of a line takes the line break, Ctrl+U at its beginning likewise. */
  killEnd: (editor: Editor): Position => (editor.col === lineAt(editor, editor.row).length ? place.right(editor) : place.lineEnd(editor)),
  killStart: (editor: Editor): Position => (editor.col === 0 ? place.left(editor) : place.lineStart(editor)),
}

export const moveTo = (editor: Editor, { row, col }: Position): Editor => ({ ...editor, row, col, goal: null, last: 'other' })

/** One row of the screen up or down; null: it is the first or the last one already. */
export function moveRow(editor: Editor, step: -1 | 1, width: number): Editor | null {
  const rows = layOut(editor, width)
  const here = cursorRow(rows, editor)
  const target = rows[here.index + step]
  if (!target) return null
  const goal = editor.goal ?? here.x
  return { ...editor, ...positionAt(editor, target, goal), goal, last: 'other' }
}

const at = (row: number, col: number): Position => ({ row, col })
const lineEnd = (editor: Editor, row: number): Position => at(row, lineAt(editor, row).length)

const isWord = (cell: Cell | undefined): boolean => cell !== undefined && (typeof cell !== 'string' || /[\p{L}\p{N}_]/u.test(cell))

/** Over what is no word, then over the word. A line end is passed as a blank is. */
function word(editor: Editor, step: -1 | 1): Position {
  const next = step === 1 ? place.right : place.left
  const ahead = (from: Editor): Cell | undefined => lineAt(from, from.row)[step === 1 ? from.col : from.col - 1]
  let here = editor
  for (let inWord = false; ; ) {
    const target = next(here)
    if (target.row === here.row && target.col === here.col) return target
    const found = isWord(ahead(here))
    if (inWord && !found) return at(here.row, here.col)
    inWord ||= found
    here = { ...here, row: target.row, col: target.col }
  }
}
