import { readdirSync, statSync } from 'node:fs'
import { dirname, join, basename } from 'node:path'
import type { OutcomeStatus } from '../core/record.ts'
import { sanitize } from '../core/sanitize.ts'
import { stemOf } from './companion.ts'
import { errnoOf, inWords } from './fault.ts'
import { listCache, type ListCache, type Remembered } from './list-cache.ts'
import { isForeign } from './private.ts'
import { idInName } from './open-log.ts'
import type { Looked, Summary } from './summary.ts'
import { look, lookAtAll } from './summary.ts'
import { turns } from './turns.ts'

/** A session in a list. All texts are fit for a screen. */
export interface SessionEntry {
  id: string
  file: string
  title: string | null
  /** The beginning of the first input; empty: it has none. */
  words: string
  hasInput: boolean
  cwd: string
  root: string
  branch: string | null
  created: number
  /** When something was last done in it. */
  last: number
  bytes: number
  /** Of the newest run; null: none has ended, or one is open. */
  outcome: OutcomeStatus | null
  /** US dollars; null: not known, or not all of the file was looked at yet. */
  cost: number | null
  /** Some of the cost had no known price, so `cost` is a lower bound. */
  costUnknown: boolean
  /** All of the file was looked at. Else title and cost may be missing: `completeSessions` finds them. */
  complete: boolean
  /** A lock lies beside it; its holder may be dead. */
  locked: boolean
  /** See `isForeign`. */
  foreign: boolean
  /** Why it cannot be read. */
  unreadable: string | null
}

interface Found {
  name: string
  bytes: number
  modified: number
  foreign: boolean
  unreadable: string | null
}

/** The sessions in a folder, newest activity first. Throws with an errno where the folder itself cannot be read. */
export async function listSessions(folder: string, signal?: AbortSignal): Promise<SessionEntry[]> {
  const entries: SessionEntry[] = []
  for await (const piece of sessionsIn(folder, signal)) entries.push(...piece)
  return entries.sort(newestFirst)
}

/** So many that had to be looked at make a piece. */
const PIECE = 250

/**
 * The sessions in a folder, the newest made first, as they are looked at: at the beginning and the end of each file, a cost that does not grow with
 * the files. What was learned is kept beside them, for files whose size and time are still the same.
 */
export async function* sessionsIn(folder: string, signal?: AbortSignal): AsyncGenerator<SessionEntry[]> {
  const turn = turns()
  const { names, locks } = namesOf(folder)
  const cache = listCache(folder)
  const kept = new Map<string, Remembered>()
  let piece: SessionEntry[] = []
  let learned = 0
  for (const name of names.reverse()) {
    await turn()
    signal?.throwIfAborted()
    const { entry, remembered, isNew } = entryIn(folder, name, cache, locks)
    if (remembered) kept.set(name, remembered)
    piece.push(entry)
    if (isNew && ++learned % PIECE === 0) {
      yield piece
      piece = []
    }
  }
  cache.keep(kept)
  yield piece
}

/** The entries of which not all was looked at, as what is missing is found, one after another. */
export async function* completeSessions(folder: string, entries: readonly SessionEntry[], signal?: AbortSignal): AsyncGenerator<SessionEntry> {
  const missing = entries.filter((each) => !each.complete && each.unreadable === null)
  if (missing.length === 0) return
  const turn = turns()
  const { names, locks } = namesOf(folder)
  const cache = listCache(folder)
  const kept = new Map(names.flatMap((name): [string, Remembered][] => {
    const known = cache.of(name)
    return known ? [[name, known]] : []
  }))
  try {
    for (const { file } of missing) {
      const name = basename(file)
      const known = kept.get(name)
      const found = statOf(folder, name)
      const looked = known && !found.unreadable ? await lookAtAll(file, known.looked, turn, signal).catch(() => null) : null
      if (signal?.aborted) return
      if (!looked) continue
      kept.set(name, { bytes: found.bytes, modified: found.modified, looked })
      yield entryOf(folder, found, looked, locks)
    }
  } finally {
    cache.keep(kept)
  }
}

/** One session by its file, wherever that lies. */
export function sessionEntry(file: string): SessionEntry {
  const found = statOf(dirname(file), basename(file))
  return entryOf(dirname(file), found, tryToLook(dirname(file), found, null), namesOf(dirname(file)).locks)
}

