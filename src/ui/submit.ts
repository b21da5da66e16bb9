import type { When } from '../core/record.ts'
import { sent } from './editor-state.ts'
import { added } from './history.ts'
import { isActive } from './screen.ts'
import { change, type Stage } from './stage.ts'

/** Text to the model; the editor is empty afterwards. */
export function submit(stage: Stage, text: string, when: When): void {
  const { connection, images } = stage.store.get()
  const idle = !isActive(stage.store.get())
  emptied(stage, text)
  change(stage, { images: [], ...(idle ? { busy: 'run' as const } : {}) })
  connection.send({ type: 'input', text, when: idle ? 'next' : when, ...(images.length > 0 ? { images: [...images] } : {}) })
}

/** The text has gone out: it is history, and no draft any more. */
export function emptied(stage: Stage, text: string): void {
  stage.host.history.append(text)
  stage.store.update((screen) => ({ ...screen, editor: sent(screen.editor), history: added(screen.history, text), completion: null, typedAt: stage.now() }))
  stage.store.get().connection.draft.save('')
}
