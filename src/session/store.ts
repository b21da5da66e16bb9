import { randomBytes } from 'node:crypto'
import * as fs from 'node:fs'
import { basename, dirname, isAbsolute, join, resolve } from 'node:path'
import type { FactOf } from '../core/record.ts'
import { lockOf, stemOf } from './companion.ts'
import type { SessionFault } from './fault.ts'
import { errnoOf, faultOf, inWords } from './fault.ts'
import type { SessionEntry } from './list.ts'
import { listSessions } from './list.ts'
import { takeLock } from './lock.ts'
import { idInName, openLog } from './open-log.ts'

/** Where the sessions of a root are kept. */
export const sessionFolder = (root: string, configured = '.agent/sessions'): string => (isAbsolute(configured) ? configured : resolve(root, configured))

/** Short enough to be typed, random enough to be the only one. */
export function newId(): string {
  const letters = '0123456789abcdefghjkmnpqrstvwxyz'
  return [...randomBytes(12)].map((byte) => letters[byte % 32]).join('')
}

/** `<UTC time>_<id>.jsonl`, so that names sort by time. */
export const sessionFile = (folder: string, id: string, now: number): string => join(folder, `${new Date(now).toISOString().slice(0, 19).replaceAll(/[-:]/g, '')}Z_${id}.jsonl`)

/** Whether sessions can be kept there, found out without making anything; null: they can. */
export function whyNotWritable(folder: string): SessionFault | null {
  let existing = folder
  while (!fs.existsSync(existing) && dirname(existing) !== existing) existing = dirname(existing)
  try {
    if (!fs.statSync(existing).isDirectory()) throw Object.assign(new Error('not a folder'), { code: 'ENOTDIR' })
    fs.accessSync(existing, fs.constants.W_OK | fs.constants.X_OK)
    return null
  } catch (error) {
    return faultOf('not-writable', `Sessions cannot be kept in ${folder}: ${existing}: ${inWords(error)}. Name another place with --session-dir <dir>.`)
  }
}

export type FoundSession = { ok: true; file: string } | { ok: false; fault: SessionFault }

/**
 * The session that a person means: by its id, a beginning of it that only one has, or the path of its file. The list is asked for only where the
 * names of the files do not tell. What is not found is an error with suggestions, never a new session.
 */
export async function findSession(folder: string, wanted: string, list: () => Promise<readonly SessionEntry[]> = () => listSessions(folder)): Promise<FoundSession> {
  let names: string[]
  try {
    names = fs.readdirSync(folder).filter((name) => name.endsWith('.jsonl'))
  } catch (error) {
    if (errnoOf(error) !== 'ENOENT') return { ok: false, fault: faultOf('unreadable', `The sessions in ${folder} cannot be read: ${inWords(error)}.`) }
    names = []
  }
  const byName = pick(names.map((name) => ({ id: idInName(name), file: join(folder, name) })), wanted)
  if (byName.length === 1 && byName[0]) return { ok: true, file: byName[0].file }
  if (byName.length === 0 && (wanted.includes('/') || wanted.endsWith('.jsonl'))) return byPath(wanted)
  const known = await list()
  const found = byName.length > 1 ? byName : pick(known, wanted)
  if (found.length === 1 && found[0]) return { ok: true, file: found[0].file }
  return { ok: false, fault: found.length > 1 ? ambiguous(wanted, found.map(({ file }) => file), known) : missing(folder, wanted, known) }
}

/** All that begin with it, or the one that is exactly it. */
function pick<T extends { id: string }>(sessions: readonly T[], wanted: string): T[] {
  const exact = sessions.filter(({ id }) => id === wanted)
  return exact.length > 0 ? exact : sessions.filter(({ id }) => wanted !== '' && id.startsWith(wanted))
}

function byPath(path: string): FoundSession {
  const file = resolve(path)
  try {
    fs.statSync(file)
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

/** A session goes on only in the root that it belongs to: two folders can have names that look the same. Null: it belongs here. */
export function whyElsewhere(session: FactOf<'session'> | null, here: { root: string }): SessionFault | null {
  if (!session || session.root === here.root) return null
  return faultOf('elsewhere', `The session ${session.id} belongs to ${session.root}, not to ${here.root}. Go on with it there (tiller -C ${session.root} -r ${session.id}), or take a copy of it here with --fork ${session.id}.`)
}

/** Gives a session another title; null: done. */
export function renameSession(file: string, title: string, now: () => number): SessionFault | null {
  const opened = openLog(file, { now, light: true })
  if (!opened.ok) return opened.fault
  const { log } = opened
  try {
    if (log.readOnly !== null) return faultOf('not-writable', `${file} cannot be changed. ${log.readOnly}`)
    log.append([{ type: 'set', title }])
    return null
  } catch (error) {
    return faultOf('not-writable', inWords(error))
  } finally {
    log.close()
  }
}

/** Removes a session and all that lies beside it; blobs that a fork of it uses stay the fork's. Null: done. */
export function removeSession(file: string, now: number): SessionFault | null {
  try {
    fs.lstatSync(file)
    const locked = takeLock(lockOf(file), now)
    if (!locked.ok) return faultOf('locked', `The session ${idInName(file)} is open (pid ${locked.holder.pid} on ${locked.holder.host}). Close it first.`, { holder: locked.holder })
    const lock = basename(lockOf(file))
    const beginning = `${basename(stemOf(file))}.`
    const names = fs.readdirSync(dirname(file)).filter((name) => name.startsWith(beginning) && name !== basename(file) && name !== lock)
    // The log last: a removal that is cut off can be done again.
    for (const name of names) fs.rmSync(join(dirname(file), name), { recursive: true, force: true })
    fs.rmSync(file)
    locked.lock.release()
    return null
  } catch (error) {
    return faultOf(errnoOf(error) === 'ENOENT' ? 'missing' : 'not-writable', `${file} cannot be removed: ${inWords(error)}.`)
  }
}
