import { change, type Stage } from './stage.ts'

/** Leaves nothing on the terminal but what was printed. */
export function leave(stage: Stage, because: 'quit' | 'interrupt' | 'closed'): void {
  if (stage.store.get().left) return
  change(stage, { left: true, notice: null, overlay: null })
  stage.terminal.close()
  stage.host.leave(because)
}
