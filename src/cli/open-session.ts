import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import type { FactOf } from '../core/record.ts'
import type { SessionFault } from '../session/fault.ts'
import { findSession } from '../session/find.ts'
import { forkSession } from '../session/fork.ts'
import { newestSession, sessionEntry, unreadableIn } from '../session/list.ts'
import { createLog, type SessionLog } from '../session/log.ts'
import { openLog } from '../session/open-log.ts'
import { newId, sessionFile, sessionFolder, whyElsewhere, whyNotWritable } from '../session/store.ts'
import type { Settings } from './configure.ts'
import { foldersNear, namedFrom } from './elsewhere.ts'
import { UsageError, type Options } from './options.ts'
import type { Place } from './place.ts'

declare const TILLER_VERSION: string

/** A session that cannot be had: a usage error that says what to do instead. */
export class SessionError extends UsageError {
  readonly fault: SessionFault
  constructor(fault: SessionFault) {
    super(fault.message)
    this.fault = fault
  }
}

const now = (): number => Date.now()

export const folderOf = (place: Place, { config }: Pick<Settings, 'config'>): string => sessionFolder(place.root, config.sessionDir)

/** The session that this start goes on with, or a new one. */
export async function sessionFor(options: Options, place: Place, settings: Settings, watch = false): Promise<SessionLog> {
  const folder = folderOf(place, settings)
  if (options.session !== undefined) {
    const file = resolve(place.cwd, options.session)
    return existsSync(file) ? existingSession(file, watch) : freshSession(place, folder, file)
  }
  if (options.fork !== undefined) return forkOf(options.fork, place, folder)
  if (typeof options.resume === 'string') return sessionNamed(options.resume, place, folder, watch)
  if (options.continue) return newestHere(place, folder, watch)
  return freshSession(place, folder)
}

/** One that is made at its first input. */
export function freshSession(place: Place, folder: string, named?: string): SessionLog {
  const fault = named === undefined ? whyNotWritable(folder) : null
  if (fault) throw new SessionError(fault)
  const session = sessionFact(place)
  const log = createLog(named ?? sessionFile(folder, session.id, now()), { id: session.id, now })
  log.append([session])
  return log
}

function sessionFact({ cwd, root, repository }: Place): FactOf<'session'> {
  return { type: 'session', version: 1, id: newId(), cwd, root, tiller: TILLER_VERSION, ...(repository ? { git: { head: repository.head, branch: repository.branch } } : {}) }
}

/** With `watch`, for a screen: one that somebody else has open is only looked at, and of a large one the end is there first. */
export function existingSession(file: string, watch = false): SessionLog {
  const opened = openLog(file, { now, partial: watch })
  if (opened.ok) return opened.log
  const { kind, holder } = opened.fault
  if (!watch || kind !== 'locked' || !holder || holder.pid === process.pid) throw new SessionError(opened.fault)
  return sessionToRead(file, `It is open in another tiller (pid ${holder.pid}), so here it is only watched.`, true)
}

/** For looking only: takes no lock and writes nothing. */
export function sessionToRead(file: string, why: true | string = true, partial = false): SessionLog {
  const opened = openLog(file, { now, watch: why, partial })
  if (!opened.ok) throw new SessionError(opened.fault)
  return opened.log
}

export function newestHere(place: Place, folder: string, watch = false): SessionLog {
  const found = newestSession(folder, { root: place.root, cwd: place.cwd })
  if (!found) {
    const unread = unreadableIn(folder).map(({ file, unreadable }) => `; ${file} cannot be read: ${unreadable}`)
    throw new UsageError(`there is no session of this folder to go on with (looked in ${folder}${unread.slice(0, 3).join('')}); leave out --continue to begin one`)
  }
  return existingSession(found.file, watch)
}

/** By the beginning of its id, or its file. Of several folders an earlier one goes first. */
export async function fileOf(wanted: string, folders: string | readonly string[]): Promise<string> {
  const found = await findSession(folders, wanted)
  if (!found.ok) throw new SessionError(found.fault)
  return found.file
}

/** One of another work tree is found, and refused with the two ways to go on with it. */
export async function sessionNamed(wanted: string, place: Place, folder: string, watch = false): Promise<SessionLog> {
  const file = await fileOf(wanted, foldersNear(place, folder))
  const { id, root } = sessionEntry(file)
  const elsewhere = root === '' ? null : whyElsewhere({ id, root }, place, namedFrom({ id, root, file }, place, folder))
  if (elsewhere) throw new SessionError(elsewhere)
  return existingSession(file, watch)
}

/** `id` or `id:seq`: a copy of its live path, up to that record. */
export async function forkOf(wanted: string, place: Place, folder: string): Promise<SessionLog> {
  const [, id = wanted, seq] = /^(.*?)(?::(\d+))?$/.exec(wanted) ?? []
  return copyOf(await fileOf(id, foldersNear(place, folder)), place, folder, seq === undefined ? undefined : Number(seq))
}

/** A copy that belongs here. From another root it comes without what was allowed there, and the model is told that its files are not the same. */
export function copyOf(from: string, place: Place, folder: string, upTo?: number): SessionLog {
  const { cwd, root } = sessionEntry(from)
  const session = sessionFact(place)
  const to = sessionFile(folder, session.id, now())
  const fault = forkSession(from, to, session, { now, imported: root !== place.root, ...(upTo === undefined ? {} : { upTo }) })
  if (fault) throw new SessionError(fault)
  const log = existingSession(to)
  if (root !== place.root) log.append([{ type: 'input', id: newId(), from: 'tiller', when: 'next', text: movedFrom(cwd || root, place.cwd) }])
  return log
}

const movedFrom = (there: string, here: string): string =>
  `This session is a copy: what stands above was done in ${there || 'another folder'}, and it goes on in ${here}. Files and branches here may differ from what was read and changed there, so read them again before you rely on them.`
