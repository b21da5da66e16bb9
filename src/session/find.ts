import { readdirSync, statSync } from 'node:fs'
import { homedir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import type { SessionFault } from './fault.ts'
import { errnoOf, faultOf, inWords } from './fault.ts'
import type { SessionEntry } from './list.ts'
import { listSessions } from './list.ts'
import { idInName } from './open-log.ts'

export type FoundSession = { ok: true; file: string } | { ok: false; fault: SessionFault }

/**
 * The session that a person means: by its id, a beginning of it that only one has, or the path of its file. Of several folders an earlier one
 * goes before those after it. The list is asked for only where the names of the files do not tell. What is not found is an error with
 * suggestions, never a new session.
 */
export async function findSession(folders: string | readonly string[], wanted: string): Promise<FoundSession> {
  const all = [folders].flat()
  const [own = '', ...others] = all
  const here = namesIn(own)
  const byName = first([here.files, ...others.map((folder) => namesIn(folder).files)].map((files) => pick(files, wanted)))
  if (byName.length === 1 && byName[0]) return { ok: true, file: byName[0].file }
  if (byName.length === 0 && (wanted.includes('/') || wanted.endsWith('.jsonl'))) return byPath(wanted)
  if (byName.length === 0 && here.unreadable !== null) return { ok: false, fault: faultOf('unreadable', `The sessions in ${own} cannot be read: ${here.unreadable}.`) }
  const known = (await Promise.all(all.map((folder) => listSessions(folder).catch(() => [])))).flat()
  const found = byName.length > 1 ? byName : first(all.map((folder) => pick(known.filter(({ file }) => dirname(file) === folder), wanted)))
  if (found.length === 1 && found[0]) return { ok: true, file: found[0].file }
  return { ok: false, fault: found.length > 1 ? ambiguous(wanted, found.map(({ file }) => file), known) : missing(own, wanted, known) }
}

/** What is meant is looked for in one folder after the other. */
const first = <T>(found: readonly T[][]): T[] => found.find(({ length }) => length > 0) ?? []

function namesIn(folder: string): { files: { id: string; file: string }[]; unreadable: string | null } {
  try {
    const names = readdirSync(folder).filter((name) => name.endsWith('.jsonl'))
    return { files: names.map((name) => ({ id: idInName(name), file: join(folder, name) })), unreadable: null }
  } catch (error) {
    return { files: [], unreadable: errnoOf(error) === 'ENOENT' ? null : inWords(error) }
  }
}

/** All that begin with it, or the one that is exactly it. */
function pick<T extends { id: string }>(sessions: readonly T[], wanted: string): T[] {
  const exact = sessions.filter(({ id }) => id === wanted)
  return exact.length > 0 ? exact : sessions.filter(({ id }) => wanted !== '' && id.startsWith(wanted))
}

function byPath(path: string): FoundSession {
  const file = resolve(path.replace(/^~(?=\/)/, homedir()))
  try {
    statSync(file)
    return { ok: true, file }
  } catch (error) {
    return { ok: false, fault: faultOf(errnoOf(error) === 'ENOENT' ? 'missing' : 'unreadable', `The session file ${file} cannot be read: ${inWords(error)}.`) }
  }
}

function ambiguous(wanted: string, files: readonly string[], known: readonly SessionEntry[]): SessionFault {
  const meant = known.filter(({ file }) => files.includes(file))
  const more = meant.length > 8 ? ', …' : ''
  return faultOf('ambiguous', `${files.length} sessions begin with "${wanted}": ${meant.slice(0, 8).map(inShort).join(', ')}${more}. Give more of the id.`, { suggestions: meant.map(({ id }) => id) })
}

function missing(folder: string, wanted: string, known: readonly SessionEntry[]): SessionFault {
  const words = wanted.toLowerCase()
  const similar = known.filter((entry) => entry.id.includes(words) || `${entry.title ?? ''} ${entry.words}`.toLowerCase().includes(words))
  const suggested = (similar.length > 0 && wanted !== '' ? similar : known).slice(0, 5)
  const hint = suggested.length === 0 ? `There are none in ${folder}.` : `${similar.length > 0 && wanted !== '' ? 'Perhaps' : 'The newest ones are'} ${suggested.map(inShort).join(', ')}.`
  return faultOf('missing', `No session has the id "${wanted}". ${hint} \`tiller sessions\` lists them.`, { suggestions: suggested.map(({ id }) => id) })
}

const inShort = (entry: SessionEntry): string => {
  const about = entry.title ?? entry.words
  return about ? `${entry.id} (${about.length > 40 ? `${about.slice(0, 39)}…` : about})` : entry.id
}
