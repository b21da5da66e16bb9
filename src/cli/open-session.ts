import { existsSync } from 'node:fs'
import { join, resolve } from 'node:path'
import type { Repository } from '../os/git-repository.ts'
import type { SessionFault } from '../session/fault.ts'
import { newestSession } from '../session/list.ts'
import { createLog, type SessionLog } from '../session/log.ts'
import { openLog } from '../session/open-log.ts'
import { newId } from './assemble.ts'
import type { Settings } from './configure.ts'
import { UsageError, type Options } from './options.ts'
import type { Place } from './place.ts'

declare const TILLER_VERSION: string

export const sessionFolder = (place: Place, sessionDir: string): string => resolve(place.root, sessionDir)

/** A session that is made at its first input. */
export function freshSession(place: Place, folder: string, file?: string): SessionLog {
  const id = newId()
  const log = createLog(file ?? join(folder, `${stamp(Date.now())}_${id}.jsonl`), { id, now: () => Date.now() })
  const git: Repository | null = place.repository
  log.append([{ type: 'session', version: 1, id, cwd: place.cwd, root: place.root, tiller: TILLER_VERSION, ...(git ? { git: { head: git.head, branch: git.branch } } : {}) }])
  return log
}

const stamp = (at: number): string => new Date(at).toISOString().replace(/\.\d+Z$/, 'Z').replaceAll(':', '-')

export function existingSession(file: string): SessionLog {
  const opened = openLog(file, { now: () => Date.now() })
  if (!opened.ok) throw new SessionError(opened.fault)
  return opened.log
}

/** A session that cannot be had: a usage error that says what to do instead. */
export class SessionError extends UsageError {
  readonly fault: SessionFault
  constructor(fault: SessionFault) {
    super(fault.message)
    this.fault = fault
  }
}

export function newestHere(place: Place, folder: string): SessionLog {
  const found = newestSession(folder, { root: place.root, cwd: place.cwd })
  if (!found) throw new UsageError(`There is no session of this folder to continue (looked in ${folder}). Leave out --continue to begin one.`)
  return existingSession(found.file)
}

/** The session that this start goes on with, or a new one. */
export function sessionFor(options: Options, place: Place, settings: Settings): SessionLog {
  const folder = sessionFolder(place, settings.config.sessionDir)
  if (options.session !== undefined) {
    const file = resolve(place.cwd, options.session)
    return existsSync(file) ? existingSession(file) : freshSession(place, folder, file)
  }
  if (options.continue) return newestHere(place, folder)
  return freshSession(place, folder)
}
