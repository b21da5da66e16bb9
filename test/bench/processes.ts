import { spawn } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import type { Space } from './space.ts'

/** From the start of a process to its end. */
export interface Ended {
  begun: number
  ms: number
  /** User and system, with its own children; NaN where the system does not tell. */
  cpu: number
  code: number | null
  out: string
}

/** One process at a time: its CPU time is what our ended children have used meanwhile. `watch` is told its pid. */
export async function runNode(args: readonly string[], { cwd, env }: Pick<Space, 'cwd' | 'env'>, watch?: (pid: number) => void): Promise<Ended> {
  const before = cpuOfChildren()
  const begun = performance.now()
  const child = spawn(process.execPath, args, { cwd, env, stdio: ['ignore', 'pipe', 'pipe'] })
  let out = ''
  child.stdout.on('data', (chunk: Buffer) => (out = (out + chunk.toString()).slice(-100_000)))
  child.stderr.on('data', (chunk: Buffer) => (out = (out + chunk.toString()).slice(-100_000)))
  if (child.pid !== undefined) watch?.(child.pid)
  const code = await new Promise<number | null>((resolve) => child.once('exit', resolve))
  return { begun, ms: performance.now() - begun, cpu: cpuOfChildren() - before, code, out }
}

/** Ticks of 10 ms; over many runs the rounding cancels out. */
function cpuOfChildren(): number {
  const fields = statOf('self')
  return fields ? (Number(fields[13]) + Number(fields[14])) * 10 : NaN
}

/** CPU milliseconds of a process that runs, all its threads, to the nanosecond. */
export function cpuOf(pid: number): number {
  try {
    return readdirSync(`/proc/${pid}/task`).reduce((sum, task) => sum + Number(readFileSync(`/proc/${pid}/task/${task}/schedstat`, 'utf8').split(' ')[0]) / 1e6, 0)
  } catch {
    return NaN
  }
}

/** Megabytes resident: now, or at most so far. */
export function memoryOf(pid: number, which: 'now' | 'peak' = 'now'): number {
  try {
    const found = new RegExp(`^${which === 'now' ? 'VmRSS' : 'VmHWM'}:\\s+(\\d+)`, 'm').exec(readFileSync(`/proc/${pid}/status`, 'utf8'))
    return Number(found?.[1]) / 1024
  } catch {
    return NaN
  }
}

function statOf(pid: number | 'self'): string[] | null {
  try {
    return readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? null
  } catch {
    return null
  }
}
