import { statSync } from 'node:fs'
import { inPlace } from '../../core/view-open.ts'
import type { ViewEvent } from '../../core/view-state.ts'
import { addSession, noStatistics, statisticsText } from '../../report/statistics.ts'
import { lockOf } from '../../session/companion.ts'
import { completeSessions, listSessions, type SessionEntry } from '../../session/list.ts'
import { isHeld } from '../../session/lock.ts'
import { recordsOf, type Damage } from '../../session/reading.ts'
import { searchSessions } from '../../session/search.ts'
import { size } from '../../ui/figures.ts'
import { plainSession } from '../../ui/plain.ts'
import { fileOf, sessionToRead } from '../open-session.ts'
import { shortFolder, type Place } from '../place.ts'
import { note, print, type Here } from './sessions-here.ts'
import { columns } from './surroundings.ts'

/** Titles and costs of large sessions are looked for so long; what was found is kept for the next time. */
const MOST_MS = 3_000

export async function list({ place, folders: [own, ...others], flags }: Here): Promise<number> {
  const entries = await complete(own, await listSessions(own))
  for (const folder of others) entries.push(...(await complete(folder, await listSessions(folder).catch(() => []))))
  if (entries.length === 0) note(`there are no sessions in ${own}`)
  const partly = entries.filter((entry) => !entry.complete && entry.unreadable === null).length
  if (flags['json'] === true) for (const entry of entries) print(JSON.stringify(asJson(entry)))
  else if (entries.length > 0) print(columns([['ID', 'LAST', 'OUTCOME', 'COST', 'SIZE', 'BRANCH', 'FOLDER', 'TITLE'], ...entries.map((entry) => row(entry, place))], process.stdout.isTTY ? process.stdout.columns : undefined))
  if (partly > 0) note(`${partly} large ${partly === 1 ? 'session was' : 'sessions were'} looked at only in part, so titles and costs may be missing: the next list goes on`)
  return 0
}

async function complete(folder: string, entries: readonly SessionEntry[]): Promise<SessionEntry[]> {
  const known = new Map(entries.map((entry) => [entry.file, entry]))
  for await (const entry of completeSessions(folder, entries, AbortSignal.timeout(MOST_MS))) known.set(entry.file, entry)
  return [...known.values()]
}

const isOpen = ({ locked, file }: SessionEntry): boolean => locked && isHeld(lockOf(file))

function asJson(entry: SessionEntry): object {
  const { id, file, title, words, cwd, root, branch, created, last, bytes, outcome, cost, costUnknown, complete: isComplete, unreadable } = entry
  return { id, file, title, words, cwd, root, branch, created, last, bytes, outcome, cost, costUnknown, open: isOpen(entry), complete: isComplete, unreadable }
}

function row(entry: SessionEntry, place: Place): string[] {
  const cost = entry.cost === null ? '' : `${entry.costUnknown ? '≥' : ''}$${entry.cost.toFixed(2)}`
  return [
    entry.id, entry.last === 0 ? '-' : new Date(entry.last).toISOString().slice(0, 16).replace('T', ' '), isOpen(entry) ? 'open' : (entry.outcome ?? '-'), cost, size(entry.bytes), entry.branch ?? '',
    entry.cwd === place.cwd ? '.' : shortFolder(entry.cwd, place.home), entry.unreadable === null ? (entry.title ?? entry.words.slice(0, 60)) : `cannot be read: ${entry.unreadable}`,
  ]
}

export async function ids({ folders: [own] }: Here): Promise<number> {
  print((await listSessions(own)).map(({ id }) => id).join('\n'))
  return 0
}

/** More than a person reads, and more than fits into the memory. */
const MOST_SHOWN = 256 * 1024 * 1024

export async function show({ folders, rest: [id = ''] }: Here): Promise<number> {
  const file = await fileOf(id, folders)
  const log = sessionToRead(file)
  const whole = statSync(file).size <= MOST_SHOWN
  if (!whole) note(`${file} is larger than ${size(MOST_SHOWN)}: this is its end; tiller sessions export ${log.id} writes all of it`)
  print(await plainSession(whole ? [...withDamage(file)] : inPlace(log.records, log.damage)))
  log.close()
  return 0
}

const told = ({ why }: Damage): ViewEvent => ({ type: 'damage', why })

/** What is damaged is told where it stands. That records are missing, their numbers say. */
function* withDamage(file: string): Generator<ViewEvent> {
  const damage: Damage[] = []
  let next = 0
  const news = (): ViewEvent[] => damage.slice(next, (next = damage.length)).filter(({ why }) => !why.endsWith('missing')).map(told)
  for (const record of recordsOf(file, damage)) {
    yield* news()
    yield record
  }
  yield* news()
}

export async function search({ folders, flags, rest }: Here): Promise<number> {
  const entries = (await Promise.all(folders.map((folder) => listSessions(folder).catch(() => [])))).flat()
  const known = new Map(entries.map((entry) => [entry.file, entry]))
  let hits = 0
  for await (const { file, ...hit } of searchSessions(known.keys(), rest.join(' '), { most: 5 })) {
    hits++
    const id = known.get(file)?.id ?? file
    print(flags['json'] === true ? JSON.stringify({ id, file, ...hit }) : `${id}:${hit.seq}  ${hit.type}  ${hit.excerpt}`)
  }
  if (hits === 0) note(`none of ${entries.length} sessions says "${rest.join(' ')}"`)
  return hits > 0 ? 0 : 1
}

export async function stats({ folders: [own] }: Here): Promise<number> {
  const all = noStatistics()
  for (const { file, unreadable } of await listSessions(own)) {
    if (unreadable === null) addSession(all, recordsOf(file))
    else note(`${file} cannot be read: ${unreadable}`)
  }
  print(statisticsText(all))
  return 0
}
