import { createHash } from 'node:crypto'
import { mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Here, Output, Prepared, Tool } from '../../src/core/ports.ts'
import { environment } from '../../src/os/environment.ts'
import { endAll } from '../../src/os/living.ts'
import { job } from '../../src/tools/job.ts'
import { backgroundJobs, type Job, type Jobs } from '../../src/tools/jobs.ts'
import { shell, type ShellDeps } from '../../src/tools/shell.ts'

export interface ShellSession {
  root: string
  outputs: string
  jobs: Jobs
  ended: Job[]
  blobs: Map<string, Buffer>
  spawned: { pid: number; started?: string; output?: string; job?: string }[]
  live: string[]
  here: Here
  /** Prepares and runs, as the loop would after a yes. */
  run(input: Record<string, unknown> | string, options?: { signal?: AbortSignal; sandbox?: boolean }): Promise<Output>
  prepare(input: Record<string, unknown>): Promise<Prepared>
  job(input: Record<string, unknown>, signal?: AbortSignal): Promise<Output>
  close(): Promise<void>
}

/** The shell and job tools over real processes, in a folder of their own. */
export function shellSession(deps: Partial<ShellDeps> = {}): ShellSession {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'tiller-shell-')))
  const [root, outputs] = [join(folder, 'root'), join(folder, 'outputs')]
  const { signal } = new AbortController()
  const here: Here = { call: 'c1', root, cwd: root, seen: () => undefined, images: false, signal }
  const session = { root, outputs, ended: [] as Job[], blobs: new Map<string, Buffer>(), spawned: [] as ShellSession['spawned'], live: [] as string[], here }
  const jobs = backgroundJobs({ onEnd: (one) => session.ended.push(one) })
  const tool = shell({
    accesses: async () => [], jobs, outputDir: outputs, environment,
    blobs: { put: (data) => {
      const sha256 = createHash('sha256').update(data).digest('hex')
      session.blobs.set(sha256, Buffer.from(data))
      return { sha256, bytes: Buffer.byteLength(data) }
    } },
    ...deps,
  })
  let calls = 0
  const prepared = async (of: Tool, input: unknown): Promise<Prepared | { refused: string }> => of.prepare(input, { ...here, call: `c${++calls}` })
  const run = async (of: Tool, input: unknown, options: { signal?: AbortSignal; sandbox?: boolean } = {}): Promise<Output> => {
    const call = await prepared(of, input)
    if ('refused' in call) return { status: 'failed', text: call.refused }
    const emit = { output: (text: string) => { session.live.push(text) }, spawned: (process: ShellSession['spawned'][number]) => { session.spawned.push(process) } }
    return call.run(options.signal ?? signal, emit, { sandbox: options.sandbox ?? false })
  }
  return {
    ...session, jobs,
    run: (input, options) => run(tool, typeof input === 'string' ? { command: input } : input, options),
    prepare: async (input) => {
      const call = await prepared(tool, input)
      if ('refused' in call) throw new Error(call.refused)
      return call
    },
    job: (input, signal) => run(job({ jobs }), input, signal ? { signal } : {}),
    async close() {
      await jobs.leave()
      await endAll(0)
      rmSync(folder, { recursive: true, force: true })
    },
  }
}
