import { textOf } from './editor-state.ts'
import { fail, type Stage } from './stage.ts'

/** Typing is saved when it pauses for so long. */
const PAUSE = 300

/** Keeps the unsent text beside the log: what is typed soon, what comes back from the queue at once, the rest by `flush` on the way out. */
export function keepDraft(stage: Stage): { flush: () => void; stop: () => void } {
  let saved = stage.store.get().editor.lines
  let problem: string | null = null
  let cancel: (() => void) | null = null
  const flush = (): void => {
    cancel?.()
    cancel = null
    const { editor, connection } = stage.store.get()
    if (editor.lines === saved) return
    saved = editor.lines
    const before = problem
    problem = connection.draft.save(textOf(editor))
    // Once, not after each pause.
    if (problem !== null && problem !== before) fail(stage, new Error(`What is not sent yet would not survive a crash, since it cannot be kept: ${problem}`))
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
