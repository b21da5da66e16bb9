import { readFileSync, readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { setImmediate as breathe } from 'node:timers/promises'
import type { OutcomeStatus } from '../core/record.ts'
import { sanitize } from '../core/sanitize.ts'
import { stemOf } from './companion.ts'
import { errnoOf, inWords } from './fault.ts'
import { idInName } from './open-log.ts'
import { isForeign, writePrivate } from './private.ts'
import type { Summary } from './summary.ts'
import { Looked, look, lookAtAll } from './summary.ts'

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
  /** When its last record was written. */
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

/**
 * The sessions in a folder, newest activity first, from the beginning and the end of each file: a cost that does not grow with the files. What was
 * learned is kept beside them, for files whose size and time are still the same. Throws with an errno where the folder itself cannot be read.
 */
export async function listSessions(folder: string, signal?: AbortSignal): Promise<SessionEntry[]> {
  const cache = readCache(folder)
  const { found, locks } = filesIn(folder)
  const entries: SessionEntry[] = []
  const kept: Cache = new Map()
  for (const [index, file] of found.entries()) {
    if (index % 50 === 49) await breathe()
    signal?.throwIfAborted()
    const known = cache.get(file.name)
    const fresh = known?.bytes === file.bytes && known.modified === file.modified
    const looked = fresh ? known.looked : tryToLook(folder, file, known?.looked ?? null)
    if (looked) kept.set(file.name, { bytes: file.bytes, modified: file.modified, looked })
    entries.push(entryOf(folder, file, looked, locks))
  }
  if (changed(cache, kept)) writeCache(folder, kept)
  return entries.sort(newestFirst)
}

/** The entries of which not all was looked at, as what is missing is found: one after another, with a pause for others between them. */
export async function* completeSessions(folder: string, entries: readonly SessionEntry[], signal?: AbortSignal): AsyncGenerator<SessionEntry> {
  const cache = readCache(folder)
  const { found, locks } = filesIn(folder)
  for (const entry of entries.filter((each) => !each.complete && each.unreadable === null)) {
    await breathe()
    if (signal?.aborted) break
    const file = found.find(({ name }) => join(folder, name) === entry.file)
    const known = file && cache.get(file.name)
    if (!file || !known) continue
    const looked = lookAtAll(entry.file, known.looked)
    cache.set(file.name, { bytes: file.bytes, modified: file.modified, looked })
    yield entryOf(folder, file, looked, locks)
  }
  writeCache(folder, cache)
}

/** The newest session with an input of exactly this root and working directory, as `-c` goes on with. */
export function newestSession(folder: string, here: { root: string; cwd: string }): SessionEntry | null {
  const { found, locks } = filesIn(folder)
  const cache = readCache(folder)
  let newest: SessionEntry | null = null
  let youngest = Infinity
  for (const file of found.sort((one, other) => other.modified - one.modified)) {
    // A record is not younger than its file, so older files cannot hold a newer one; where clocks say otherwise, all are looked at.
    if (newest && newest.last <= youngest && file.modified < newest.last) break
    const known = cache.get(file.name)
    const looked = known?.bytes === file.bytes && known.modified === file.modified ? known.looked : tryToLook(folder, file, known?.looked ?? null)
    const entry = entryOf(folder, file, looked, locks)
    if (entry.hasInput && entry.root === here.root && entry.cwd === here.cwd && (!newest || newestFirst(entry, newest) < 0)) {
      newest = entry
      youngest = file.modified
    }
  }
  return newest
}

const newestFirst = (one: SessionEntry, other: SessionEntry): number => other.last - one.last || (one.file < other.file ? 1 : -1)

function filesIn(folder: string): { found: Found[]; locks: Set<string> } {
  const names = namesIn(folder)
  const found = names.filter((name) => name.endsWith('.jsonl')).map((name): Found => {
    try {
      const stat = statSync(join(folder, name))
      if (!stat.isFile()) return { name, bytes: 0, modified: 0, foreign: false, unreadable: 'it is not a file' }
      return { name, bytes: stat.size, modified: stat.mtimeMs, foreign: isForeign(stat), unreadable: null }
    } catch (error) {
      return { name, bytes: 0, modified: 0, foreign: false, unreadable: inWords(error) }
    }
  })
  return { found, locks: new Set(names.filter((name) => name.endsWith('.lock'))) }
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
    created: begin?.created ?? 0, last: end?.last ?? 0, bytes: file.bytes, outcome: (end?.outcome ?? null) as OutcomeStatus | null,
    cost: looked?.end === null ? (begin?.cost ?? null) : null, costUnknown: begin?.costUnknown ?? false, complete: looked?.end === null,
    locked: locks.has(`${stemOf(file.name)}.lock`), foreign: file.foreign, unreadable: file.unreadable,
  }
}

// ---- what was learned, beside the files: thrown away and learned anew at any sign of trouble

type Cache = Map<string, { bytes: number; modified: number; looked: Looked }>

const cacheOf = (folder: string): string => join(folder, '.list-cache.json')

function readCache(folder: string): Cache {
  const cache: Cache = new Map()
  try {
    const raw = JSON.parse(readFileSync(cacheOf(folder), 'utf8')) as { version?: unknown; files?: unknown }
    if (raw.version !== 1 || !Array.isArray(raw.files)) return cache
    for (const [name, bytes, modified, given] of raw.files as unknown[][]) {
      const looked = Looked.safeParse(given)
      if (typeof name === 'string' && typeof bytes === 'number' && typeof modified === 'number' && looked.success) cache.set(name, { bytes, modified, looked: looked.data })
    }
  } catch {
    cache.clear()
  }
  return cache
}

const changed = (before: Cache, after: Cache): boolean => before.size !== after.size || [...after].some(([name, { looked }]) => before.get(name)?.looked !== looked)

function writeCache(folder: string, cache: Cache): void {
  try {
    writePrivate(cacheOf(folder), JSON.stringify({ version: 1, files: [...cache].map(([name, { bytes, modified, looked }]) => [name, bytes, modified, looked]) }), false)
  } catch {
    // Next time it is learned again.
  }
}