/** The newest session with an input of exactly this root and working directory, as `-c` goes on with. */
export function newestSession(folder: string, here: { root: string; cwd: string }): SessionEntry | null {
  const { names, locks } = namesOf(folder)
  const cache = listCache(folder)
  let newest: SessionEntry | null = null
  let youngest = Infinity
  for (const { name, modified } of names.map((each) => statOf(folder, each)).sort((one, other) => other.modified - one.modified)) {
    // A record is not younger than its file, so older files cannot hold a newer one; where clocks say otherwise, all are looked at.
    if (newest && newest.last <= youngest && modified < newest.last) break
    const { entry } = entryIn(folder, name, cache, locks)
    if (entry.hasInput && entry.root === here.root && entry.cwd === here.cwd && (!newest || newestFirst(entry, newest) < 0)) {
      newest = entry
      youngest = modified
    }
  }
  return newest
}

/** Sessions that cannot be read, and why: one of them may be what is looked for. */
export function unreadableIn(folder: string): SessionEntry[] {
  const { names, locks } = namesOf(folder)
  const cache = listCache(folder)
  return names.map((name) => entryIn(folder, name, cache, locks).entry).filter(({ unreadable }) => unreadable !== null)
}

const newestFirst = (one: SessionEntry, other: SessionEntry): number => other.last - one.last || (one.file < other.file ? 1 : -1)

function namesOf(folder: string): { names: string[]; locks: ReadonlySet<string> } {
  const names = namesIn(folder)
  return { names: names.filter((name) => name.endsWith('.jsonl')).sort(), locks: new Set(names.filter((name) => name.endsWith('.lock'))) }
}

/** A folder that is not there holds no sessions; one that cannot be read is an error. */
function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder)
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') return []
    throw error
  }
}

function statOf(folder: string, name: string): Found {
  try {
    const stat = statSync(join(folder, name))
    if (!stat.isFile()) return { name, bytes: 0, modified: 0, foreign: false, unreadable: 'it is not a file' }
    return { name, bytes: stat.size, modified: stat.mtimeMs, foreign: isForeign(stat), unreadable: null }
  } catch (error) {
    return { name, bytes: 0, modified: 0, foreign: false, unreadable: inWords(error) }
  }
}

function entryIn(folder: string, name: string, cache: ListCache, locks: ReadonlySet<string>): { entry: SessionEntry; remembered: Remembered | null; isNew: boolean } {
  const file = statOf(folder, name)
  const known = cache.of(name)
  if (known && known.bytes === file.bytes && known.modified === file.modified) return { entry: entryOf(folder, file, known.looked, locks), remembered: known, isNew: false }
  const looked = tryToLook(folder, file, known?.looked ?? null)
  return { entry: entryOf(folder, file, looked, locks), remembered: looked && { bytes: file.bytes, modified: file.modified, looked }, isNew: true }
}

function tryToLook(folder: string, file: Found, before: Looked | null): Looked | null {
  if (file.unreadable) return null
  try {
    return look(join(folder, file.name), before)
  } catch (error) {
    file.unreadable = inWords(error)
    return null
  }
}

function entryOf(folder: string, file: Found, looked: Looked | null, locks: ReadonlySet<string>): SessionEntry {
  const begin = looked?.begin
  const end: Summary | undefined = looked?.end ?? begin
  const title = end?.title ?? begin?.title ?? null
  return {
    id: begin?.id ?? idInName(file.name), file: join(folder, file.name), title: title === null ? null : sanitize(title).replace(/\s+/g, ' '),
    words: sanitize(begin?.words ?? ''), hasInput: (begin?.words ?? null) !== null, cwd: begin?.cwd ?? '', root: begin?.root ?? '', branch: begin?.branch ?? null,
    created: begin?.created ?? 0, last: end?.last || begin?.last || 0, bytes: file.bytes, outcome: (end?.outcome ?? null) as OutcomeStatus | null,
    cost: looked?.end === null ? (begin?.cost ?? null) : null, costUnknown: begin?.costUnknown ?? false, complete: looked?.end === null,
    locked: locks.has(`${stemOf(file.name)}.lock`), foreign: file.foreign, unreadable: file.unreadable,
  }
}
