import { ranked, type Fuzzy, type Scored } from './fuzzy.ts'
import type { Sessions, SessionChoice } from './port.ts'
import type { Stage } from './stage.ts'

/** After the last key, before the texts are read. */
const PAUSE = 200
/** More than anybody looks through. */
const MOST_HITS = 100
/** Shorter words stand everywhere. */
const SHORTEST = 2

/** A search that goes on by itself until it is stopped. */
export interface Search<T> {
  /** What was found so far; null: it cannot be shown yet. */
  found: readonly T[] | null
  /** What is being done, or why there may be more. */
  status: string
  stop: () => void
}

export interface NameSearch extends Search<SessionChoice> {
  /** Does what is left of it now. */
  settle: () => void
}

/** By title and first words, in slices of a few milliseconds; the first one at once. */
export function searchNames(fuzzy: Fuzzy<SessionChoice>, query: string, later: Stage['later'], done: () => void): NameSearch {
  const scored: Scored<SessionChoice>[] = []
  let next = 0
  let cancel = (): void => undefined
  const slice = (): void => {
    if (next < fuzzy.pieces) scored.push(...fuzzy.find(next++, query))
    if (next >= fuzzy.pieces) search.found = ranked(scored)
  }
  const goOn = (): void => {
    slice()
    if (search.found) done()
    else cancel = later(0, goOn)
  }
  const search: NameSearch = {
    found: null, status: '', stop: () => cancel(),
    settle: () => {
      if (search.found) return
      cancel()
      while (!search.found) slice()
      done()
    },
  }
  slice()
  if (!search.found) cancel = later(0, goOn)
  return search
}

export interface TextHit {
  key: string
  excerpt: string
}

/** By all that was said, called and shown in them. Begins when typing has paused. `changed` is told of each find, and of the end. */
export function searchTexts(sessions: Pick<Sessions, 'search'>, keys: () => readonly string[], query: string, later: Stage['later'], changed: (failed?: unknown) => void): Search<TextHit> {
  const stopped = new AbortController()
  const hits: TextHit[] = []
  const search: Search<TextHit> = { found: hits, status: '', stop: () => stopped.abort() }
  const read = async (): Promise<void> => {
    for await (const hit of sessions.search(keys(), query, stopped.signal)) {
      if (stopped.signal.aborted) return
      hits.push(hit)
      changed()
      if (hits.length === MOST_HITS) break
    }
    search.status = hits.length === MOST_HITS ? 'there are more: write more of it' : ''
  }
  const begin = (): void => void read().then(
    () => !stopped.signal.aborted && changed(),
    (error: unknown) => {
      search.status = ''
      if (!stopped.signal.aborted) changed(error)
    },
  )
  if (query.length < SHORTEST) return search
  search.status = 'reading what was said…'
  const cancel = later(PAUSE, begin)
  search.stop = () => {
    cancel()
    stopped.abort()
  }
  return search
}
