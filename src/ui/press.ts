import { ACTIONS } from './actions.ts'
import { askKey, askText, dropLetter } from './ask-keys.ts'
import { EDIT_ACTIONS } from './edit-actions.ts'
import { insert, isEmpty, paste } from './editor-state.ts'
import type { Action } from './keys.ts'
import { overlayKey, overlayText } from './overlay-keys.ts'
import { isWritingBeside } from './screen.ts'
import { change, type Stage } from './stage.ts'
import { completionKey, toEditor } from './suggest.ts'
import { HOLD, typing, type Typed } from './typing.ts'

/** What came from the keyboard, one piece at a time. */
export interface Presser {
  key: (chord: string) => void
  text: (text: string) => void
  paste: (text: string) => void
}

/** A key that is held down repeats at least this often. */
const REPEATS = 100

/** The one way from keys to what they do. */
export function presser(stage: Stage): Presser {
  const burst = typing()
  let cancel: (() => void) | null = null
  let enteredAt = -Infinity

  /** One that is held down sends once, and answers no question that came after it. */
  const enter = (): void => {
    const isHeld = stage.now() - enteredAt < REPEATS
    enteredAt = stage.now()
    if (!isHeld) pressed(stage, 'enter')
  }
  const carryOut = (pieces: readonly Typed[]): void => {
    for (const piece of pieces) {
      if (piece.type === 'enter') enter()
      else {
        enteredAt = -Infinity
        typed(stage, piece.text)
      }
    }
  }
  const wait = (): void => {
    cancel?.()
    cancel = burst.held() ? stage.later(HOLD, () => carryOut(burst.settle())) : null
  }
  const key = (chord: string): void => {
    if (chord === 'enter') carryOut(burst.enter(stage.now()))
    else {
      carryOut(burst.settle())
      enteredAt = -Infinity
      pressed(stage, chord)
    }
    wait()
  }
  return {
    text: (chunk) => {
      for (const piece of pieces(chunk)) {
        if ('key' in piece) key(piece.key)
        else carryOut(burst.text(piece.text, stage.now()))
      }
      wait()
    },
    key,
    paste: (text) => {
      carryOut(burst.settle())
      pasted(stage, text)
    },
  }
}

/** A chunk may hold keys that a terminal sends as control characters: whoever types fast, or sends keys by program. */
function pieces(chunk: string): ({ text: string } | { key: string })[] {
  return chunk
    .split(/([\x00-\x08\x0b\x0c\x0e-\x1f\x7f]|\t(?=[\r\n]*$))/)
    .filter((piece) => piece !== '')
    .map((piece) => {
      const code = piece.charCodeAt(0)
      if (piece === '\t') return { key: 'tab' }
      if (code === 0x7f || code === 8) return { key: 'backspace' }
      return piece.length === 1 && code < 0x20 && piece !== '\r' && piece !== '\n' ? { key: `ctrl+${String.fromCharCode(code <= 26 ? code + 96 : code + 64)}` } : { text: piece }
    })
}

function pressed(stage: Stage, chord: string): void {
  const action = stage.keys.get(chord)
  const { overlay, notice, completion } = stage.store.get()
  if (notice) change(stage, { notice: null })
  if (overlay && !isWritingBeside(stage.store.get()) && overlayKey(stage, overlay, chord, action)) return
  if (askKey(stage, action)) return
  if (completion && completionKey(stage, completion, action)) return
  act(stage, action)
}

function act(stage: Stage, action: Action | undefined): void {
  if (!action) return
  const edit = EDIT_ACTIONS[action]
  if (edit) return toEditor(stage, edit)
  ACTIONS[action]?.(stage)
}

function typed(stage: Stage, text: string): void {
  const { overlay, notice, editor } = stage.store.get()
  if (notice) change(stage, { notice: null })
  if (overlay && overlayText(stage, overlay, text)) return
  if (!overlay && askText(stage, text)) return
  // Only a single sign is a key here: a word that comes in one piece (`left`, `home`) is text, whatever keys are called.
  const action = text.length === 1 && isEmpty(editor) && !overlay ? stage.keys.get(text) : undefined
  if (action) return act(stage, action)
  toEditor(stage, (before) => insert(before, text))
}

function pasted(stage: Stage, text: string): void {
  const { overlay } = stage.store.get()
  dropLetter(stage)
  if (overlay && overlayText(stage, overlay, text)) return
  toEditor(stage, (before) => paste(before, text))
}
