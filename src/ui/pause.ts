import type { Choice as Said } from '../core/record.ts'
import type { Pause } from '../core/view.ts'
import { took } from './figures.ts'
import { picker, type Choice, type Picker } from './picker.ts'
import { more } from './row-note.ts'
import { change, type Stage } from './stage.ts'

/** Keeps the question of a paused run on the screen until it is answered, wherever the answer comes from. Returns how to stop. */
export function watchPause(stage: Stage): () => void {
  let answered: Pause | null = null
  let asked: Picker | null = null
  const look = (): void => {
    const { view, overlay } = stage.store.get()
    const open = overlay?.kind === 'picker' && overlay.picker.title === asked?.title
    if (!view.pause && open) change(stage, { overlay: null })
    if (!view.pause) asked = null
    if (!view.pause || overlay || view.pause === answered) return
    const { pause } = view
    asked = question(pause, (said) => {
      answered = pause
      stage.store.get().connection.send(said === 'interrupt' ? { type: 'interrupt' } : { type: 'choose', choice: said })
    })
    change(stage, { overlay: { kind: 'picker', picker: asked } })
  }
  // What closes a list answers it in the same turn.
  return stage.store.subscribe(() => queueMicrotask(look))
}

function question(pause: Pause, say: (said: Said | 'interrupt') => void): Picker {
  const choices = pause.choices.map((said): Choice => ({ ...labelOf(said, pause), act: () => say(said) }))
  return picker(`Paused: ${pause.text}.`, choices, {
    search: false, beside: true, uninvited: { shownAt: null }, dismiss: () => say('interrupt'), escapes: 'interrupt',
    about: pause.why === 'circle' ? ['Write what it should do instead and press Enter, or choose:'] : pause.why === 'wait' ? ['Choose another model with /model, or:'] : [],
  })
}

function labelOf(said: Said, { why, reached, waitMs }: Pause): Pick<Choice, 'label' | 'note'> {
  switch (said) {
    case 'raise':
      return { label: reached ? `Go on, ${more(reached)} more` : 'Go on', note: reached?.of === 'session' ? 'in this session' : 'in this run' }
    case 'go-on':
      return why === 'wait' ? { label: 'Wait and try again', note: waitMs === null ? '' : `in ${took(waitMs)}` } : { label: 'Go on', note: 'as it is' }
    case 'summarise':
      return { label: 'Stop with a summary', note: 'one more request, without tools' }
    case 'stop':
      return { label: 'Stop here', note: '' }
  }
}
