import type { ChildProcess } from 'node:child_process'
import { setTimeout as wait } from 'node:timers/promises'
import { endFamily, type EndedFamily } from './end-family.ts'
import type { Ended, ProcessName } from './exec.ts'
import { live, type Held } from './living.ts'
import { family, type Family, type ProcessEntry } from './process-table.ts'

export type Course = Pick<Ended, 'reason' | 'exit' | 'signal' | 'alive' | 'killed'>

export interface Followed {
  over: Promise<Course>
  stop: (why: 'timeout' | 'aborted') => void
  /** From now on neither timeout nor signal ends it. */
  release: () => void
  letGo: () => void
}

/** Under the 3 s after which a tool that will not stop is left behind. */
const GRACE_MS = 2_000
/** For a process that KILL does not end: its end is then not known. */
const GIVE_UP_MS = 300
/** Process ids are given out in order; within this time they do not all go round. */
const QUICK_MS = 1_000

/** Follows a child to its end, by itself or by the first of timeout, signal and `stop`; then sees what it left. */
export function follow(child: ChildProcess, of: Family, options: { timeoutMs?: number | undefined; graceMs?: number | undefined; signal?: AbortSignal | undefined }, held: Held): Followed {
  const began = performance.now()
  let reason: Ended['reason'] | undefined
  let stopped: (ending: Promise<EndedFamily>) => void = () => {}
  const ending = new Promise<EndedFamily>((resolve) => { stopped = resolve })
  const stop = (why: 'timeout' | 'aborted', graceMs = options.graceMs ?? GRACE_MS): void => {
    if (reason !== undefined) return
    reason = why
    stopped(endFamily(of, graceMs))
  }
  const exited = new Promise<Pick<Course, 'exit' | 'signal'>>((resolve) => {
    child.on('exit', (exit, signal) => {
      reason ??= 'exited'
      resolve({ exit, signal })
    })
  })
  const timer = options.timeoutMs === undefined ? undefined : setTimeout(stop, options.timeoutMs, 'timeout')
  const onAbort = (): void => { stop('aborted') }
  options.signal?.addEventListener('abort', onAbort, { once: true })
  const release = (): void => {
    clearTimeout(timer)
    options.signal?.removeEventListener('abort', onAbort)
  }
  const living = live(of, held, (graceMs) => {
    stop('aborted', graceMs)
    return over
  })
  const finish = async (): Promise<Course> => {
    await Promise.race([exited, ending])
    release()
    const why = reason ?? 'exited'
    const ended = why === 'exited' ? undefined : await ending
    const status = await Promise.race([exited, wait(GIVE_UP_MS, { exit: null, signal: null }, { ref: false })])
    const isSilent = await held.streams.drain()
    const left = ended?.alive ?? (await family(of, performance.now() - began < QUICK_MS))
    living.ended(left, isSilent)
    return { reason: why, ...status, alive: left.map(nameOf), killed: (ended?.killed ?? []).map(nameOf) }
  }
  const over = finish()
  return { over, stop, release, letGo: living.letGo }
}

const nameOf = ({ pid, command }: ProcessEntry): ProcessName => ({ pid, command })
