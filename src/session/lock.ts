import { randomBytes } from 'node:crypto'
import * as fs from 'node:fs'
import { hostname } from 'node:os'
import { isSameProcess, processStart } from '../os/process-start.ts'
import { errnoOf } from './fault.ts'
import { FILE_MODE } from './private.ts'

/** Who holds a lock. */
export interface Holder {
  pid: number
  /** When its process began, as `processStart` says it. */
  started: string
  host: string
  /** Where pids mean what they mean to it: one boot of one machine, one container. */
  space: string
  /** When it took the lock, UTC milliseconds. */
  since: number
  random: string
}

export type Locked =
  | { ok: true; lock: Lock }
  /** `elsewhere`: nobody here can say whether the holder lives. */
  | { ok: false; why: 'live' | 'self' | 'elsewhere'; holder: Holder }

export interface Lock {
  release(): void
}

/** Locks that this process gave back; a file of one that could not be removed stops nobody. */
const released = new Set<string>()

/** How often a rival that is at it now is waited for, 2 ms each time. */
const PATIENCE = 500

/**
 * Takes the lock `path`, and takes it over at once from a holder that is dead. Throws with an errno where the folder cannot be written.
 *
 * The file appears whole, by `link`. Only the one who holds the lock on a dead holder's own random name may replace that holder, and it looks
 * again before it does: a live lock is never taken away, however many start at once. Dying in between leaves a dead holder of that second lock.
 */
export function takeLock(path: string, now: number): Locked {
  const me: Holder = { pid: process.pid, started: processStart(process.pid) ?? '', host: hostname(), space: pidSpace(), since: now, random: newName() }
  const taken = take(path, me, 0)
  return taken.ok ? { ok: true, lock: { release: () => { release(path, me) } } } : taken
}

/** Who holds it now, dead or alive. */
export function readLock(path: string): Holder | null {
  try {
    return toHolder(fs.readFileSync(path, 'utf8'))
  } catch {
    return null
  }
}

/** Whether somebody here has it, or somebody elsewhere may. */
export const isHeld = (path: string): boolean => {
  const holder = readLock(path)
  return holder !== null && judge(holder) !== 'dead'
}

const newName = (): string => randomBytes(9).toString('hex')

type Taken = { ok: true } | Extract<Locked, { ok: false }>

function take(path: string, me: Holder, depth: number): Taken {
  for (let patience = PATIENCE; ; ) {
    if (appear(path, me)) return { ok: true }
    const found = look(path)
    if (!found) continue
    if (!found.holder && found.fresh && patience-- > 0) {
      pause()
      continue
    }
    const state = found.holder ? judge(found.holder) : 'dead'
    if (found.holder && state !== 'dead') return { ok: false, why: state, holder: found.holder }
    // Each level needs a crash between two system calls of the level above, so nobody ever gets far.
    const claim = `${path}.${found.name}`
    const claimant = { ...me, random: newName() }
    const claimed = take(claim, claimant, depth + 1)
    if (!claimed.ok) {
      if (depth > 0 || patience-- === 0) return claimed
      pause()
      continue
    }
    try {
      if (look(path)?.name !== found.name) continue
      replace(path, me)
      return { ok: true }
    } finally {
      release(claim, claimant)
    }
  }
}

/** Puts the lock there whole, if nobody's is there. */
function appear(path: string, me: Holder): boolean {
  const temporary = write(path, me)
  try {
    fs.linkSync(temporary, path)
    return true
  } catch (error) {
    const code = errnoOf(error)
    if (code === 'EEXIST') return false
    if (!['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS'].includes(code)) throw error
    return appearWithoutLinks(path, me)
  } finally {
    fs.rmSync(temporary, { force: true })
  }
}

/** A file system that knows no hard links. A rival may see the file empty for a moment, and then waits: see `look`. */
function appearWithoutLinks(path: string, me: Holder): boolean {
  try {
    fs.writeFileSync(path, JSON.stringify(me), { flag: 'wx', mode: FILE_MODE })
    return true
  } catch (error) {
    if (errnoOf(error) === 'EEXIST') return false
    throw error
  }
}

function replace(path: string, me: Holder): void {
  const temporary = write(path, me)
  fs.renameSync(temporary, path)
}

function write(path: string, me: Holder): string {
  const temporary = `${path}.${process.pid}-${randomBytes(4).toString('hex')}.tmp`
  try {
    fs.writeFileSync(temporary, JSON.stringify(me), { flag: 'wx', mode: FILE_MODE })
    fs.chmodSync(temporary, FILE_MODE)
    return temporary
  } catch (error) {
    // On a full disk an empty file would stay.
    fs.rmSync(temporary, { force: true })
    throw error
  }
}

/** The holder and a name that no other lock ever has. No holder: a power cut left nothing readable, or, where it is `fresh`, it is being written. */
function look(path: string): { holder: Holder | null; name: string; fresh: boolean } | null {
  try {
    const { ino, mtimeMs } = fs.statSync(path)
    const holder = toHolder(fs.readFileSync(path, 'utf8'))
    return { holder, name: holder?.random ?? `${ino}-${Math.floor(mtimeMs)}`, fresh: Date.now() - mtimeMs < 2_000 }
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') return null
    throw error
  }
}

function toHolder(text: string): Holder | null {
  try {
    const raw = JSON.parse(text) as Partial<Holder> | null
    const { pid, started, host, space, since, random } = raw ?? {}
    const whole = typeof pid === 'number' && typeof started === 'string' && typeof host === 'string' && typeof space === 'string' && typeof since === 'number'
    return whole && typeof random === 'string' && /^[0-9a-f]{18}$/.test(random) ? { pid, started, host, space, since, random } : null
  } catch {
    return null
  }
}

function judge(holder: Holder): 'live' | 'self' | 'elsewhere' | 'dead' {
  if (holder.host !== hostname()) return 'elsewhere'
  const [boot, container] = holder.space.split(' ')
  const [myBoot, myContainer] = pidSpace().split(' ')
  if (boot !== myBoot || released.has(holder.random)) return 'dead'
  if (container !== myContainer) return 'elsewhere'
  if (!isSameProcess(holder.pid, holder.started || null)) return 'dead'
  return holder.pid === process.pid ? 'self' : 'live'
}

function release(path: string, me: Holder): void {
  released.add(me.random)
  try {
    if (readLock(path)?.random === me.random) fs.unlinkSync(path)
  } catch {
    // What stays behind is a dead holder's for the next one who looks.
  }
}

/** A rival is taking the lock over at this moment. */
const pause = (): void => { Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 2) }

let space: string | undefined
function pidSpace(): string {
  space ??= `${read(() => fs.readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim())} ${read(() => fs.readlinkSync('/proc/self/ns/pid'))}`
  return space
}

function read(from: () => string): string {
  try {
    return from().replaceAll(' ', '')
  } catch {
    return '-'
  }
}
