import { setTimeout as wait } from 'node:timers/promises'
import type { Ended, Running } from '../os/exec.ts'
import { beforeCut } from './command-output.ts'

/** A command in the background. */
export interface Job {
  readonly id: string
  /** The call that started it. */
  readonly call: string
  readonly command: string
  readonly cwd: string
  readonly pid: number
  /** UTC milliseconds. */
  readonly began: number
  /** Where its output streams to. */
  readonly file: string | undefined
  /** undefined: it runs. */
  readonly ended: Ended | undefined
  /** Why Tiller ended it, if it did. */
  readonly because: 'stopped' | 'timeout' | 'Tiller left' | undefined
}

export interface NewOutput {
  data: Buffer
  /** Bytes between the last reading and this one that are no longer in memory. */
  skipped: number
}

/** The commands in the background of one session. */
export interface Jobs {
  /** Takes over a command that runs. One that was not begun as a job is released first, so that its call's end is not its own. */
  adopt(running: Running, about: { call: string; command: string; cwd: string; file: string | undefined }): Job
  list(): readonly Job[]
  get(id: string): Job | undefined
  /** What came since it was last read. */
  read(id: string): NewOutput
  /** Comes back when it ended, when the time is up, or when the signal aborts. It goes on in any case. */
  wait(id: string, ms: number, signal: AbortSignal): Promise<'ended' | 'time' | 'aborted'>
  stop(id: string): Promise<Ended | undefined>
  /** For Tiller's leaving. Those that the person keeps go on, and write to their files. */
  leave(keep?: readonly string[]): Promise<void>
}

export interface JobsOptions {
  onStart?: (job: Job) => void
  /** For the log: once a job, also when Tiller ends it. */
  onEnd?: (job: Job) => void
  /** How many the session had before; asked when the first one comes. */
  before?: () => number
  now?: () => number
}

interface Entry { job: Job; running: Running; read: number; mark(because: NonNullable<Job['because']>): void }

/** So many ended ones are remembered. */
const MOST_ENDED = 50

export function backgroundJobs(options: JobsOptions = {}): Jobs {
  const entries = new Map<string, Entry>()
  let count: number | null = null
  const isRunning = ({ job }: Entry): boolean => job.ended === undefined
  const stop = async (entry: Entry, because: 'stopped' | 'Tiller left'): Promise<Ended> => {
    if (isRunning(entry)) entry.mark(because)
    return entry.running.stop()
  }
  return {
    adopt(running, about) {
      count = (count ?? options.before?.() ?? 0) + 1
      const job = { id: `job-${count}`, ...about, pid: running.pid ?? 0, began: (options.now ?? Date.now)(), ended: undefined as Job['ended'], because: undefined as Job['because'] }
      entries.set(job.id, { job, running, read: 0, mark: (because) => { job.because ??= because } })
      options.onStart?.(job)
      void running.ended.then((ended) => {
        if (ended.reason === 'timeout') job.because ??= 'timeout'
        job.ended = ended
        forgetOld(entries)
        options.onEnd?.(job)
      }).catch(() => {}) // a log that is closed by now takes nothing; its next user is told why
      return job
    },
    list: () => [...entries.values()].map(({ job }) => job),
    get: (id) => entries.get(id)?.job,
    read(id) {
      const entry = entries.get(id)
      if (!entry) return { data: Buffer.alloc(0), skipped: 0 }
      const { data, skipped } = entry.running.output.since(entry.read)
      // A character of which only a part has come waits for the rest of it.
      const taken = isRunning(entry) ? beforeCut(data) : data
      entry.read += skipped + taken.length
      return { data: taken, skipped }
    },
    async wait(id, ms, signal) {
      const entry = entries.get(id)
      if (!entry) return 'ended'
      if (signal.aborted) return 'aborted'
      const over = new AbortController()
      const either = AbortSignal.any([signal, over.signal])
      const time = wait(ms, 'time' as const, { signal: either }).catch(() => 'aborted' as const)
      try {
        return await Promise.race([entry.running.ended.then(() => 'ended' as const), time])
      } finally {
        over.abort()
      }
    },
    async stop(id) {
      const entry = entries.get(id)
      return entry && stop(entry, 'stopped')
    },
    async leave(keep = []) {
      await Promise.all([...entries.values()].filter(isRunning).map(async (entry) => {
        if (keep.includes(entry.job.id)) entry.running.letGo()
        else await stop(entry, 'Tiller left')
      }))
    },
  }
}

function forgetOld(entries: Map<string, Entry>): void {
  const ended = [...entries.values()].filter(({ job }) => job.ended)
  for (const { job } of ended.slice(0, Math.max(0, ended.length - MOST_ENDED))) entries.delete(job.id)
}
