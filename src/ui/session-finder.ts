import { fuzzy, type Fuzzy } from './fuzzy.ts'
import type { Choice, Finder } from './picker.ts'
import type { SessionChoice, Sessions } from './port.ts'
import { inOrder } from './session-rows.ts'
import { searchNames, searchTexts, type NameSearch, type Search, type TextHit } from './session-search.ts'
import type { Stage } from './stage.ts'

/** What comes in the meantime is shown so often. */
const BEAT = 60

export interface FinderParts {
  later: Stage['later']
  sessions: Pick<Sessions, 'search'>
  row: (session: SessionChoice) => Choice
  /** `isNew`: what was chosen before is of no account. */
  show: (found: { choices: readonly Choice[]; status: string; loading: boolean }, isNew: boolean) => void
  fail: (error: unknown) => void
}

export interface SessionFinder extends Finder {
  /** New ones, and others that are known better now. */
  put: (sessions: readonly SessionChoice[]) => void
  drop: (key: string) => void
  /** The last piece of the list is there. */
  listed: () => void
  get: (key: string | undefined) => SessionChoice | undefined
  stop: () => void
}

/** Which sessions fit: by their names at once, then by all that their texts say, as it is found. Each key begins anew. */
export function sessionFinder({ later, sessions: host, row, show, fail }: FinderParts): SessionFinder {
  const sessions = new Map<string, SessionChoice>()
  const rows = new WeakMap<SessionChoice, Choice>()
  let ordered: { all: readonly SessionChoice[]; fuzzy: Fuzzy<SessionChoice> } | null = null
  let query = ''
  let isComplete = false
  let names: NameSearch | null = null
  let texts: Search<TextHit> | null = null
  let beat: (() => void) | null = null
  let isNew = true

  const rowOf = (session: SessionChoice): Choice => {
    const made = rows.get(session) ?? row(session)
    rows.set(session, made)
    return made
  }
  const order = (): NonNullable<typeof ordered> => {
    const all = ordered?.all ?? inOrder(sessions.values())
    ordered ??= { all, fuzzy: fuzzy(all, textOf) }
    return ordered
  }
  const publish = (): void => {
    beat?.()
    beat = null
    if (names && !names.found) return
    const { all } = order()
    const named = names?.found ?? all
    const known = new Set(named)
    const hits = (texts?.found ?? []).flatMap(({ key, excerpt }): Choice[] => {
      const session = sessions.get(key)
      return session && !known.has(session) ? [{ ...rowOf(session), note: excerpt, details: undefined }] : []
    })
    const status = isComplete ? (texts?.status ?? '') : 'looking for more…'
    const counted = names ? `${named.length + hits.length} of ${all.length}` : String(all.length)
    show({ choices: [...named.map(rowOf), ...hits], loading: status.endsWith('…'), status: [...(all.length > 0 ? [counted] : []), ...(status === '' ? [] : [status])].join(' · ') }, isNew)
    isNew = false
  }
  const soon = (): void => {
    beat ??= later(BEAT, publish)
  }
  const searchByName = (): void => {
    names?.stop()
    names = query === '' ? null : searchNames(order().fuzzy, query, later, publish)
  }
  /** Those of which the name does not fit. */
  const unnamed = (): string[] => {
    names?.settle()
    const known = new Set(names?.found)
    return order().all.filter((session) => !known.has(session) && session.unreadable === null).map(({ key }) => key)
  }
  const begin = (): void => {
    texts?.stop()
    searchByName()
    texts = query === '' || !isComplete ? null : searchTexts(host, unnamed, query, later, (failed) => {
      if (failed !== undefined) fail(failed)
      soon()
    })
    publish()
  }
  const changed = (): void => {
    ordered = null
    searchByName()
    soon()
  }
  return {
    put: (more) => {
      const isFirst = sessions.size === 0
      for (const session of more) sessions.set(session.key, session)
      changed()
      if (isFirst) publish()
    },
    drop: (key) => {
      sessions.delete(key)
      changed()
      names?.settle()
      publish()
    },
    listed: () => {
      isComplete = true
      begin()
    },
    get: (key) => (key === undefined ? undefined : sessions.get(key)),
    seek: (next) => {
      query = next.trim()
      isNew = true
      begin()
    },
    settle: () => names?.settle(),
    stop: () => {
      beat?.()
      names?.stop()
      texts?.stop()
    },
  }
}

const textOf = ({ id, title, words, branch, folder }: SessionChoice): string => [title, words === title ? '' : words, branch ?? '', folder ?? '', id].filter(Boolean).join('\n')
