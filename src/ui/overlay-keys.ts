import { decide } from './ask-keys.ts'
import { GUARD } from './ask.ts'
import { EDIT_ACTIONS } from './edit-actions.ts'
import { insert, textOf } from './editor-state.ts'
import { graphemes } from './graphemes.ts'
import type { Action } from './keys.ts'
import { choose, matching, search, type Picker } from './picker.ts'
import { queueKey, queueText } from './queue-keys.ts'
import type { Overlay } from './screen.ts'
import { change, type Stage } from './stage.ts'
import { toEditor } from './suggest.ts'

/** A key while something lies over the editor. */
export function overlayKey(stage: Stage, overlay: Overlay, chord: string, action: Action | undefined): void {
  switch (overlay.kind) {
    case 'picker':
      return pickerKey(stage, overlay.picker, chord, action)
    case 'panel':
      return panelKey(stage, overlay, action)
    case 'reason':
      return reasonKey(stage, overlay, action)
    case 'queue':
      return queueKey(stage, overlay.id, chord, action)
  }
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

/** What opened by itself is answered only by a key that was pressed when it could be read. */
const isFresh = (stage: Stage, { uninvited }: Picker): boolean =>
  !uninvited || (uninvited.shownAt !== null && stage.now() - uninvited.shownAt >= GUARD && stage.now() - stage.store.get().typedAt >= GUARD)

function pickerKey(stage: Stage, picker: Picker, chord: string, action: Action | undefined): void {
  const show = (next: Picker): void => change(stage, { overlay: { kind: 'picker', picker: next } })
  if (!isFresh(stage, picker)) {
    const edit = action && action !== 'newline' ? EDIT_ACTIONS[action] : undefined
    return edit ? toEditor(stage, edit) : undefined
  }
  switch (action) {
    case 'up':
      return show(choose(picker, -1))
    case 'down':
      return show(choose(picker, 1))
    case 'page-up':
      return show(choose(picker, -8))
    case 'page-down':
      return show(choose(picker, 8))
    case 'send':
      return take(stage, picker, picker.index)
    case 'escape':
    case 'cancel':
      change(stage, { overlay: null })
      return picker.dismiss?.()
    case 'delete-back':
      return picker.search ? show(search(picker, graphemes(picker.query).slice(0, -1).join(''))) : toEditor(stage, (editor) => EDIT_ACTIONS['delete-back']?.(editor) ?? editor)
    case 'kill-start':
      return show(search(picker, ''))
    default:
      return chord === 'tab' ? show(choose(picker, 1)) : undefined
  }
}

function pickerText(stage: Stage, picker: Picker, text: string): boolean {
  if (picker.search) {
    change(stage, { overlay: { kind: 'picker', picker: search(picker, picker.query + text.replace(/\s+/g, ' ')) } })
    return true
  }
  if (!isFresh(stage, picker) || !/^[1-9]$/.test(text) || !picker.choices[Number(text) - 1]) return false
  take(stage, picker, Number(text) - 1)
  return true
}

function take(stage: Stage, picker: Picker, index: number): void {
  const choice = matching(picker)[index]
  if (!choice) return
  change(stage, { overlay: null })
  choice.act()
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
  if (action === 'escape' || action === 'cancel') return change(stage, { overlay: null })
  if (action === 'send') {
    change(stage, { overlay: null })
    return decide(stage, overlay.call, { verdict: 'deny', grant: undefined }, textOf(overlay.editor).trim())
  }
  const edit = action && action !== 'newline' ? EDIT_ACTIONS[action] : undefined
  if (edit) change(stage, { overlay: { ...overlay, editor: edit(overlay.editor) } })
}
