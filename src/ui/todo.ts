import type { Row } from '../core/view.ts'
import { change, type Stage } from './stage.ts'

/** Shows or hides what the todo list says now. */
export function toggleTodo(stage: Stage): void {
  const { todo, view } = stage.store.get()
  if (todo.open) return change(stage, { todo: { ...todo, open: false } })
  let text: string | null = null
  for (let index = view.rows.length - 1; index >= 0 && text === null; index--) text = listOf(view.rows.at(index))
  change(stage, { todo: { open: true, text: text ?? '' } })
}

/** The list that a row says was taken; one that was refused changes nothing. */
export const listOf = (row: Row | undefined): string | null => (row?.kind === 'call' && row.name === 'todo' && row.status === 'ok' ? row.output.text : null)
