import { cursorRow, layOut, rowText } from './editor-rows.ts'
import type { Editor } from './editor-state.ts'
import { PROMPT } from './first-paint.ts'
import { fit } from './graphemes.ts'
import type { Theme } from './theme.ts'

export interface EditorView {
  lines: string[]
  /** Of the terminal's own cursor, counted from the first line. */
  cursor: { x: number; y: number }
}

/** Columns for text: the prompt stands before it, and one column is kept for the cursor behind it. */
export const editorWidth = (columns: number): number => Math.max(2, columns - PROMPT.length - 1)

/** The rows around the cursor, at most `most`; the first says how much is above, the last how much is below. */
export function editorView(editor: Editor, columns: number, most: number, theme: Theme, prompt = PROMPT): EditorView {
  const rows = layOut(editor, editorWidth(columns))
  const { index, x } = cursorRow(rows, editor)
  const first = Math.max(0, Math.min(index - Math.floor(most / 2), rows.length - most))
  const shown = rows.slice(first, first + most)
  const lines = shown.map((row, offset) => {
    const begins = first + offset === 0
    const mark = begins ? theme.accent(prompt) : offset === 0 ? theme.dim('↑ ') : offset === shown.length - 1 && first + most < rows.length ? theme.dim('↓ ') : '  '
    return mark + fit(rowText(editor, row), columns - PROMPT.length)
  })
  return { lines, cursor: { x: Math.min(columns - 1, PROMPT.length + x), y: index - first } }
}
