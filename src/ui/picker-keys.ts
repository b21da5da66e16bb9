import { GUARD } from './ask.ts'
import { EDIT_ACTIONS } from './edit-actions.ts'
import { insert, textOf } from './editor-state.ts'
import { graphemes } from './graphemes.ts'
import { keyIn, type Action } from './keys.ts'
import { choose, matching, search, type Picker, type PickerLine } from './picker.ts'
import { isStoppable } from './screen.ts'
import { change, type Stage } from './stage.ts'
import { toEditor } from './suggest.ts'

const show = (stage: Stage, picker: Picker): void => change(stage, { overlay: { kind: 'picker', picker } })

/** What opened by itself is answered only by a key that was pressed when it could be read. */
const isFresh = (stage: Stage, { uninvited }: Picker): boolean =>
  !uninvited || (uninvited.shownAt !== null && stage.now() - uninvited.shownAt >= GUARD && stage.now() - stage.store.get().typedAt >= GUARD)

/** A key while a list lies over the editor. False: it is not for the list. */
export function pickerKey(stage: Stage, picker: Picker, chord: string, action: Action | undefined): boolean {
  if (!isFresh(stage, picker)) {
    // It was meant for the run, as long as nobody could know better.
    if (action === 'escape' && isStoppable(stage.store.get())) return false
    const edit = action && action !== 'newline' ? EDIT_ACTIONS[action] : undefined
    if (edit) toEditor(stage, edit)
    return true
  }
  if (picker.line) lineKey(stage, picker, picker.line, action)
  else if (!isOwnKey(stage, picker, chord)) return listKey(stage, picker, chord, action)
  return true
}

function isOwnKey(stage: Stage, picker: Picker, chord: string): boolean {
  const own = picker.keys && stage.keys.get(keyIn(picker.keys.in, chord))
  const key = own && picker.keys?.all.find((each) => each.action === own)
  if (key) onChosen(stage, key.act)
  return key !== undefined
}

function listKey(stage: Stage, picker: Picker, chord: string, action: Action | undefined): boolean {
  const moved = action && MOVES[action]
  if (moved !== undefined) show(stage, choose(picker, moved))
  else if (chord === 'tab') show(stage, choose(picker, 1))
  else if (action === 'send') take(stage, picker.index)
  else if (action === 'escape') {
    change(stage, { overlay: null })
    picker.dismiss?.()
  } else if (picker.search && action === 'delete-back') seek(stage, picker, graphemes(picker.query).slice(0, -1).join(''))
  else if (picker.search && action === 'kill-word-back') seek(stage, picker, picker.query.replace(/\S*\s*$/, ''))
  else if (picker.search && action === 'kill-start') seek(stage, picker, '')
  else if (!picker.search && action === 'delete-back') toEditor(stage, (editor) => EDIT_ACTIONS['delete-back']?.(editor) ?? editor)
  // Who is asked something may look at the output first, or ask for the queue.
  else return !picker.beside
  return true
}

const MOVES: Partial<Record<Action, number>> = { up: -1, down: 1, 'page-up': -8, 'page-down': 8 }

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
  if (action === 'escape') return show(stage, { ...picker, line: null })
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
