import type { Said } from './port.ts'
import { hint, type Stage } from './stage.ts'

/** An answer of Tiller itself: into the transcript, or in the pager where it would push everything else away. */
export async function say(stage: Stage, said: Said): Promise<void> {
  const { columns, rows } = stage.store.get().size
  if (said.text.trim() === '') return hint(stage, 'There is nothing to show.')
  const text = stage.draw.said(said, columns)
  if (text.split('\n').length > 2 * rows) return stage.terminal.page('Tiller', text)
  stage.terminal.print(`\n${text}`)
}

/** The whole transcript in the pager, from its end. */
export async function showTranscript(stage: Stage): Promise<void> {
  const { view, size } = stage.store.get()
  if (view.rows.length === 0) return hint(stage, 'There is nothing in this session yet.')
  await stage.terminal.page('Transcript', stage.draw.rows(view.rows.slice(), size.columns, undefined), 'end')
}
