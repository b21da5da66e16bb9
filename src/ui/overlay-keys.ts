import { decide } from './ask-keys.ts'
import { EDIT_ACTIONS } from './edit-actions.ts'
import { insert, isEmpty, textOf } from './editor-state.ts'
import type { Action } from './keys.ts'
import { pickerKey, pickerText } from './picker-keys.ts'
import { queueKey, queueText } from './queue-keys.ts'
import { isStoppable, type Overlay } from './screen.ts'
import { change, type Stage } from './stage.ts'

/** A key while something lies over the editor. False: it does what it does without that. */
export function overlayKey(stage: Stage, overlay: Overlay, chord: string, action: Action | undefined): boolean {
  if (action === 'cancel') return cancelled(stage, overlay)
  if (action === 'suspend' || action === 'redraw') return false
  switch (overlay.kind) {
    case 'picker':
      return pickerKey(stage, overlay.picker, chord, action)
    case 'panel':
      panelKey(stage, overlay, action)
      return true
    case 'reason':
      reasonKey(stage, overlay, action)
      return true
    case 'queue':
      queueKey(stage, overlay.id, chord, action)
      return true
  }
}

/** Ctrl+C works everywhere: it closes what is open, and interrupts what runs all the same. Where nothing runs, a text that is being written is left to the next one. */
function cancelled(stage: Stage, overlay: Overlay): boolean {
  if (overlay.kind === 'picker' && overlay.picker.line && !isStoppable(stage.store.get())) {
    change(stage, { overlay: { kind: 'picker', picker: { ...overlay.picker, line: null } } })
    return true
  }
  change(stage, { overlay: null })
  if (overlay.kind === 'picker') (overlay.picker.cancel ?? overlay.picker.dismiss)?.()
  const screen = stage.store.get()
  return screen.left || (!isStoppable(screen) && !isEmpty(screen.editor))
}

/** Text while something lies over the editor. False: it is for the editor after all. */
export function overlayText(stage: Stage, overlay: Overlay, text: string): boolean {
  switch (overlay.kind) {
    case 'picker':
      return pickerText(stage, overlay.picker, text)
    case 'panel':
      change(stage, { overlay: null })
      return false
    case 'reason':
      change(stage, { overlay: { ...overlay, editor: insert(overlay.editor, text.replace(/\n/g, ' ')) } })
      return true
    case 'queue':
      return queueText(stage, overlay.id, text)
  }
}

function panelKey(stage: Stage, panel: Extract<Overlay, { kind: 'panel' }>, action: Action | undefined): void {
  const page = Math.max(1, stage.store.get().size.rows - 8)
  const to = (offset: number): void => change(stage, { overlay: { ...panel, offset: Math.max(0, Math.min(panel.lines.length - 1, offset)) } })
  switch (action) {
    case 'up':
      return to(panel.offset - 1)
    case 'down':
      return to(panel.offset + 1)
    case 'page-up':
      return to(panel.offset - page)
    case 'page-down':
      return to(panel.offset + page)
    default:
      return change(stage, { overlay: null })
  }
}

function reasonKey(stage: Stage, overlay: Extract<Overlay, { kind: 'reason' }>, action: Action | undefined): void {
  if (action === 'escape') return change(stage, { overlay: null })
  if (action === 'send') {
    change(stage, { overlay: null })
    return decide(stage, overlay.call, { verdict: 'deny', grant: undefined }, textOf(overlay.editor).trim())
  }
  const edit = action && action !== 'newline' ? EDIT_ACTIONS[action] : undefined
  if (edit) change(stage, { overlay: { ...overlay, editor: edit(overlay.editor) } })
}
