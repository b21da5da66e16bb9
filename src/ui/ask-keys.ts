import { answersTo, askState, LETTER_HOLD, pendingAsk, previewRows, previewText, type Answer } from './ask.ts'
import { emptyEditor, insert } from './editor-state.ts'
import type { Action } from './keys.ts'
import { noAsk, type AskFocus } from './screen.ts'
import { background, change, type Stage } from './stage.ts'
import { toEditor } from './suggest.ts'

/** A key while a question is open. False: the key is not for it. */
export function askKey(stage: Stage, action: Action | undefined): boolean {
  const screen = stage.store.get()
  const state = askState(screen, stage.now())
  const ask = pendingAsk(screen)
  if (!ask || state === 'none' || state === 'guarded') return false
  if (screen.ask.letter) {
    const { index } = screen.ask.letter
    focus(stage, { letter: null })
    if (action === 'escape' || action === 'cancel' || action === 'delete-back') return action === 'delete-back'
    // The key after it says that no text follows: it is the answer.
    answer(stage, index)
    return action === 'send'
  }
  if (state === 'editor') {
    if (action !== 'complete' || screen.completion) return false
    focus(stage, { chosen: true })
    return true
  }
  const { index, scroll } = screen.ask
  const page = Math.max(1, Math.floor(screen.size.rows / 3))
  switch (action) {
    case 'up':
      focus(stage, { index: Math.max(0, index - 1) })
      return true
    case 'down':
      focus(stage, { index: Math.min(answersTo(ask).length - 1, index + 1) })
      return true
    case 'page-up':
      focus(stage, { scroll: Math.max(0, scroll - page) })
      return true
    case 'page-down':
      focus(stage, { scroll: Math.min(previewRows(ask, screen.size.columns) - 1, scroll + page) })
      return true
    case 'send':
      answer(stage, index)
      return true
    case 'escape':
      answer(stage, answersTo(ask).findIndex(({ verdict, reason }) => verdict === 'deny' && !reason))
      return true
    case 'complete':
      focus(stage, { chosen: false })
      change(stage, { typedAt: stage.now() })
      return true
    case 'output':
      background(stage, stage.terminal.page(`${ask.name} asks`, previewText(ask)))
      return true
    default:
      return false
  }
}

/** Text while a question is open: a digit or a letter alone answers; what goes on is text for the editor. */
export function askText(stage: Stage, text: string): boolean {
  const screen = stage.store.get()
  const state = askState(screen, stage.now())
  const ask = pendingAsk(screen)
  const { letter, chosen } = screen.ask
  if (state !== 'asking' && !letter) return false
  if (letter) {
    focus(stage, { letter: null })
    toEditor(stage, (editor) => insert(editor, letter.text + text))
    return true
  }
  const answers = ask ? answersTo(ask) : []
  const index = /^[1-9]$/.test(text) ? Number(text) - 1 : answers.findIndex(({ key }) => key === text.toLowerCase())
  if (answers[index] === undefined) return chosen
  const held = { index, text }
  focus(stage, { letter: held })
  stage.later(LETTER_HOLD, () => {
    if (stage.store.get().ask.letter === held) answer(stage, index)
  })
  return true
}

/** A held letter was text after all. */
export function dropLetter(stage: Stage): void {
  const { letter } = stage.store.get().ask
  if (!letter) return
  focus(stage, { letter: null })
  toEditor(stage, (editor) => insert(editor, letter.text))
}

function answer(stage: Stage, index: number): void {
  const ask = pendingAsk(stage.store.get())
  const chosen = ask && answersTo(ask)[index]
  if (!ask || !chosen) return
  if (chosen.reason) {
    focus(stage, { letter: null })
    return change(stage, { overlay: { kind: 'reason', call: ask.call, editor: emptyEditor } })
  }
  decide(stage, ask.call, chosen)
}

export function decide(stage: Stage, call: string, { verdict, grant }: Pick<Answer, 'verdict' | 'grant'>, reason?: string): void {
  const { ask, connection } = stage.store.get()
  change(stage, { ask: noAsk(new Set([...ask.decided, call])) })
  connection.send({ type: 'decide', call, verdict, ...(grant ? { grant } : {}), ...(reason ? { reason } : {}) })
}

const focus = (stage: Stage, next: Partial<AskFocus>): void => stage.store.update((screen) => ({ ...screen, ask: { ...screen.ask, ...next } }))
