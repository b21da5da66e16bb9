import { picker, type Picker } from './picker.ts'
import { slash } from './slash.ts'
import { change, fail, type Stage } from './stage.ts'
import { submit } from './submit.ts'

/** Asks what is to become of a run that ended without its proof. Returns how to stop. */
export function watchUnverified(stage: Stage): () => void {
  let before = stage.store.get()
  let asked: Picker | null = null
  return stage.store.subscribe(() => {
    const { connection, view, overlay } = stage.store.get()
    const hasEnded = before.connection === connection && before.view.last !== view.last
    before = stage.store.get()
    if (hasEnded && view.last?.status === 'unverified' && view.waiting.length === 0 && !overlay) {
      asked = question(stage, view.last.reason)
      change(stage, { overlay: { kind: 'picker', picker: asked } })
    } else if (asked && view.run) {
      // Whoever wrote something has answered.
      if (overlay?.kind === 'picker' && overlay.picker.title === asked.title) change(stage, { overlay: null })
      asked = null
    }
  })
}

function question(stage: Stage, reason: string): Picker {
  const command = (name: string, argument: string) => () => {
    const problem = slash(stage, name, argument)
    if (problem !== null) fail(stage, new Error(problem))
  }
  return picker('Not proved. What now?', [
    { label: 'Let it go on', note: 'until it is proved, or it says why not', act: () => void submit(stage, `That is not proved yet: ${reason}. Go on until it is, or say what stands in the way.`, 'next') },
    { label: 'Show what it changed', note: '/diff run', act: command('diff', 'run') },
    { label: 'Put its changes back', note: '/undo', act: command('undo', '') },
    { label: 'Leave it as it is', note: '', act: () => undefined },
  ], { search: false, beside: true, uninvited: { shownAt: null } })
}
