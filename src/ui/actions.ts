import { Mode } from '../core/record.ts'
import { clear, deleteTo, isEmpty, lineAt, newline, replaceText, textOf, type Editor } from './editor-state.ts'
import { moveRow, moveTo, place } from './editor-moves.ts'
import { editorWidth } from './editor-view.ts'
import { newer, older } from './history.ts'
import { keyLines, type Action } from './keys.ts'
import { leave } from './leave.ts'
import { openHistory } from './open-pickers.ts'
import { openRewind } from './open-rewind.ts'
import { lastRows } from './opened.ts'
import { showOutput } from './output.ts'
import { openQueue } from './queue-keys.ts'
import { isActive, isStoppable } from './screen.ts'
import { pasteImage, send } from './send.ts'
import { background, change, hint, type Stage } from './stage.ts'
import { toEditor } from './suggest.ts'
import { toggleTodo } from './todo.ts'

/** Twice within this is a double press. */
const AGAIN = 1_000
const AGAIN_ESCAPE = 500

/** What each key does that is more than an edit of the text (those are in edit-actions.ts). */
export const ACTIONS: Partial<Record<Action, (stage: Stage) => void>> = {
  send: (stage) => {
    const { editor } = stage.store.get()
    // `\` and Enter is a new line.
    if (lineAt(editor, editor.row)[editor.col - 1] === '\\') return toEditor(stage, (before) => withBreak(before))
    send(stage, 'next')
  },
  'follow-up': (stage) => send(stage, 'after'),
  'cut-in': (stage) => send(stage, 'now'),
  'take-back': (stage) => (takeBack(stage) ? undefined : earlier(stage)),
  queue: openQueue,
  escape,
  cancel,
  leave: (stage) => {
    const screen = stage.store.get()
    if (!isEmpty(screen.editor)) return toEditor(stage, (editor) => deleteTo(editor, place.right(editor)))
    if (isStoppable(screen)) return hint(stage, `${isActive(screen) ? 'A run is active' : 'Your command runs'}. Ctrl+C interrupts it, twice leaves.`)
    leave(stage, 'quit')
  },
  mode: (stage) => {
    const { view, connection } = stage.store.get()
    // `full` allows everything: that takes more than a key pressed once too often.
    const modes = Mode.options.filter((each) => each !== 'full')
    const now = modes.findIndex((each) => each === (view.status.mode ?? stage.host.about.mode))
    connection.send({ type: 'set', mode: modes[(now + 1) % modes.length] ?? 'ask' })
  },
  background: (stage) => {
    const screen = stage.store.get()
    if (isActive(screen)) return screen.connection.send({ type: 'background' })
    toEditor(stage, (editor) => moveTo(editor, place.left(editor)))
  },
  output: (stage) => background(stage, showOutput(stage)),
  todo: toggleTodo,
  search: (stage) => openHistory(stage),
  'paste-image': (stage) => background(stage, pasteImage(stage)),
  'external-editor': (stage) => background(stage, writeOutside(stage)),
  suspend: (stage) => background(stage, stage.terminal.suspend()),
  redraw: (stage) => {
    const { view, size } = stage.store.get()
    stage.terminal.redraw(lastRows(stage, view, size.columns, size.rows))
  },
  keys: (stage) => change(stage, { overlay: { kind: 'panel', title: 'Keys', lines: keyLines(stage.keys, stage.store.get().size.columns), offset: 0 } }),
  'page-up': (stage) => leaf(stage, 1),
  'page-down': (stage) => leaf(stage, -1),
  up: (stage) => {
    const { editor, size } = stage.store.get()
    const moved = moveRow(editor, -1, editorWidth(size.columns))
    if (moved) return toEditor(stage, () => moved)
    if (!takeBack(stage)) earlier(stage)
  },
  down: (stage) => {
    const { editor, size, history } = stage.store.get()
    const moved = moveRow(editor, 1, editorWidth(size.columns))
    if (moved) return toEditor(stage, () => moved)
    const found = newer(history)
    if (!found) return
    change(stage, { history: found.history })
    toEditor(stage, (before) => replaceText(before, found.text))
  },
}

/** Most of a window, so that the eye finds where it was. */
function leaf(stage: Stage, way: 1 | -1): void {
  const { transcript, size } = stage.store.get()
  if (!transcript) return
  transcript.scroll(way * Math.max(1, Math.floor(size.rows / 2)))
  stage.store.update((screen) => ({ ...screen, printed: screen.printed + 1 }))
}

function escape(stage: Stage): void {
  const screen = stage.store.get()
  const again = stage.now() - screen.escapedAt < AGAIN_ESCAPE
  change(stage, { escapedAt: again ? -Infinity : stage.now() })
  if (screen.todo.open) return change(stage, { todo: { ...screen.todo, open: false } })
  if (isStoppable(screen)) return interrupt(stage)
  if (again && isEmpty(screen.editor)) return openRewind(stage)
  if (isEmpty(screen.editor)) hint(stage, 'Esc again: go back to an earlier input')
}

function cancel(stage: Stage): void {
  const screen = stage.store.get()
  const again = stage.now() - screen.cancelledAt < AGAIN
  if (again) return leave(stage, isStoppable(screen) || screen.stopping !== null ? 'interrupt' : 'quit')
  if (isStoppable(screen)) {
    change(stage, { cancelledAt: stage.now() })
    return interrupt(stage)
  }
  if (screen.images.length > 0) change(stage, { images: [] })
  if (!isEmpty(screen.editor)) {
    stage.host.history.append(textOf(screen.editor))
    toEditor(stage, clear)
    return hint(stage, 'Cleared. Ctrl+_ brings it back.')
  }
  change(stage, { cancelledAt: stage.now() })
  hint(stage, 'Ctrl+C again leaves.')
}

function interrupt(stage: Stage): void {
  const { view, connection } = stage.store.get()
  change(stage, { stopping: view.run?.id ?? null })
  connection.send({ type: 'interrupt' })
}

function takeBack(stage: Stage): boolean {
  const { view, connection } = stage.store.get()
  const last = view.waiting.findLast(({ from }) => from === 'user')
  if (last) connection.send({ type: 'withdraw', input: last.id })
  return last !== undefined
}

function earlier(stage: Stage): void {
  const { history, editor } = stage.store.get()
  const found = older(history, textOf(editor))
  if (!found) return
  change(stage, { history: found.history })
  toEditor(stage, (before) => {
    const text = replaceText(before, found.text)
    return moveTo(text, place.lineEnd({ ...text, row: 0 }))
  })
}

const withBreak = (editor: Editor): Editor => newline(deleteTo(editor, place.left(editor)))

async function writeOutside(stage: Stage): Promise<void> {
  const before = textOf(stage.store.get().editor)
  const text = await stage.terminal.release(() => stage.host.externalEditor(before))
  if (text !== undefined && text !== before) toEditor(stage, (editor) => replaceText(editor, text))
}
