import type { Command } from '../core/command.ts'
import type { Early } from './early.ts'
import { textOf } from './editor-state.ts'
import { follow, takenBack } from './follow.ts'
import { folding, lastRows, takeBackWaiting } from './opened.ts'
import type { Connection } from './port.ts'
import { background, change, fail, type Stage } from './stage.ts'
import { taken } from './submit.ts'

/** Follows the session that has just come onto the screen. One of which only the end is there goes over to the whole of it by itself. Returns how to stop. */
export function enter(stage: Stage): () => void {
  const { connection } = stage.store.get()
  let stop = follow(stage, connection)
  if (!connection.rest) {
    takeBackWaiting(stage.store.get())
    return stop
  }
  const early = connection as Early
  const printed = early.records.at(-1)?.seq ?? 0
  let left = false
  const stopWatching = early.subscribe(({ type }) => {
    if (type === 'withdraw' && early.waiting().length === 0) change(stage, { busy: null, stopping: null })
  })
  const goOver = (whole: Connection): void => {
    stopWatching()
    stop()
    stop = follow(stage, whole)
    takeBackWaiting(stage.store.get())
    sendWaiting(stage, early.waiting(), whole)
  }
  const stayAtEnd = (error: unknown): void => {
    if (left) return
    early.send({ type: 'interrupt' })
    const { rest: _, ...end } = early
    change(stage, { connection: { ...end, readOnly: error instanceof Error ? error.message : String(error) } })
    fail(stage, error)
  }
  const cancel = stage.later(AFTER_FIRST_FRAME_MS, () =>
    background(stage, early.rest().then((whole) => complete(stage, whole, printed, () => left, () => goOver(whole)), stayAtEnd)))
  return () => {
    left = true
    cancel()
    stopWatching()
    stop()
  }
}

/** A key that is pressed at once is shown first. */
const AFTER_FIRST_FRAME_MS = 40
/** Shorter than a key takes to be shown. */
const PIECE_MS = 6

/** Folds all of the session, with pauses in which keys are heard, and puts it in the place of its end. */
function complete(stage: Stage, whole: Connection, printed: number, left: () => boolean, then: () => void): void {
  const fold = folding(whole)
  let shown = 0
  const go = (): void => {
    if (left()) return
    const begun = stage.now()
    while (stage.now() - begun < PIECE_MS) {
      const next = fold.next()
      if (next.done) {
        const { view } = next.value
        const { size } = stage.store.get()
        // What was appended by opening it, and how it stands. Where nothing could be shown before, its last rows.
        const rows = printed > 0 ? stage.draw.rows(view.rows.slice(shown), size.columns, view.rows.at(shown - 1)) : lastRows(stage, view, size.columns, 3 * size.rows)
        stage.terminal.print(rows, () => stage.store.update((screen) => ({ ...screen, ...next.value, connection: whole })))
        return then()
      }
      if (next.value.inner.next <= printed + 1) shown = next.value.rows.length
    }
    stage.later(0, go)
  }
  go()
}

/** What was refused goes back to who wrote it. */
function sendWaiting(stage: Stage, waiting: readonly Command[], to: Connection): void {
  for (const command of waiting) {
    if (taken(to, command) || command.type !== 'input') continue
    stage.store.update((screen) => takenBack(screen, command.text, command.images ?? []))
  }
  if (waiting.length > 0) to.draft.save(textOf(stage.store.get().editor))
}
