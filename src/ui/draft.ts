import { textOf } from './editor-state.ts'
import type { Stage } from './stage.ts'

/** Typing is saved when it pauses for so long. */
const PAUSE = 300

/** Keeps the unsent text beside the log: what is typed soon, what comes back from the queue at once, the rest by `flush` on the way out. */
export function keepDraft(stage: Stage): { flush: () => void; stop: () => void } {
  let saved = stage.store.get().editor.lines
  let cancel: (() => void) | null = null
  const flush = (): void => {
    cancel?.()
    cancel = null
    const { editor, connection } = stage.store.get()
    if (editor.lines === saved) return
    saved = editor.lines
    connection.draft.save(textOf(editor))
  }
  const unsubscribe = stage.store.subscribe(() => {
    const { editor, returned } = stage.store.get()
    if (editor.lines === saved) return
    // The log no longer holds it: from here on only the draft does.
    if (returned > 0) flush()
    else cancel ??= stage.later(PAUSE, flush)
  })
  return { flush, stop: unsubscribe }
}
