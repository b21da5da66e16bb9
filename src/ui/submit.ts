import type { Command } from '../core/command.ts'
import type { When } from '../core/record.ts'
import { sent } from './editor-state.ts'
import { added } from './history.ts'
import type { Connection } from './port.ts'
import { isActive } from './screen.ts'
import { change, type Stage } from './stage.ts'

/** Text to the model, with the images that came back with it. False: it was refused, and the screen says why. */
export function submit(stage: Stage, text: string, when: When): boolean {
  const screen = stage.store.get()
  const { connection, images } = screen
  const idle = !isActive(screen)
  if (!taken(connection, { type: 'input', text, when: idle ? 'next' : when, ...(images.length > 0 ? { images: [...images] } : {}) })) return false
  change(stage, { images: [], ...(idle ? { busy: 'run' as const } : {}) })
  return true
}

/** The text has gone out: it is history, and no draft any more. */
export function emptied(stage: Stage, text: string): void {
  stage.host.history.append(text)
  stage.store.update((screen) => ({ ...screen, editor: sent(screen.editor), history: added(screen.history, text), completion: null, typedAt: stage.now() }))
  stage.store.get().connection.draft.save('')
}

/** In the log when this returns, or refused: then an `error` event came. */
export function taken(connection: Connection, command: Command): boolean {
  let refused = false
  const stop = connection.subscribe((event) => {
    if (event.type === 'error') refused = true
  })
  connection.send(command)
  stop()
  return !refused
}
