import type { View } from '../core/view.ts'
import { picker, type Picker } from './picker.ts'
import { isActive } from './screen.ts'
import { slash } from './slash.ts'
import { change, fail, type Stage } from './stage.ts'
import { submit } from './submit.ts'

/** Asks what is to become of a run that ended without its proof. Returns how to stop. */
export function watchUnverified(stage: Stage): () => void {
  let before = stage.store.get()
  let asked: Picker | null = null
  /** It was told to go on until its work is proved. */
  let proving = false
  const goOn = (reason: string): void => {
    const isChecked = wasChecked(stage.store.get().view)
    proving = submit(stage, `That is not proved yet: ${reason}. Go on until it is, or say what stands in the way.`, 'next') && isChecked
  }
  const check = (): void => {
    const screen = stage.store.get()
    if (isActive(screen)) return
    change(stage, { busy: 'check' })
    screen.connection.send({ type: 'check' })
  }
  return stage.store.subscribe(() => {
    const { connection, view, overlay } = stage.store.get()
    const hasEnded = before.connection === connection && before.view.last !== view.last
    before = stage.store.get()
    const mayBeProved = proving && view.last?.status === 'done'
    if (hasEnded) proving = false
    // A run that changes nothing more is not checked by itself, but what was to be proved was changed before.
    if (hasEnded && mayBeProved && view.waiting.length === 0) stage.later(SOON_MS, check)
    else if (hasEnded && view.last?.status === 'unverified' && view.waiting.length === 0 && !overlay) {
      asked = question(stage, view.last.reason, goOn)
      change(stage, { overlay: { kind: 'picker', picker: asked } })
    } else if (asked && view.run) {
      // Whoever wrote something has answered.
      if (overlay?.kind === 'picker' && overlay.picker.title === asked.title) change(stage, { overlay: null })
      asked = null
    }
  })
}

/** Until the agent has done with a run that has its outcome. */
const SOON_MS = 50

/** By a command, not by what was claimed. */
function wasChecked({ rows }: View): boolean {
  for (let index = rows.length - 1; index >= 0; index--) {
    const kind = rows.at(index)?.kind
    if (kind === 'check' || kind === 'input') return kind === 'check'
  }
  return false
}

function question(stage: Stage, reason: string, goOn: (reason: string) => void): Picker {
  const command = (name: string, argument: string) => () => {
    const problem = slash(stage, name, argument)
    if (problem !== null) fail(stage, new Error(problem))
  }
  return picker('Not proved. What now?', [
    { label: 'Let it go on', note: 'until it is proved, or it says why not', act: () => goOn(reason) },
    { label: 'Show what it changed', note: '/diff run', act: command('diff', 'run') },
    { label: 'Put its changes back', note: '/undo', act: command('undo', '') },
    { label: 'Leave it as it is', note: '', act: () => undefined },
  ], { search: false, beside: true, uninvited: { shownAt: null } })
}
