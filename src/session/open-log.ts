import * as fs from 'node:fs'
import { basename } from 'node:path'
import { VERSION } from '../core/record.ts'
import { sanitize } from '../core/sanitize.ts'
import { lockOf, stemOf } from './companion.ts'
import type { SessionFault } from './fault.ts'
import { errnoOf, faultOf, inWords } from './fault.ts'
import type { Lock } from './lock.ts'
import { takeLock } from './lock.ts'
import type { LogOptions, SessionLog } from './log.ts'
import { logOver } from './log.ts'
import { atOnce } from './pieces.ts'
import { TooLarge } from './plan.ts'
import { isForeign } from './private.ts'
import type { Reading } from './reading.ts'
import { readEnd, readLast, readLittle, readNeeded } from './reading.ts'

export type Opened = { ok: true; log: SessionLog } | { ok: false; fault: SessionFault }

/**
 * Opens a session for writing, and takes its lock; `watch`, or the reason for it, takes none and writes nothing; `light` reads its end only, which is enough to
 * append to it, however large it is; `partial` reads the end of one that would take a while, and the log's `rest` does the rest. What can
 * be expected to go wrong is a value.
 */
export function openLog(file: string, options: LogOptions & { watch?: boolean | string; light?: boolean; partial?: boolean }): Opened {
  const unreadable = whyUnreadable(file)
  if (unreadable) return { ok: false, fault: unreadable }
  let opening: Opening | null = null
  try {
    opening = openFile(file, options.watch ? (options.watch === true ? 'It is only being watched.' : options.watch) : null)
    if (!opening.readOnly) lockFor(opening, file, options.now())
    const { fd, fault } = opening
    const stat = fs.fstatSync(fd)
    const { size } = stat
    if (fault) return refused(opening, fault)
    const { reading, partial } = readAsWanted(fd, size, options)
    if (size > 0 && reading.records.length === 0) return refused(opening, faultOf('not-a-session', `${file} holds no record of a session.`))
    const newer = tooNew(reading)
    if (newer) giveBack(opening)
    const { lock } = opening
    return { ok: true, log: logOver({ file, id: reading.session?.id ?? idInName(file), options, reading, readOnly: newer ?? opening.readOnly, foreign: isForeign(stat), open: { fd, size, lock }, unborn: null, partial }) }
  } catch (error) {
    const fault = whyNotRead(file, error)
    return opening ? refused(opening, fault) : { ok: false, fault }
  }
}

/** What reading threw, `rest` included. */
export const whyNotRead = (file: string, error: unknown): SessionFault => (error instanceof TooLarge ? tooLarge(file) : faultOf('unreadable', `${file} cannot be opened: ${inWords(error)}.`))

function readAsWanted(fd: number, size: number, { light, partial }: { light?: boolean; partial?: boolean }): { reading: Reading; partial: boolean } {
  if (light) return { reading: readEnd(fd, size), partial: false }
  const little = partial ? readLittle(fd, size) : null
  const last = partial && !little ? readLast(fd, size) : null
  return { reading: little ?? last ?? atOnce(readNeeded(fd, size)), partial: last !== null }
}

interface Opening {
  fd: number
  lock: Lock | null
  readOnly: string | null
  fault: SessionFault | null
}

function refused(opening: Opening, fault: SessionFault): Opened {
  fs.closeSync(opening.fd)
  giveBack(opening)
  return { ok: false, fault }
}

function giveBack(opening: Opening): void {
  opening.lock?.release()
  opening.lock = null
}

function whyUnreadable(file: string): SessionFault | null {
  try {
    if (fs.statSync(file).isFile()) return null
    return faultOf('unreadable', `${file} is not a file, so no session can be read from it.`)
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') return faultOf('missing', `There is no session file ${file}.`)
    return faultOf('unreadable', `${file} cannot be read: ${inWords(error)}.`)
  }
}

function openFile(file: string, readOnly: string | null): Opening {
  if (readOnly) return { fd: fs.openSync(file, 'r'), lock: null, readOnly, fault: null }
  try {
    return { fd: fs.openSync(file, fs.constants.O_RDWR | fs.constants.O_APPEND), lock: null, readOnly: null, fault: null }
  } catch (error) {
    if (!isForbidden(error)) throw error
    return { fd: fs.openSync(file, 'r'), lock: null, readOnly: `It cannot be written here: ${inWords(error)}.`, fault: null }
  }
}

const isForbidden = (error: unknown): boolean => ['EACCES', 'EPERM', 'EROFS'].includes(errnoOf(error))

function lockFor(opening: Opening, file: string, now: number): void {
  try {
    const locked = takeLock(lockOf(file), now)
    if (locked.ok) {
      opening.lock = locked.lock
      return
    }
    const { holder, why } = locked
    const who = `pid ${holder.pid} on ${sanitize(holder.host)}, since ${timeOf(holder.since)}`
    const id = idInName(file)
    if (why === 'elsewhere') opening.readOnly = `It was opened by ${who}, and from here nobody can see whether that still runs. If it does not, remove ${lockOf(file)}.`
    else if (why === 'self') opening.fault = faultOf('locked', `This program has the session ${id} open already.`, { holder })
    else opening.fault = faultOf('locked', `The session ${id} is open in another tiller (${who}). Close it there, take a copy with --fork ${id}, or watch it in a terminal with tiller -r ${id}.`, { holder })
  } catch (error) {
    if (isForbidden(error)) opening.readOnly = `Its lock ${lockOf(file)} cannot be made: ${inWords(error)}.`
    else opening.fault = faultOf('not-writable', `The session's lock ${lockOf(file)} cannot be made: ${inWords(error)}.`)
  }
}

/** A lock may hold any number. */
const timeOf = (at: number): string => (Math.abs(at) < 8.64e15 ? new Date(at).toISOString() : 'an unknown time')

const tooNew = ({ session }: Reading): string | null =>
  session && Math.floor(session.version) > VERSION ? `It was written by a newer version of tiller (records of version ${session.version}, this one writes ${VERSION}).` : null

const tooLarge = (file: string): SessionFault =>
  faultOf(
    'too-large',
    `${file} holds more live records than fit into the memory of this program: it was never compacted, or long ago. ` +
      `Take a copy that ends at an earlier record (--fork ${idInName(file)}:<seq>; tiller sessions show lists them), or give more memory with NODE_OPTIONS=--max-old-space-size=<megabytes>.`,
  )

/** `<UTC time>_<id>.jsonl` */
export const idInName = (file: string): string => stemOf(basename(file)).replace(/^[^_]*_/, '')
