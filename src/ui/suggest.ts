import { accept, chooseOffer, offersFor, wantedAt, type Completion, type Offer, type Wanted } from './completion.ts'
import type { Action } from './keys.ts'
import type { Editor } from './editor-state.ts'
import { SLASH_COMMANDS, type SlashCommand } from './slash-commands.ts'
import { change, type Stage } from './stage.ts'

const MOST = 20

/** A change to the text: questions wait while it is made, and what could complete it is looked up. */
export function toEditor(stage: Stage, edit: (editor: Editor) => Editor): void {
  stage.store.update((screen) => ({ ...screen, editor: edit(screen.editor), typedAt: stage.now() }))
  suggest(stage)
}

/** Files come later; an answer that is too late is dropped. */
function suggest(stage: Stage): void {
  const { editor, looking } = stage.store.get()
  const wanted = wantedAt(editor)
  looking?.abort()
  if (looking) change(stage, { looking: null })
  if (!wanted) return show(stage, null)
  if (wanted.kind !== 'file') return show(stage, withOffers(wanted, offersFor(wanted, commands(stage))))
  const search = new AbortController()
  change(stage, { looking: search })
  const { signal } = search
  stage.host
    .files(wanted.query, MOST, signal)
    .then((paths) => {
      if (!signal.aborted) show(stage, withOffers(wanted, paths.map((text) => ({ text, about: '', whole: !text.endsWith('/') }))))
    })
    // Without files there is nothing to complete, and the text stands as it is.
    .catch(() => undefined)
}

/** A key while something is offered. False: the key is not for it. */
export function completionKey(stage: Stage, completion: Completion, action: Action | undefined): boolean {
  switch (action) {
    case 'up':
    case 'down':
      show(stage, chooseOffer(completion, action === 'up' ? -1 : 1))
      return true
    case 'escape':
      show(stage, null)
      return true
    case 'send':
      // Enter takes only what was chosen with the arrows; otherwise it sends what is written.
      if (completion.index === null) return false
      take(stage, completion)
      return true
    case 'complete':
      take(stage, completion)
      return true
    default:
      return false
  }
}

/** Of the screen, of the project and of the person. */
export const commands = (stage: Stage): SlashCommand[] => [...SLASH_COMMANDS, ...stage.store.get().custom]

const withOffers = (wanted: Wanted, offers: readonly Offer[]): Completion | null => (offers.length === 0 ? null : { wanted, offers, index: null })

function take(stage: Stage, completion: Completion): void {
  stage.store.update((screen) => ({ ...screen, editor: accept(screen.editor, completion), typedAt: stage.now() }))
  suggest(stage)
}

function show(stage: Stage, completion: Completion | null): void {
  if (stage.store.get().completion !== completion) change(stage, { completion })
}
