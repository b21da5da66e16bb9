import { randomBytes } from 'node:crypto'
import * as fs from 'node:fs'
import { basename, dirname, isAbsolute, join, resolve } from 'node:path'
import { belongsTo, lockOf } from './companion.ts'
import type { SessionFault } from './fault.ts'
import { errnoOf, faultOf, inWords } from './fault.ts'
import { takeLock, type Holder } from './lock.ts'
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

/** A session goes on only in the root that it belongs to: two folders can have names that look the same. `named`: as it is found from there and from here. Null: it belongs here. */
export function whyElsewhere(session: { id: string; root: string } | null, here: { root: string }, named = session?.id ?? ''): SessionFault | null {
  if (!session || session.root === here.root) return null
  const there = fs.existsSync(session.root) ? `Go on with it there (tiller -C ${session.root} -r ${named}), or take` : 'That folder is not there any more: take'
  return faultOf('elsewhere', `The session ${session.id} belongs to ${session.root}, not to ${here.root}. ${there} a copy of it here with --fork ${named}.`)
}

/** On one line and of a length that a list can show. */
const titleOf = (text: string): string => text.replace(/\s+/g, ' ').trim().slice(0, 200)

/** Gives a session another title; null: done. */
export function renameSession(file: string, title: string, now: () => number): SessionFault | null {
  if (titleOf(title) === '') return faultOf('not-writable', 'A title has to say something.')
  const opened = openLog(file, { now, light: true })
  if (!opened.ok) return opened.fault.kind === 'locked' ? heldBy(file, opened.fault.holder, 'rename it there with /title') : opened.fault
  const { log } = opened
  try {
    if (log.readOnly !== null) return faultOf('not-writable', `${file} cannot be changed. ${log.readOnly}`)
    log.append([{ type: 'set', title: titleOf(title) }])
    return null
  } catch (error) {
    return faultOf('not-writable', inWords(error))
  } finally {
    log.close()
  }
}

/** Whoever has it open is the only one who may change it. */
function heldBy(file: string, holder: Holder | undefined, instead: string): SessionFault {
  const who = holder === undefined ? 'another program' : holder.pid === process.pid ? 'this program' : `another tiller (pid ${holder.pid} on ${holder.host})`
  return faultOf('locked', `The session ${idInName(file)} is open in ${who}: ${instead}, or close it first.`, holder === undefined ? {} : { holder })
}

/** Removes a session and all that lies beside it; blobs that a fork of it uses stay the fork's. Null: done. */
export function removeSession(file: string, now: number): SessionFault | null {
  try {
    if (!isSession(file)) return faultOf('not-a-session', `${file} holds no record of a session, so it is not removed.`)
    const locked = takeLock(lockOf(file), now)
    if (!locked.ok) return heldBy(file, locked.holder, 'go to another one there')
    const folder = dirname(file)
    const lock = basename(lockOf(file))
    // The log last: a removal that is cut off can be done again.
    for (const name of fs.readdirSync(folder).filter(belongsTo(file))) if (name !== lock) fs.rmSync(join(folder, name), { recursive: true, force: true })
    fs.rmSync(file)
    // States of the work tree are shared by the sessions of a folder; with the last of these nobody can put anything back.
    if (!fs.readdirSync(folder).some((name) => name.endsWith('.jsonl'))) fs.rmSync(join(folder, 'checkpoints'), { recursive: true, force: true })
    locked.lock.release()
    return null
  } catch (error) {
    return faultOf(errnoOf(error) === 'ENOENT' ? 'missing' : 'not-writable', `${file} cannot be removed: ${inWords(error)}.`)
  }
}

/** Also one of which nothing can be read any more, if its name is one of ours. Throws where there is no such file. */
function isSession(file: string): boolean {
  fs.lstatSync(file)
  if (/^\d{8}T\d{6}Z_[\w-]+\.jsonl$/.test(basename(file))) return true
  const opened = openLog(file, { now: () => 0, watch: true, light: true })
  if (opened.ok) opened.log.close()
  return opened.ok
}
