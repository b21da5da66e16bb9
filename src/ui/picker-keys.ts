import { GUARD } from './ask.ts'
import { EDIT_ACTIONS } from './edit-actions.ts'
import { insert, textOf } from './editor-state.ts'
import { graphemes } from './graphemes.ts'
import { keyIn, type Action } from './keys.ts'
import { choose, matching, search, type Picker, type PickerLine } from './picker.ts'
import { change, type Stage } from './stage.ts'
import { toEditor } from './suggest.ts'

const show = (stage: Stage, picker: Picker): void => change(stage, { overlay: { kind: 'picker', picker } })

/** What opened by itself is answered only by a key that was pressed when it could be read. */
const isFresh = (stage: Stage, { uninvited }: Picker): boolean =>
  !uninvited || (uninvited.shownAt !== null && stage.now() - uninvited.shownAt >= GUARD && stage.now() - stage.store.get().typedAt >= GUARD)

/** A key while a list lies over the editor. */
export function pickerKey(stage: Stage, picker: Picker, chord: string, action: Action | undefined): void {
  if (!isFresh(stage, picker)) {
    const edit = action && action !== 'newline' ? EDIT_ACTIONS[action] : undefined
    return edit ? toEditor(stage, edit) : undefined
  }
  if (picker.line) return lineKey(stage, picker, picker.line, action)
  const own = picker.keys && stage.keys.get(keyIn(picker.keys.in, chord))
  const key = own && picker.keys?.all.find((each) => each.action === own)
  if (key) return onChosen(stage, key.act)
  switch (action) {
    case 'up':
      return show(stage, choose(picker, -1))
    case 'down':
      return show(stage, choose(picker, 1))
    case 'page-up':
      return show(stage, choose(picker, -8))
    case 'page-down':
      return show(stage, choose(picker, 8))
    case 'send':
      return take(stage, picker.index)
    case 'escape':
    case 'cancel':
      change(stage, { overlay: null })
      return picker.dismiss?.()
    case 'delete-back':
      return picker.search ? seek(stage, picker, graphemes(picker.query).slice(0, -1).join('')) : toEditor(stage, (editor) => EDIT_ACTIONS['delete-back']?.(editor) ?? editor)
    case 'kill-word-back':
      return picker.search ? seek(stage, picker, picker.query.replace(/\S*\s*$/, '')) : undefined
    case 'kill-start':
      return seek(stage, picker, '')
    default:
      return chord === 'tab' ? show(stage, choose(picker, 1)) : undefined
  }
}

/** Text while a list lies over the editor. False: it is for the editor after all. */
export function pickerText(stage: Stage, picker: Picker, text: string): boolean {
  if (picker.line) return lineText(stage, picker, picker.line, text)
  if (picker.search) {
    seek(stage, picker, picker.query + text.replace(/\s+/g, ' '))
    return true
  }
  if (!isFresh(stage, picker) || !/^[1-9]$/.test(text) || !picker.choices[Number(text) - 1]) return false
  take(stage, Number(text) - 1)
  return true
}

/** The search is another one. */
export function seek(stage: Stage, picker: Picker, query: string): void {
  show(stage, { ...search(picker, query), loading: picker.loading || picker.finder !== undefined })
  picker.finder?.seek(query)
}

/** Before something is done with a choice, the list is what the search says. */
function settled(stage: Stage): Picker | null {
  const now = (): Picker | null => {
    const { overlay } = stage.store.get()
    return overlay?.kind === 'picker' ? overlay.picker : null
  }
  now()?.finder?.settle()
  return now()
}

export function take(stage: Stage, index: number): void {
  const picker = settled(stage)
  const choice = picker && matching(picker)[index]
  if (!choice) return
  change(stage, { overlay: null })
  choice.act()
}

function onChosen(stage: Stage, act: (choice: ReturnType<typeof matching>[number]) => void): void {
  const picker = settled(stage)
  const choice = picker && matching(picker)[picker.index]
  if (choice) act(choice)
}

/** A key while something is asked about a choice. */
function lineKey(stage: Stage, picker: Picker, line: PickerLine, action: Action | undefined): void {
  if (action === 'escape' || action === 'cancel') return show(stage, { ...picker, line: null })
  if (line.kind === 'confirm') return
  if (action === 'send') {
    show(stage, { ...picker, line: null })
    return line.done(textOf(line.editor).trim())
  }
  const edit = action && action !== 'newline' ? EDIT_ACTIONS[action] : undefined
  if (edit) show(stage, { ...picker, line: { ...line, editor: edit(line.editor) } })
}

/** A question is answered by its letter alone, not by a text that begins with it. */
function lineText(stage: Stage, picker: Picker, line: PickerLine, text: string): boolean {
  if (line.kind === 'edit') show(stage, { ...picker, line: { ...line, editor: insert(line.editor, text.replace(/\s+/g, ' ')) } })
  else if (/^[yn]$/i.test(text)) {
    show(stage, { ...picker, line: null })
    if (/^y$/i.test(text)) line.yes()
  }
  return true
}
