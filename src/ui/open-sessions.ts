import { switchTo, whyStay } from './open-pickers.ts'
import { picker, search, type Choice, type Picker } from './picker.ts'
import type { SessionChoice } from './port.ts'
import { say } from './say.ts'
import { sessionFinder, type SessionFinder } from './session-finder.ts'
import { sessionKeys } from './session-keys.ts'
import { sessionRow } from './session-rows.ts'
import { background, change, fail, hint, type Stage } from './stage.ts'

/** The list of sessions. It fills while it is open; whatever it has begun ends with it. */
export function openSessions(stage: Stage, query: string): void {
  const here = stage.store.get().connection.session
  const closed = new AbortController()
  const put = (next: (now: Picker) => Picker): void => {
    const now = listOf(stage, finder)
    if (now) change(stage, { overlay: { kind: 'picker', picker: next(now) } })
  }
  const finder = sessionFinder({
    later: stage.later, sessions: stage.host.sessions, fail: (error) => fail(stage, error),
    row: (session) => sessionRow(session, here, stage.clock, () => goOnWith(stage, session)),
    show: (found, isNew) => put((now) => ({ ...now, ...found, index: indexIn(found.choices, now, isNew, ({ key }) => finder.get(key)?.id === here) })),
  })
  const keys = sessionKeys(stage, finder, (line) => put((now) => ({ ...now, line })))
  change(stage, { overlay: { kind: 'picker', picker: search(picker('Sessions', [], { loading: true, finder, keys }), query) }, completion: null })
  const stop = stage.store.subscribe(() => {
    if (listOf(stage, finder)) return
    stop()
    closed.abort()
    finder.stop()
  })
  finder.seek(query)
  background(stage, fill(stage, finder, closed.signal))
}

function listOf(stage: Stage, finder: SessionFinder): Picker | null {
  const { overlay } = stage.store.get()
  return overlay?.kind === 'picker' && overlay.picker.finder === finder ? overlay.picker : null
}

async function fill(stage: Stage, finder: SessionFinder, signal: AbortSignal): Promise<void> {
  try {
    for await (const { sessions, isLast } of stage.host.sessions.list(signal)) {
      if (signal.aborted) return
      finder.put(sessions)
      if (isLast) finder.listed()
    }
  } catch (error) {
    if (!signal.aborted) throw error
  }
}

/** Whatever comes or goes around it, the one that a person has chosen stays chosen. Until then that is the first but the one that is open here. */
function indexIn(choices: readonly Choice[], { choices: before, index, query, loading }: Picker, isNew: boolean, isHere: (choice: Choice) => boolean): number {
  const first = (all: readonly Choice[]): number => (query.trim() === '' ? Math.max(0, all.findIndex((choice) => !isHere(choice))) : 0)
  const chosen = isNew || (loading && index === first(before)) ? undefined : before[index]?.key
  const again = chosen === undefined ? -1 : choices.findIndex(({ key }) => key === chosen)
  return again >= 0 ? again : chosen === undefined ? first(choices) : Math.max(0, Math.min(index, choices.length - 1))
}

/** Opens it, or says why not. One of another root goes on here only as a copy, and only if that is chosen: its work was done on other files. */
export function goOnWith(stage: Stage, session: SessionChoice): void {
  const { key, id, elsewhere, unreadable } = session
  const stay = whyStay(stage.store.get())
  if (stay !== null) return hint(stage, stay)
  if (unreadable !== null) return fail(stage, new Error(`The session ${id} cannot be read: ${unreadable}.`))
  if (elsewhere) return askWhere(stage, session, elsewhere.command)
  const open = stage.store.get().connection
  // One that could only be read may be free by now.
  if (id === open.session && open.readOnly === undefined) return hint(stage, 'This session is open already.')
  const why = switchTo(stage, () => stage.host.sessions.open(key))
  if (why) hint(stage, why)
}

function askWhere(stage: Stage, { key, title, folder }: SessionChoice, command: string | null): void {
  const copy: Choice = {
    label: 'Go on here, with a copy', note: 'what was said comes along, files and permissions do not',
    act: () => void switchTo(stage, () => stage.host.sessions.fork(key)),
  }
  const there: Choice = { label: 'Go on there', note: command ?? '', act: () => background(stage, say(stage, { as: 'text', text: `This goes on with it there:\n\n  ${command}` })) }
  const about = [title, command === null ? `Its folder ${folder} is not there any more.` : `Its work was done in ${folder}: the files here are others.`]
  change(stage, { overlay: { kind: 'picker', picker: picker('A session of another folder', command === null ? [copy] : [copy, there], { search: false, about }) } })
}
