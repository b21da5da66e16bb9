import { deleteTo, type Editor, killTo, newline, undo, yank } from './editor-state.ts'
import { moveTo, place } from './editor-moves.ts'
import type { Action } from './keys.ts'

/** What a key does to the text alone: no row of the screen, no history, nothing outside. */
export const EDIT_ACTIONS: Partial<Record<Action, (editor: Editor) => Editor>> = {
  newline,
  undo,
  yank,
  left: (editor) => moveTo(editor, place.left(editor)),
  right: (editor) => moveTo(editor, place.right(editor)),
  'word-left': (editor) => moveTo(editor, place.wordLeft(editor)),
  'word-right': (editor) => moveTo(editor, place.wordRight(editor)),
  'line-start': (editor) => moveTo(editor, place.lineStart(editor)),
  'line-end': (editor) => moveTo(editor, place.lineEnd(editor)),
  'text-start': (editor) => moveTo(editor, place.start()),
  'text-end': (editor) => moveTo(editor, place.end(editor)),
  'delete-back': (editor) => deleteTo(editor, place.left(editor)),
  'delete-forward': (editor) => deleteTo(editor, place.right(editor)),
  'kill-end': (editor) => killTo(editor, place.killEnd(editor)),
  'kill-start': (editor) => killTo(editor, place.killStart(editor)),
  'kill-word-back': (editor) => killTo(editor, place.wordLeft(editor)),
  'kill-word': (editor) => killTo(editor, place.wordRight(editor)),
}
